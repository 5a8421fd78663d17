import type { Chunk } from "@memory-bank/proto/memory/v1/memory";
import { instantText } from "../instant-text.ts";

export function chunkFromProto({ id, documentId, bankId, chunkIndex, text, createdAtUs }: Chunk) {
  return {
    chunk_id: id,
    document_id: documentId,
    bank_id: bankId,
    chunk_index: chunkIndex,
    chunk_text: text,
    created_at: instantText(createdAtUs),
  };
}
