import type { Job, JobSummary } from "@memory-bank/jobs";
import type { TokenUsage } from "@memory-bank/models";
import {
  type Operation,
  type TagFilter as TagFilterMessage,
  type TagGroup as TagGroupMessage,
  TagsMatch,
  type TokenUsage as TokenUsageMessage,
} from "@memory-bank/proto/common/v1/common";
import type * as proto from "@memory-bank/proto/memory/v1/memory";
import type { RankingRecord } from "./domain/fact.ts";
import type { RecallHit } from "./domain/recall/recall.ts";
import type { RetainItem } from "./domain/retain/retain-batch.ts";
import type { TagsMatch as Match, TagFilter, TagGroup } from "./domain/tags.ts";
import type { ObservationScopes, Unit } from "./domain/unit.ts";
import type { Chunk, Document, Entity, ObservationChange } from "./memory-store.ts";

/** Leaves out members whose value is undefined: absent `optional` members stay absent. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };
export function defined<T extends object>(members: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>;
}

const matchWords: Record<number, Match> = {
  [TagsMatch.ANY]: "any",
  [TagsMatch.ALL]: "all",
  [TagsMatch.ANY_STRICT]: "any_strict",
  [TagsMatch.ALL_STRICT]: "all_strict",
  [TagsMatch.EXACT]: "exact",
};

export function tagFilterFromProto(message: TagFilterMessage | undefined): TagFilter {
  if (!message) return {};
  return {
    tags: message.tags,
    tagsMatch: matchWords[message.match] ?? "any",
    ...(message.groups.length > 0 ? { tagGroups: message.groups.map(tagGroupFromProto) } : {}),
  };
}

function tagGroupFromProto({ node }: TagGroupMessage): TagGroup {
  switch (node?.$case) {
    case "allOf":
      return { and: node.value.groups.map(tagGroupFromProto) };
    case "anyOf":
      return { or: node.value.groups.map(tagGroupFromProto) };
    case "negation":
      return { not: tagGroupFromProto(node.value) };
    case "leaf":
      return { tags: node.value.tags, match: matchWords[node.value.match] ?? "any_strict" };
    default:
      return { and: [] };
  }
}

const presets = ["per_tag", "combined", "all_combinations", "shared"] as const;

export function scopesFromProto(message: proto.ObservationScopesSpec | undefined): ObservationScopes | undefined {
  if (!message) return undefined;
  return presets.find((preset) => preset === message.preset) ?? message.explicit.map((set) => set.tags);
}

export function scopesToProto(scopes: ObservationScopes | undefined): proto.ObservationScopesSpec | undefined {
  if (scopes === undefined) return undefined;
  return typeof scopes === "string"
    ? { preset: scopes, explicit: [] }
    : { preset: "", explicit: scopes.map((tags) => ({ tags: [...tags] })) };
}

/** Kinds are upper case with underscores, at most this long (contract 4.3). */
const kindLengthMax = 64;

export function retainItemFromProto(item: proto.RetainItem, nowUs: number): RetainItem {
  return {
    content: item.content,
    context: item.context,
    documentId: item.documentId,
    timestampUs: item.timeless ? undefined : (item.timestampUs ?? nowUs),
    metadata: item.metadata,
    tags: [...new Set(item.tags.filter((tag) => tag !== ""))],
    entities: item.entities
      .map(({ text, type }) => ({
        name: text.replace(/\s+/gu, " ").trim(),
        kind: (type.trim().replace(/\s+/gu, "_").toUpperCase() || "CONCEPT").slice(0, kindLengthMax),
      }))
      .filter((entity) => entity.name !== ""),
    exactEntities: item.exactEntities,
    observationScopes: scopesFromProto(item.observationScopes),
    strategy: item.strategy,
    append: item.append,
  };
}

export function unitToProto(bankId: string, unit: Unit, sources: readonly Unit[] = []): proto.MemoryUnit {
  return {
    id: unit.unitId,
    bankId,
    text: unit.text,
    context: unit.context,
    type: unit.type,
    entities: unit.entities.map(({ entityId, name, kind }) => ({ id: entityId, name, kind })),
    proofCount: unit.proofCount,
    tags: [...unit.tags],
    metadata: { ...unit.metadata },
    state: unit.state,
    createdAtUs: unit.createdAtUs,
    updatedAtUs: unit.updatedAtUs,
    sourceMemoryIds: [...unit.sourceUnitIds],
    sourceMemories: sources.map((source) => ({
      id: source.unitId,
      text: source.text,
      type: source.type,
      context: source.context,
      ...defined({ occurredStartUs: source.occurredStartUs, mentionedAtUs: source.mentionedAtUs }),
    })),
    ...defined({
      documentId: unit.documentId,
      chunkId: unit.chunkId,
      mentionedAtUs: unit.mentionedAtUs,
      occurredStartUs: unit.occurredStartUs,
      occurredEndUs: unit.occurredEndUs,
      consolidatedAtUs: unit.consolidatedAtUs,
      consolidationFailedAtUs: unit.consolidationFailedAtUs,
      invalidationReason: unit.invalidationReason,
      invalidatedAtUs: unit.invalidatedAtUs,
      editedAtUs: unit.editedAtUs,
      observationScopes: scopesToProto(unit.observationScopes),
    }),
  };
}

