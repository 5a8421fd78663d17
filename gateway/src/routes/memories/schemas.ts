import { Type } from "typebox";
import { list, model, optional } from "../../validation/containers.ts";
import { bool, literal, str } from "../../validation/scalars.ts";
import { component, type Output } from "../../validation/schema.ts";
import { instant, instantOrNull, orNull, textMap, textOrNull, texts } from "../answer-parts.ts";
import { storedInstant } from "../instant-text.ts";
import { cappedPage } from "../request-parts.ts";
import { tagQuery } from "../tag-filter.ts";

export const memoryListQuery = {
  type: optional(str({ description: "Exact fact type" })),
  q: optional(str({ description: "Words that must all occur; the last one may be the start of a word" })),
  consolidation_state: optional(str({ description: "pending, done or failed" })),
  state: optional(str({ description: "valid or invalidated" })),
  document_id: optional(str()),
  entity_id: optional(str()),
  ...tagQuery,
  ...cappedPage,
};

/** Types that callers may give to a memory; observations are made by consolidation alone. */
const rawTypes = ["world", "preference", "fact", "experience"] as const;

export const memoryPatchBody = model({
  text: optional(str()),
  context: optional(str()),
  occurred_start: optional(storedInstant()),
  occurred_end: optional(storedInstant()),
  fact_type: optional(literal(rawTypes)),
  entities: optional(list(str())),
  resolve_entities: optional(bool(), true),
  state: optional(literal(["valid", "invalidated"])),
  reason: optional(str({ description: "Why it is invalidated" })),
});
export type MemoryPatchBody = Output<typeof memoryPatchBody>;

const times = { mentioned_at: instantOrNull, occurred_start: instantOrNull, occurred_end: instantOrNull };

const bookkeeping = {
  proof_count: Type.Integer(),
  tags: texts,
  metadata: textMap,
  consolidated_at: instantOrNull,
  consolidation_failed_at: instantOrNull,
  state: Type.String(),
  invalidation_reason: textOrNull,
  invalidated_at: instantOrNull,
  edited_at: instantOrNull,
  updated_at: instant,
};

export const memoryListItem = component(
  "MemoryListItem",
  Type.Object({
    id: Type.String(),
    text: Type.String(),
    context: Type.String(),
    date: Type.String({ description: "Begin of the event, otherwise when it was said; empty when neither is known" }),
    entities: Type.String({ description: "`Name (KIND)`, joined by `, `" }),
    type: Type.String(),
    fact_type: Type.String({ description: "Same as `type`" }),
    document_id: textOrNull,
    chunk_id: textOrNull,
    ...times,
    ...bookkeeping,
    source_memory_ids: texts,
  }),
);

const sourceMemory = Type.Object({
  id: Type.String(),
  text: Type.String(),
  type: Type.String(),
  context: Type.String(),
  occurred_start: instantOrNull,
  mentioned_at: instantOrNull,
});

export const memoryRecord = component(
  "Memory",
  Type.Object({
    id: Type.String(),
    bank_id: Type.String(),
    text: Type.String(),
    context: Type.String(),
    date: Type.String(),
    type: Type.String(),
    ...times,
    entities: texts,
    document_id: textOrNull,
    chunk_id: textOrNull,
    observation_scopes: orNull(Type.Union([Type.String(), Type.Array(texts)])),
    ...bookkeeping,
    created_at: instant,
    history: Type.Array(Type.Unknown(), { maxItems: 0 }),
    source_memory_ids: Type.Optional(texts),
    source_memories: Type.Optional(Type.Array(sourceMemory)),
  }),
);

export const memoryHistory = Type.Array(
  Type.Object({
    previous_text: Type.String(),
    previous_tags: texts,
    previous_occurred_start: instantOrNull,
    previous_occurred_end: instantOrNull,
    previous_mentioned_at: instantOrNull,
    changed_at: instant,
    new_source_memory_ids: texts,
    source_facts: Type.Array(
      Type.Object({
        id: Type.String(),
        text: Type.String(),
        type: Type.String(),
        context: Type.String(),
        is_new: Type.Boolean(),
      }),
    ),
  }),
);
