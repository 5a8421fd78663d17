import { Type } from "typebox";
import { optional } from "../../validation/containers.ts";
import { int, str } from "../../validation/scalars.ts";
import { count, instant, instantOrNull, textOrNull, texts } from "../answer-parts.ts";
import { tagQuery } from "../tag-filter.ts";

const GRAPH_UNITS_MAX = 10_000; // about 10 MB of JSON, more than any picture can show

export const graphQuery = {
  type: optional(str({ description: "Exact fact type" })),
  limit: optional(int({ ge: 0, cap: GRAPH_UNITS_MAX, description: "Most memory units" }), 1000),
  q: optional(str({ description: "Words that must all occur" })),
  ...tagQuery,
  document_id: optional(str()),
  chunk_id: optional(str()),
};

export const memoryGraph = Type.Object({
  nodes: Type.Array(
    Type.Object({
      data: Type.Object({ id: Type.String(), label: Type.String(), color: Type.String() }),
    }),
  ),
  edges: Type.Array(
    Type.Object({
      data: Type.Object({
        id: Type.String(),
        source: Type.String(),
        target: Type.String(),
        linkType: Type.String(),
        weight: Type.Number(),
        entityName: textOrNull,
        color: Type.String(),
        lineStyle: Type.String(),
      }),
    }),
  ),
  table_rows: Type.Array(
    Type.Object({
      id: Type.String(),
      text: Type.String(),
      context: Type.String(),
      date: Type.String(),
      occurred_start: instantOrNull,
      occurred_end: instantOrNull,
      mentioned_at: instantOrNull,
      entities: Type.String(),
      document_id: textOrNull,
      chunk_id: textOrNull,
      type: Type.String(),
      fact_type: Type.String(),
      tags: texts,
      proof_count: Type.Integer(),
      created_at: instant,
    }),
  ),
  total_units: count,
  limit: count,
});