export function resultToProto(record: RankingRecord, hit?: RecallHit): proto.RecallResult {
  return {
    id: record.unitId,
    text: record.text,
    type: record.type,
    entities: [...record.entityNames],
    context: record.context,
    metadata: { ...record.metadata },
    tags: [...record.tags],
    sourceFactIds: [...record.sourceUnitIds],
    proofCount: record.proofCount,
    terms: hit === undefined ? [] : hit.terms.map(({ name, value, weight }) => ({ name, value, weight })),
    occurredStartUs: record.occurredStartUs,
    occurredEndUs: record.occurredEndUs,
    mentionedAtUs: record.mentionedAtUs,
    documentId: record.documentId,
    chunkId: record.chunkId,
    scores: hit && { final: hit.score, semantic: hit.semantic, keyword: hit.keyword > 0 ? hit.keyword : undefined },
  };
}

export function usageToProto({ input, output, cached, reasoning }: TokenUsage): TokenUsageMessage {
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    cachedTokens: cached,
    thoughtsTokens: reasoning,
  };
}

export function entityToProto(entity: Entity): proto.Entity {
  const { entityId, name, kind, mentionCount, firstSeenUs, lastSeenUs } = entity;
  return { id: entityId, canonicalName: name, kind, mentionCount, ...defined({ firstSeenUs, lastSeenUs }) };
}

export function documentToProto(bankId: string, document: Document): proto.Document {
  return {
    id: document.documentId,
    bankId,
    contentHash: document.contentHash,
    createdAtUs: document.createdAtUs,
    updatedAtUs: document.updatedAtUs,
    textLength: document.textLength,
    memoryUnitCount: document.unitCount,
    tags: [...document.tags],
    metadata: { ...document.metadata },
    retainParams: document.retainParams,
    ...defined({ originalText: document.originalText }),
  };
}

export function chunkToProto(bankId: string, chunk: Chunk): proto.Chunk {
  const { chunkId, documentId, chunkIndex, text, createdAtUs } = chunk;
  return { id: chunkId, bankId, documentId, chunkIndex, text, createdAtUs };
}

export function changeToProto(change: ObservationChange): proto.MemoryChange {
  return {
    previousText: change.previousText,
    previousTags: [...change.previousTags],
    changedAtUs: change.changedAtUs,
    newSourceMemoryIds: [...change.newSourceIds],
    sourceFacts: [...change.sourceFacts],
    ...defined({
      previousOccurredStartUs: change.previousOccurredStartUs,
      previousOccurredEndUs: change.previousOccurredEndUs,
      previousMentionedAtUs: change.previousMentionedAtUs,
    }),
  };
}

/** A job as the public operation that it is, with the payload only when it is given. */
export function operationToProto(job: JobSummary, children: readonly JobSummary[] = [], payload?: Job["payload"]): Operation {
  const itemsCount = job.details["items_count"];
  return {
    id: job.id,
    type: job.kind,
    status: job.status,
    itemsCount: typeof itemsCount === "number" ? itemsCount : 0,
    details: job.details,
    createdAtUs: job.createdAtUs,
    updatedAtUs: job.updatedAtUs,
    retryCount: job.retryCount,
    children: children.map((child) => ({
      operationId: child.id,
      status: child.status,
      subBatchIndex: child.index ?? 0,
      itemsCount: Number(child.details["items_count"] ?? 0),
      ...(child.error === null ? {} : { errorMessage: child.error }),
    })),
    ...(job.progress === null ? {} : { progress: job.progress }),
    ...(job.result === null ? {} : { result: job.result }),
    ...(payload ? { payload } : {}),
    ...(job.completedAtUs === null ? {} : { completedAtUs: job.completedAtUs }),
    ...(job.error === null || job.status === "completed" ? {} : { errorMessage: job.error }),
    ...(job.status === "pending" && job.retryCount > 0 && job.nextRunAtUs !== null ? { nextRetryAtUs: job.nextRunAtUs } : {}),
    ...(typeof job.details["document_id"] === "string" ? { documentId: job.details["document_id"] } : {}),
    ...(typeof job.details["mental_model_id"] === "string" ? { mentalModelId: job.details["mental_model_id"] } : {}),
  };
}
