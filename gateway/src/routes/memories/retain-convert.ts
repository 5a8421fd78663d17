import type { ObservationScopesSpec, RetainItem, RetainRequest, RetainResponse } from "@memory-bank/proto/memory/v1/memory";
import { usageFromProto } from "../token-usage.ts";
import type { RetainBody, RetainItemBody } from "./retain-schemas.ts";

export function retainToProto(bankId: string, body: RetainBody): RetainRequest {
  const documentTags = body.document_tags ?? [];
  return {
    bankId,
    items: body.items.map((item) => retainItemToProto(item, documentTags)),
    async: body.async,
    ...(body.async && body.operation_id !== undefined && { operationId: body.operation_id }),
  };
}

function retainItemToProto(item: RetainItemBody, documentTags: readonly string[]): RetainItem {
  const { timestamp, strategy } = item;
  return {
    content: item.content,
    context: item.context,
    ...(item.document_id !== undefined && { documentId: item.document_id }),
    ...(typeof timestamp === "object" && { timestampUs: timestamp.us }),
    timeless: timestamp === "timeless",
    metadata: item.metadata ?? {},
    tags: [...(item.tags ?? []), ...documentTags],
    entities: (item.entities ?? []).map(({ text, type = "" }) => ({ text, type })),
    exactEntities: !item.resolve_entities,
    ...(item.observation_scopes !== undefined && { observationScopes: scopesToProto(item.observation_scopes) }),
    ...(strategy !== undefined && { strategy }),
    append: item.update_mode === "append",
  };
}

type Scopes = NonNullable<RetainItemBody["observation_scopes"]>;

export function scopesToProto(scopes: Scopes): ObservationScopesSpec {
  if (typeof scopes === "string") return { preset: scopes, explicit: [] };
  return { preset: "", explicit: scopes.map((tags) => ({ tags })) };
}

/** The preset's word, or the tag sets; null when nothing was said. */
export function scopesFromProto(scopes: ObservationScopesSpec | undefined): string | string[][] | null {
  if (!scopes) return null;
  return scopes.preset === "" ? scopes.explicit.map(({ tags }) => tags) : scopes.preset;
}

export function retainFromProto(bankId: string, isAsync: boolean, { itemsCount, usage, operationIds }: RetainResponse) {
  const [operationId] = operationIds;
  return {
    success: true,
    bank_id: bankId,
    items_count: itemsCount,
    async: isAsync,
    ...(!isAsync && { usage: usageFromProto(usage) }),
    ...(operationId !== undefined && { operation_id: operationId }),
    ...(operationIds.length > 1 && { operation_ids: operationIds }),
  };
}
