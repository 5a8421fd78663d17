import type { Document } from "@memory-bank/proto/memory/v1/memory";
import { instantText } from "../instant-text.ts";

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

/** The parameters of the call that stored it; its instant as text like all others. */
function paramsFromProto(params: Document["retainParams"]) {
  if (!params) return null;
  const { timestamp_us: timestampUs, ...rest } = params as Readonly<Record<string, unknown>>;
  return { ...rest, timestamp: typeof timestampUs === "number" ? instantText(timestampUs) : null };
}

function scopesOf(params: Document["retainParams"]): string | string[][] | null {
  return (params?.["observation_scopes"] as string | string[][] | undefined) ?? null;
}
