import type { Job, JobSummary, JsonObject } from "@memory-bank/jobs";
import {
  type Operation,
  type TagFilter as TagFilterMessage,
  type TagGroup as TagGroupMessage,
  TagsMatch,
} from "@memory-bank/proto/common/v1/common";
import type * as proto from "@memory-bank/proto/reflect/v1/reflect";
import type { MentalModel } from "./domain/mental-model.ts";
import type { TagsMatch as Match, TagFilter, TagGroup } from "./domain/tags.ts";
import { defaultTrigger, type Trigger } from "./domain/trigger.ts";

/** Leaves out members whose value is undefined or null: absent `optional` members stay absent. */
type Present<T> = { [K in keyof T]: Exclude<T[K], undefined | null> };
export function present<T extends object>(members: T): Partial<Present<T>> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as Partial<Present<T>>;
}

const matchWords: Record<number, Match> = {
  [TagsMatch.ANY]: "any",
  [TagsMatch.ALL]: "all",
  [TagsMatch.ANY_STRICT]: "any_strict",
  [TagsMatch.ALL_STRICT]: "all_strict",
  [TagsMatch.EXACT]: "exact",
};
const matchNumbers = {
  any: TagsMatch.ANY,
  all: TagsMatch.ALL,
  any_strict: TagsMatch.ANY_STRICT,
  all_strict: TagsMatch.ALL_STRICT,
  exact: TagsMatch.EXACT,
} as const;

export function tagFilterFromProto(message: TagFilterMessage | undefined): TagFilter {
  return {
    tags: message?.tags ?? [],
    match: matchWords[message?.match ?? TagsMatch.ANY] ?? "any",
    groups: (message?.groups ?? []).map(tagGroupFromProto),
  };
}

export function tagFilterToProto({ tags, match, groups }: TagFilter): TagFilterMessage {
  return { tags: [...tags], match: matchNumbers[match], groups: groups.map(tagGroupToProto) };
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

function tagGroupToProto(group: TagGroup): TagGroupMessage {
  if ("and" in group) return { node: { $case: "allOf", value: { groups: group.and.map(tagGroupToProto) } } };
  if ("or" in group) return { node: { $case: "anyOf", value: { groups: group.or.map(tagGroupToProto) } } };
  if ("not" in group) return { node: { $case: "negation", value: tagGroupToProto(group.not) } };
  return { node: { $case: "leaf", value: { tags: [...group.tags], match: matchNumbers[group.match] } } };
}

export function triggerFromProto(message: proto.Trigger | undefined): Trigger {
  if (!message) return defaultTrigger;
  return {
    mode: message.mode === "delta" ? "delta" : "full",
    refreshAfterConsolidation: message.refreshAfterConsolidation,
    factTypes: message.factTypes?.values ?? null,
    excludeMentalModels: message.excludeMentalModels,
    excludeMentalModelIds: message.excludeMentalModelIds?.values ?? null,
    tagsMatch: message.tagsMatch === undefined ? null : (matchWords[message.tagsMatch] ?? null),
    tagGroups: message.tagGroups?.groups.map(tagGroupFromProto) ?? null,
    includeChunks: message.includeChunks ?? null,
    recallMaxTokens: message.recallMaxTokens ?? null,
    recallChunksMaxTokens: message.recallChunksMaxTokens ?? null,
    refreshCron: message.refreshCron ?? null,
    minRefreshIntervalSeconds: message.minRefreshIntervalSeconds ?? null,
    responseSchema: (message.responseSchema as JsonObject | undefined) ?? null,
    keepTrace: message.keepTrace,
  };
}

export function triggerToProto(trigger: Trigger): proto.Trigger {
  const { mode, refreshAfterConsolidation, excludeMentalModels, keepTrace } = trigger;
  return {
    mode,
    refreshAfterConsolidation,
    excludeMentalModels,
    keepTrace,
    ...present({
      factTypes: trigger.factTypes && { values: [...trigger.factTypes] },
      excludeMentalModelIds: trigger.excludeMentalModelIds && { values: [...trigger.excludeMentalModelIds] },
      tagsMatch: trigger.tagsMatch && matchNumbers[trigger.tagsMatch],
      tagGroups: trigger.tagGroups && { groups: trigger.tagGroups.map(tagGroupToProto) },
      includeChunks: trigger.includeChunks,
      recallMaxTokens: trigger.recallMaxTokens,
      recallChunksMaxTokens: trigger.recallChunksMaxTokens,
      refreshCron: trigger.refreshCron,
      minRefreshIntervalSeconds: trigger.minRefreshIntervalSeconds,
      responseSchema: trigger.responseSchema,
    }),
  };
}

/** `metadata` leaves out the answer, `content` its sources; anything else is the whole record. */
export function modelToProto(bankId: string, model: MentalModel, isStale: boolean, detail = "full"): proto.MentalModel {
  return {
    id: model.id,
    bankId,
    name: model.name,
    sourceQuery: model.sourceQuery,
    content: detail === "metadata" ? "" : model.content,
    tags: [...model.tags],
    maxTokens: model.maxTokens,
    trigger: triggerToProto(model.trigger),
    createdAtUs: model.createdAtUs,
    isStale,
    ...present({
      lastRefreshedAtUs: model.lastRefreshedAtUs,
      lastMemorySeenAtUs: model.lastMemorySeenAtUs,
      reflectResponse: detail === "metadata" || detail === "content" ? null : model.reflectResponse,
    }),
  };
}

/** A job as the public operation that it is, with the payload only when it is given. */
export function operationToProto(job: JobSummary, payload?: Job["payload"]): Operation {
  const isParked = job.status === "pending" && (job.retryCount > 0 || (job.nextRunAtUs ?? 0) > job.createdAtUs);
  const modelId = job.details["mental_model_id"];
  // An operation that was queued again has no outcome yet, whatever it came to before.
  const isOpen = job.status === "pending" || job.status === "processing";
  return {
    id: job.id,
    type: job.kind,
    status: job.status,
    itemsCount: 0,
    details: isOpen ? { ...job.details, outcome: null, failure_reason: null } : job.details,
    createdAtUs: job.createdAtUs,
    updatedAtUs: job.updatedAtUs,
    retryCount: job.retryCount,
    children: [],
    ...present({
      progress: job.progress,
      result: job.result,
      payload,
      completedAtUs: job.completedAtUs,
      errorMessage: job.status === "completed" ? null : job.error,
      nextRetryAtUs: isParked ? job.nextRunAtUs : null,
      mentalModelId: typeof modelId === "string" ? modelId : null,
    }),
  };
}
