import type { Document } from "@memory-bank/proto/memory/v1/memory";
import { instantText, instantTextOrNull } from "../instant-text.ts";

export function documentListItemFromProto(document: Document) {
  return {
    id: document.id,
    bank_id: document.bankId,
    content_hash: document.contentHash,
    created_at: instantText(document.createdAtUs),
    updated_at: instantText(document.updatedAtUs),
    text_length: document.textLength,
    memory_unit_count: document.memoryUnitCount,
    tags: document.tags,
    document_metadata: document.metadata,
    retain_params: paramsFromProto(document.retainParams),
  };
}

export function documentFromProto(document: Document, nodesByFactType: Readonly<Record<string, number>>) {
  return {
    ...documentListItemFromProto(document),
    original_text: document.originalText ?? null,
    nodes_by_fact_type: nodesByFactType,
    observation_scopes: scopesOf(document.retainParams),
  };
}

/** What the memory service keeps of the call that stored a document. */
interface StoredParams {
  readonly timestamp_us?: number | null;
  readonly entities?: readonly { readonly name: string; readonly kind: string }[];
  readonly exact_entities?: boolean;
}

/** The parameters of the call that stored it, in the words of that call. */
function paramsFromProto(params: Document["retainParams"]) {
  if (!params) return null;
  const { timestamp_us: timestampUs, entities, exact_entities: isExact, ...rest } = params as StoredParams;
  return {
    ...rest,
    timestamp: instantTextOrNull(timestampUs ?? undefined),
    ...(entities && { entities: entities.map(({ name, kind }) => ({ text: name, type: kind })) }),
    ...(isExact && { resolve_entities: false }),
  };
}

function scopesOf(params: Document["retainParams"]): string | string[][] | null {
  return (params?.["observation_scopes"] as string | string[][] | undefined) ?? null;
}
