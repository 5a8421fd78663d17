import { AppError } from "@memory-bank/errors";
import type {
  ListMemoriesRequest,
  MemoryChange,
  MemoryUnit,
  SourceMemory,
  UnitEntity,
  UpdateMemoryRequest,
} from "@memory-bank/proto/memory/v1/memory";
import type { Read } from "../../validation/containers.ts";
import { instantText, instantTextOrNull } from "../instant-text.ts";
import { filterText, requireUuid } from "../request-parts.ts";
import { tagFilterToProto } from "../tag-filter.ts";
import { scopesFromProto } from "./retain-convert.ts";
import type { MemoryPatchBody, memoryListQuery } from "./schemas.ts";

export function memoryIdOf(text: string): string {
  return requireUuid(text, (given) => `Invalid memory_id: '${given}' is not a valid UUID`);
}

export function listMemoriesToProto(bankId: string, query: Read<typeof memoryListQuery>): ListMemoriesRequest {
  const type = filterText(query.type);
  const words = filterText(query.q);
  const documentId = filterText(query.document_id);
  const entityId = filterText(query.entity_id);
  const tags = tagFilterToProto(query);
  return {
    bankId,
    consolidationState: wordOf("consolidation_state", query.consolidation_state, consolidationStates),
    state: wordOf("state", query.state, states),
    ...(type !== undefined && { type }),
    ...(words !== undefined && { query: words }),
    ...(documentId !== undefined && { documentId }),
    ...(entityId !== undefined && { entityId: entityIdOf(entityId) }),
    ...(tags && { tags }),
    limit: query.limit,
    offset: query.offset,
  };
}

interface Words {
  readonly words: readonly string[];
  readonly expected: string;
}
const consolidationStates: Words = { words: ["failed", "pending", "done"], expected: "'failed', 'pending', or 'done'" };
const states: Words = { words: ["valid", "invalidated"], expected: "'valid' or 'invalidated'" };

/** The word in lower case, empty when none was given; others are a fault of meaning (400), as the contract wants it. */
function wordOf(member: string, given: string | undefined, { words, expected }: Words): string {
  const word = given?.toLowerCase() ?? "";
  if (word === "" || words.includes(word)) return word;
  const reason = `INVALID_${member.toUpperCase()}`;
  throw new AppError("invalid_argument", reason, `Invalid ${member} '${given}': expected ${expected}.`);
}

function entityIdOf(text: string): string {
  return requireUuid(text, (given) => `Invalid entity_id: '${given}' is not a valid UUID`);
}

export function updateMemoryToProto(bankId: string, memoryId: string, body: MemoryPatchBody): UpdateMemoryRequest {
  return {
    bankId,
    memoryId,
    ...(body.text !== undefined && { text: body.text }),
    ...(body.context !== undefined && { context: body.context }),
    ...(body.occurred_start !== undefined && { occurredStartUs: body.occurred_start }),
    ...(body.occurred_end !== undefined && { occurredEndUs: body.occurred_end }),
    ...(body.fact_type !== undefined && { factType: body.fact_type }),
    ...(body.entities !== undefined && { entities: { values: body.entities } }),
    exactEntities: !body.resolve_entities,
    ...(body.state !== undefined && { state: body.state }),
    ...(body.reason !== undefined && { reason: body.reason }),
  };
}

export function memoryListItemFromProto(unit: MemoryUnit) {
  const { document_id, chunk_id, mentioned_at, occurred_start, occurred_end, ...rest } = commonOf(unit);
  return {
    id: unit.id,
    text: unit.text,
    context: unit.context,
    date: dateOf(unit),
    entities: entitiesText(unit.entities),
    type: unit.type,
    fact_type: unit.type,
    document_id,
    chunk_id,
    mentioned_at,
    occurred_start,
    occurred_end,
    ...rest,
    source_memory_ids: unit.sourceMemoryIds,
  };
}

export function memoryFromProto(unit: MemoryUnit) {
  return {
    id: unit.id,
    bank_id: unit.bankId,
    text: unit.text,
    context: unit.context,
    date: dateOf(unit),
    type: unit.type,
    ...commonOf(unit),
    entities: unit.entities.map(({ name }) => name),
    observation_scopes: scopesFromProto(unit.observationScopes),
    created_at: instantText(unit.createdAtUs),
    history: [],
    ...(unit.type === "observation" && {
      source_memory_ids: unit.sourceMemoryIds,
      source_memories: unit.sourceMemories.map(sourceMemoryFromProto),
    }),
  };
}

function commonOf(unit: MemoryUnit) {
  return {
    mentioned_at: instantTextOrNull(unit.mentionedAtUs),
    occurred_start: instantTextOrNull(unit.occurredStartUs),
    occurred_end: instantTextOrNull(unit.occurredEndUs),
    document_id: unit.documentId ?? null,
    chunk_id: unit.chunkId ?? null,
    proof_count: unit.proofCount,
    tags: unit.tags,
    metadata: unit.metadata,
    consolidated_at: instantTextOrNull(unit.consolidatedAtUs),
    consolidation_failed_at: instantTextOrNull(unit.consolidationFailedAtUs),
    state: unit.state,
    invalidation_reason: unit.invalidationReason ?? null,
    invalidated_at: instantTextOrNull(unit.invalidatedAtUs),
    edited_at: instantTextOrNull(unit.editedAtUs),
    updated_at: instantText(unit.updatedAtUs),
  };
}

/** Begin of the event, otherwise when it was said; empty when neither is known. */
export function dateOf({ occurredStartUs, mentionedAtUs }: MemoryUnit): string {
  return instantTextOrNull(occurredStartUs ?? mentionedAtUs) ?? "";
}

/** Entities for people to read, by name. */
export function entitiesText(entities: readonly UnitEntity[]): string {
  const byName = entities.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return byName.map(({ name, kind }) => `${name} (${kind})`).join(", ");
}

function sourceMemoryFromProto({ id, text, type, context, occurredStartUs, mentionedAtUs }: SourceMemory) {
  return {
    id,
    text,
    type,
    context,
    occurred_start: instantTextOrNull(occurredStartUs),
    mentioned_at: instantTextOrNull(mentionedAtUs),
  };
}

export function memoryChangeFromProto(change: MemoryChange) {
  return {
    previous_text: change.previousText,
    previous_tags: change.previousTags,
    previous_occurred_start: instantTextOrNull(change.previousOccurredStartUs),
    previous_occurred_end: instantTextOrNull(change.previousOccurredEndUs),
    previous_mentioned_at: instantTextOrNull(change.previousMentionedAtUs),
    changed_at: instantText(change.changedAtUs),
    new_source_memory_ids: change.newSourceMemoryIds,
    source_facts: change.sourceFacts.map(({ id, text, type, context, isNew }) => ({ id, text, type, context, is_new: isNew })),
  };
}
