import { countTokens } from "@memory-bank/models";
import type { ObservationUpdate } from "../../memory-store.ts";
import { extractFacts } from "../retain/extract.ts";
import { searchTokens } from "../retain/plan-retain.ts";
import type { NewUnit, Unit } from "../unit.ts";
import type { Scope } from "./scopes.ts";

/** What a text of an observation says to ranking and to the embedder, by the rules that read facts. */
export interface ReadObservation {
  readonly text: string;
  readonly embeddedText: string;
  readonly features: NewUnit["features"];
}

export function readObservation(text: string, sources: readonly Unit[]): ReadObservation {
  const { facts } = extractFacts({
    content: text,
    context: "",
    timestampUs: spanOf(sources).mentionedAtUs,
    mode: "verbatim",
    chunkSize: Number.MAX_SAFE_INTEGER,
    structuredChunkSize: Number.MAX_SAFE_INTEGER,
  });
  const fact = facts[0]!;
  // An observation is a passage of its own, so its pair is itself, a vector of unit length.
  return { text, embeddedText: fact.embeddedText, features: { intervals: fact.intervals, flags: fact.flags, pairNorm: 1 } };
}

/** A new observation drawn from sources; it stands by itself: no document, no neighbours. */
export function newObservation(
  read: ReadObservation,
  sources: readonly Unit[],
  { scope, unitId, nowUs }: { readonly scope: Scope; readonly unitId: string; readonly nowUs: number },
): NewUnit {
  return {
    unitId,
    type: "observation",
    context: "",
    documentId: undefined,
    chunkId: undefined,
    sessionId: `observation ${unitId}`,
    passage: 0,
    sentenceIndex: 0,
    author: agreed(sources.map((source) => source.author)),
    subject: agreed(sources.map((source) => source.subject)),
    tags: scope,
    metadata: {},
    observationScopes: undefined,
    createdAtUs: nowUs,
    proofCount: sources.length,
    sourceUnitIds: sources.map((source) => source.unitId),
    ...drawn(read, sources),
  };
}

/** The new values of an observation that has `sources` now; its tags grow by those of the scope. */
export function updatedObservation(
  observation: Unit,
  read: ReadObservation,
  sources: readonly Unit[],
  scope: Scope,
): ObservationUpdate {
  const before = new Set(observation.sourceUnitIds);
  const sourceUnitIds = sources.map((source) => source.unitId);
  return {
    unitId: observation.unitId,
    tags: [...new Set([...observation.tags, ...scope])],
    sourceUnitIds,
    newSourceIds: sourceUnitIds.filter((unitId) => !before.has(unitId)),
    ...drawn(read, sources),
  };
}

function drawn({ text, features }: ReadObservation, sources: readonly Unit[]) {
  const entities = new Map(sources.flatMap((source) => source.entities).map((entity) => [entity.entityId, entity.name]));
  return {
    text,
    features,
    tokenCount: countTokens(text),
    entityIds: [...entities.keys()],
    searchTokens: searchTokens(text, "", [...entities.values()]),
    ...spanOf(sources),
  };
}

/** Earliest start, latest end and latest mention of the sources (contract 13.6). */
function spanOf(sources: readonly Unit[]) {
  const known = (values: readonly (number | undefined)[]): number[] => values.filter((value) => value !== undefined);
  const starts = known(sources.map((source) => source.occurredStartUs));
  const ends = known(sources.map((source) => source.occurredEndUs));
  const mentions = known(sources.map((source) => source.mentionedAtUs));
  return {
    occurredStartUs: starts.length > 0 ? Math.min(...starts) : undefined,
    occurredEndUs: ends.length > 0 ? Math.max(...ends) : undefined,
    mentionedAtUs: mentions.length > 0 ? Math.max(...mentions) : undefined,
  };
}

function agreed<T>(values: readonly T[]): T | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined;
}
