import { Type } from "typebox";
import { list, model, nullable, optional, refine } from "../../validation/containers.ts";
import { bool, dateTime, enumeration, int, num, str } from "../../validation/scalars.ts";
import { component, type Output } from "../../validation/schema.ts";
import { anyObject, instant, textMap, texts } from "../answer-parts.ts";
import { tagBody, tagConflict } from "../tag-filter.ts";
import { question } from "../text-parts.ts";

const UNBOUNDED = -1;
const entitiesPreset = { max_tokens: 500 };

const include = model({
  entities: optional(nullable(model({ max_tokens: optional(int({ ge: 0 }), 500) })), entitiesPreset),
  chunks: optional(model({ max_tokens: optional(int({ ge: 0 }), 8192) })),
  source_facts: optional(
    model({
      max_tokens: optional(int({ ge: UNBOUNDED }), 4096),
      max_tokens_per_observation: optional(int({ ge: UNBOUNDED }), UNBOUNDED),
    }),
  ),
});

const temporalWindow = refine(model({ start: dateTime(), end: dateTime() }), ({ start, end }) =>
  start > end ? "start must not be after end" : undefined,
);

const minScores = model({
  semantic: optional(num()),
  keyword: optional(num()),
  reranker: optional(num()),
  final: optional(num()),
});

export const recallBody = refine(
  model({
    query: question(),
    types: optional(list(str()), []),
    budget: optional(enumeration(["low", "mid", "high"]), "mid"),
    max_tokens: optional(int({ ge: 0 }), 4096),
    prefer_observations: optional(bool(), false),
    trace: optional(bool(), false),
    query_timestamp: optional(str({ description: "Reference of relative times; now unless given" })),
    include: optional(include, { entities: entitiesPreset, chunks: undefined, source_facts: undefined }),
    ...tagBody,
    min_scores: optional(minScores),
    temporal_window: optional(temporalWindow),
  }),
  tagConflict,
);
export type RecallBody = Output<typeof recallBody>;

const result = component(
  "RecallResult",
  Type.Object({
    id: Type.String(),
    text: Type.String(),
    type: Type.String(),
    entities: texts,
    context: Type.String(),
    occurred_start: Type.Optional(instant),
    occurred_end: Type.Optional(instant),
    mentioned_at: Type.Optional(instant),
    document_id: Type.Optional(Type.String()),
    metadata: textMap,
    chunk_id: Type.Optional(Type.String()),
    tags: texts,
    source_fact_ids: Type.Optional(texts),
    scores: Type.Optional(
      Type.Object({
        final: Type.Number(),
        reranker: Type.Optional(Type.Number()),
        semantic: Type.Optional(Type.Number()),
        keyword: Type.Optional(Type.Number()),
      }),
    ),
  }),
);

const recalledEntity = Type.Object({
  entity_id: Type.String(),
  canonical_name: Type.String(),
  observations: Type.Array(anyObject),
});

const recalledChunk = Type.Object({
  id: Type.String(),
  text: Type.String(),
  chunk_index: Type.Integer(),
  truncated: Type.Boolean(),
});

export const recallAnswer = component(
  "RecallAnswer",
  Type.Object({
    results: Type.Array(result),
    entities: Type.Optional(Type.Record(Type.String(), recalledEntity)),
    chunks: Type.Optional(Type.Record(Type.String(), recalledChunk)),
    source_facts: Type.Optional(Type.Record(Type.String(), result)),
    source_facts_truncated: Type.Optional(Type.Boolean()),
    trace: Type.Optional(anyObject),
  }),
);
