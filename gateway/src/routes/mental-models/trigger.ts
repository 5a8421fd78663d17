import { TagsMatch } from "@memory-bank/proto/common/v1/common";
import type { Trigger } from "@memory-bank/proto/reflect/v1/reflect";
import { Type } from "typebox";
import { isObject, type JsonObject, jsonObject, list, model, optional, refine } from "../../validation/containers.ts";
import { bool, id, int, literal, str } from "../../validation/scalars.ts";
import { component, type Output } from "../../validation/schema.ts";
import { anyObject, orNull, textOrNull, texts } from "../answer-parts.ts";
import {
  tagGroup,
  tagGroupFromProto,
  tagGroupToProto,
  tagsMatchFromProto,
  tagsMatchToProto,
  tagsMatchWords,
} from "../tag-filter.ts";
import { factTypes } from "../text-parts.ts";

const members = model({
  mode: optional(literal(["full", "delta"]), "full"),
  refresh_after_consolidation: optional(bool(), false),
  fact_types: optional(list(literal(factTypes), { minItems: 1 })),
  exclude_mental_models: optional(bool(), false),
  exclude_mental_model_ids: optional(list(id())),
  tags_match: optional(literal(tagsMatchWords)),
  tag_groups: optional(list(tagGroup)),
  include_chunks: optional(bool()),
  recall_max_tokens: optional(int()),
  recall_chunks_max_tokens: optional(int()),
  refresh_cron: optional(str({ description: "Five fields, in UTC" })),
  min_refresh_interval_seconds: optional(int({ ge: 0 })),
  response_schema: optional(refine(jsonObject({ description: "JSON schema of an object" }), schemaProblem)),
  keep_trace: optional(bool(), false),
});

/** When and how a mental model is refreshed, as a caller sets it: always as a whole. */
export const triggerBody = refine(members, ({ refresh_cron, refresh_after_consolidation }) =>
  refresh_cron !== undefined && refresh_after_consolidation
    ? "refresh_cron and refresh_after_consolidation are mutually exclusive"
    : undefined,
);

/** What a model has whose creator says nothing about refreshing. */
export const defaultTrigger: Output<typeof triggerBody> = {
  mode: "full",
  refresh_after_consolidation: false,
  fact_types: undefined,
  exclude_mental_models: false,
  exclude_mental_model_ids: undefined,
  tags_match: undefined,
  tag_groups: undefined,
  include_chunks: undefined,
  recall_max_tokens: undefined,
  recall_chunks_max_tokens: undefined,
  refresh_cron: undefined,
  min_refresh_interval_seconds: undefined,
  response_schema: undefined,
  keep_trace: false,
};

export function schemaProblem(schema: JsonObject): string | undefined {
  const { type, properties } = schema;
  if (type === "object" && isObject(properties) && Object.keys(properties).length > 0) return undefined;
  return "response_schema must describe an object with at least one property";
}

export const trigger = component(
  "MentalModelTrigger",
  Type.Object({
    mode: Type.String({ description: "full or delta" }),
    refresh_after_consolidation: Type.Boolean(),
    fact_types: orNull(texts),
    exclude_mental_models: Type.Boolean(),
    exclude_mental_model_ids: orNull(texts),
    tags_match: textOrNull,
    tag_groups: orNull(Type.Array(anyObject)),
    include_chunks: orNull(Type.Boolean()),
    recall_max_tokens: orNull(Type.Integer()),
    recall_chunks_max_tokens: orNull(Type.Integer()),
    refresh_cron: textOrNull,
    min_refresh_interval_seconds: orNull(Type.Integer()),
    response_schema: orNull(anyObject),
    keep_trace: Type.Boolean(),
  }),
);

export function triggerToProto(trigger: Output<typeof triggerBody>): Trigger {
  const { fact_types, exclude_mental_model_ids, tags_match, tag_groups } = trigger;
  return {
    mode: trigger.mode,
    refreshAfterConsolidation: trigger.refresh_after_consolidation,
    factTypes: fact_types && { values: fact_types },
    excludeMentalModels: trigger.exclude_mental_models,
    excludeMentalModelIds: exclude_mental_model_ids && { values: exclude_mental_model_ids },
    tagsMatch: tags_match && tagsMatchToProto(tags_match),
    tagGroups: tag_groups && { groups: tag_groups.map(tagGroupToProto) },
    includeChunks: trigger.include_chunks,
    recallMaxTokens: trigger.recall_max_tokens,
    recallChunksMaxTokens: trigger.recall_chunks_max_tokens,
    refreshCron: trigger.refresh_cron,
    minRefreshIntervalSeconds: trigger.min_refresh_interval_seconds,
    responseSchema: trigger.response_schema,
    keepTrace: trigger.keep_trace,
  };
}

export function triggerFromProto(trigger: Trigger | undefined) {
  return {
    mode: trigger?.mode || defaultTrigger.mode,
    refresh_after_consolidation: trigger?.refreshAfterConsolidation ?? false,
    fact_types: trigger?.factTypes?.values ?? null,
    exclude_mental_models: trigger?.excludeMentalModels ?? false,
    exclude_mental_model_ids: trigger?.excludeMentalModelIds?.values ?? null,
    tags_match: tagsMatchFromProto(trigger?.tagsMatch ?? TagsMatch.UNSPECIFIED) ?? null,
    tag_groups: trigger?.tagGroups?.groups.map(tagGroupFromProto) ?? null,
    include_chunks: trigger?.includeChunks ?? null,
    recall_max_tokens: trigger?.recallMaxTokens ?? null,
    recall_chunks_max_tokens: trigger?.recallChunksMaxTokens ?? null,
    refresh_cron: trigger?.refreshCron ?? null,
    min_refresh_interval_seconds: trigger?.minRefreshIntervalSeconds ?? null,
    response_schema: trigger?.responseSchema ?? null,
    keep_trace: trigger?.keepTrace ?? false,
  };
}
