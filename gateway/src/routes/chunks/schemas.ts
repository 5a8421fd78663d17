import { Type } from "typebox";
import { component } from "../../validation/schema.ts";
import { count, instant } from "../answer-parts.ts";

export const chunkRecord = component(
  "Chunk",
  Type.Object({
    chunk_id: Type.String(),
    document_id: Type.String(),
    bank_id: Type.String(),
    chunk_index: count,
    chunk_text: Type.String(),
    created_at: instant,
  }),
);
