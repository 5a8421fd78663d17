import type { GetMemoryGraphRequest, MemoryGraph, MemoryLink, MemoryUnit } from "@memory-bank/proto/memory/v1/memory";
import type { Read } from "../../validation/containers.ts";
import { instantText, instantTextOrNull } from "../instant-text.ts";
import { dateOf, entitiesText } from "../memories/convert.ts";
import { filterText } from "../request-parts.ts";
import { tagFilterToProto } from "../tag-filter.ts";
import type { graphQuery } from "./schemas.ts";

export function memoryGraphToProto(bankId: string, query: Read<typeof graphQuery>): GetMemoryGraphRequest {
  const type = filterText(query.type);
  const words = filterText(query.q);
  const documentId = filterText(query.document_id);
  const chunkId = filterText(query.chunk_id);
  const tags = tagFilterToProto(query);
  return {
    bankId,
    ...(type !== undefined && { type }),
    ...(words !== undefined && { query: words }),
    ...(tags && { tags }),
    ...(documentId !== undefined && { documentId }),
    ...(chunkId !== undefined && { chunkId }),
    limit: query.limit,
  };
}

export function memoryGraphFromProto({ units, links, totalUnits }: MemoryGraph, limit: number) {
  return {
    nodes: units.map(({ id, text, type }) => ({
      data: { id, label: shortened(text), color: nodeColors[type] ?? unknownColor },
    })),
    edges: links.map((link) => ({ data: edgeFromProto(link) })),
    table_rows: units.map(rowFromProto),
    total_units: totalUnits,
    limit,
  };
}

const nodeColors: Readonly<Record<string, string>> = {
  world: "#42a5f5",
  preference: "#ab47bc",
  fact: "#90a4ae",
  experience: "#66bb6a",
  observation: "#ffa726",
};
const edgeColors: Readonly<Record<string, string>> = {
  entity: "#ffd700",
  semantic: "#26a69a",
  temporal: "#78909c",
  caused_by: "#ef5350",
};
const unknownColor = "#bdbdbd";
const LABEL_LENGTH_MAX = 60; // what fits beside a node

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= LABEL_LENGTH_MAX ? text : `${characters.slice(0, LABEL_LENGTH_MAX - 1).join("")}…`;
}

/** Links of the clock and of meaning are drawn dashed: they are guesses, the others are statements. */
function edgeFromProto({ fromId, toId, type, weight, entityName }: MemoryLink) {
  return {
    id: [fromId, toId, type, ...(entityName === undefined ? [] : [entityName])].join("-"),
    source: fromId,
    target: toId,
    linkType: type,
    weight,
    entityName: entityName ?? null,
    color: edgeColors[type] ?? unknownColor,
    lineStyle: type === "temporal" || type === "semantic" ? "dashed" : "solid",
  };
}

function rowFromProto(unit: MemoryUnit) {
  return {
    id: unit.id,
    text: unit.text,
    context: unit.context,
    date: dateOf(unit),
    occurred_start: instantTextOrNull(unit.occurredStartUs),
    occurred_end: instantTextOrNull(unit.occurredEndUs),
    mentioned_at: instantTextOrNull(unit.mentionedAtUs),
    entities: entitiesText(unit.entities),
    document_id: unit.documentId ?? null,
    chunk_id: unit.chunkId ?? null,
    type: unit.type,
    fact_type: unit.type,
    tags: unit.tags,
    proof_count: unit.proofCount,
    created_at: instantText(unit.createdAtUs),
  };
}
