import { Type } from "typebox";
import { list, model, optional } from "../../validation/containers.ts";
import { str } from "../../validation/scalars.ts";
import { component } from "../../validation/schema.ts";
import { anyObject, count, counts, instant, orNull, textMap, textOrNull, texts } from "../answer-parts.ts";
import { cappedPage } from "../request-parts.ts";
import { tagQuery } from "../tag-filter.ts";

const TAG_LENGTH_MAX = 255;

export const documentListQuery = {
  q: optional(str({ description: "Part of the document id, ignoring case" })),
  ...tagQuery,
  ...cappedPage,
};

export const documentPatchBody = model({ tags: optional(list(str({ maxLength: TAG_LENGTH_MAX }))) });

const shared = {
  id: Type.String(),
  bank_id: Type.String(),
  content_hash: Type.String(),
  created_at: instant,
  updated_at: instant,
  text_length: count,
  memory_unit_count: count,
  tags: texts,
  document_metadata: textMap,
  retain_params: orNull(anyObject),
};

export const documentListItem = component("DocumentListItem", Type.Object(shared));

export const documentRecord = component(
  "Document",
  Type.Object({
    ...shared,
    original_text: textOrNull,
    nodes_by_fact_type: counts,
    observation_scopes: orNull(Type.Union([Type.String(), Type.Array(texts)])),
  }),
);

export const documentUpdated = Type.Object({ success: Type.Boolean() });

export const documentDeleted = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  document_id: Type.String(),
  memory_units_deleted: count,
});

export const reprocessQueued = Type.Object({ success: Type.Boolean(), operation_id: Type.String(), items_count: count });
