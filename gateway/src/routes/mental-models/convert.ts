import type { MentalModel, MentalModelVersion, UpdateMentalModelRequest } from "@memory-bank/proto/reflect/v1/reflect";
import type { Output } from "../../validation/schema.ts";
import { instantText, instantTextOrNull } from "../instant-text.ts";
import type { Detail, mentalModelChange } from "./schemas.ts";
import { triggerFromProto, triggerToProto } from "./trigger.ts";

export function mentalModelChangeToProto(
  names: Pick<UpdateMentalModelRequest, "bankId" | "mentalModelId">,
  { name, source_query, max_tokens, tags, trigger }: Output<typeof mentalModelChange>,
): UpdateMentalModelRequest {
  return {
    ...names,
    name,
    sourceQuery: source_query,
    maxTokens: max_tokens,
    tags: tags && { values: tags },
    trigger: trigger && triggerToProto(trigger),
  };
}

export function mentalModelFromProto(model: MentalModel, detail: Detail = "full") {
  return {
    id: model.id,
    bank_id: model.bankId,
    name: model.name,
    source_query: model.sourceQuery,
    content: detail === "metadata" ? null : model.content,
    tags: model.tags,
    max_tokens: model.maxTokens,
    trigger: triggerFromProto(model.trigger),
    last_refreshed_at: instantTextOrNull(model.lastRefreshedAtUs),
    last_memory_seen_at: instantTextOrNull(model.lastMemorySeenAtUs),
    created_at: instantText(model.createdAtUs),
    reflect_response: detail === "full" ? (model.reflectResponse ?? null) : null,
    is_stale: model.isStale,
  };
}

export function versionFromProto({ content, reflectResponse, changedAtUs }: MentalModelVersion) {
  return {
    previous_content: content,
    previous_reflect_response: reflectResponse
      ? { based_on: (reflectResponse["based_on"] ?? null) as unknown, trace: (reflectResponse["trace"] ?? null) as unknown }
      : null,
    changed_at: instantText(changedAtUs),
  };
}
