import { Type } from "typebox";
import { jsonObject, list, model, optional, refine } from "../../validation/containers.ts";
import { bool, enumeration, id, int, literal, str } from "../../validation/scalars.ts";
import { component, type Output } from "../../validation/schema.ts";
import { anyObject, count, instantOrNull, textOrNull } from "../answer-parts.ts";
import { schemaProblem } from "../mental-models/trigger.ts";
import { tagBody, tagConflict } from "../tag-filter.ts";
import { factTypes, question } from "../text-parts.ts";
import { tokenUsage } from "../token-usage.ts";

const MAX_TOKENS = 4096; // of the answer, unless the caller says otherwise

export const reflectBody = refine(
  model({
    query: question(),
    budget: optional(enumeration(["low", "mid", "high"]), "low"),
    context: optional(str({ description: "Deprecated: put it into the query" })),
    max_tokens: optional(int({ ge: 1 }), MAX_TOKENS),
    include: optional(
      model({
        facts: optional(jsonObject({ description: "Present: answer with what the text is based on" })),
        tool_calls: optional(model({ output: optional(bool(), true) })),
      }),
    ),
    response_schema: optional(refine(jsonObject({ description: "JSON schema of an object" }), schemaProblem)),
    ...tagBody,
    apply_all_directives: optional(bool(), false),
    fact_types: optional(list(literal(factTypes), { minItems: 1 })),
    exclude_mental_models: optional(bool(), false),
    exclude_mental_model_ids: optional(list(id()), []),
  }),
  tagConflict,
);
export type ReflectBody = Output<typeof reflectBody>;

const basedOn = Type.Object({
  memories: Type.Array(
    Type.Object({
      id: Type.String(),
      text: Type.String(),
      type: Type.String(),
      context: textOrNull,
      occurred_start: instantOrNull,
      occurred_end: instantOrNull,
    }),
  ),
  mental_models: Type.Array(Type.Object({ id: Type.String(), text: Type.String(), context: Type.String() })),
  directives: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), content: Type.String() })),
  directives_applied: Type.Optional(Type.Boolean({ description: "False: the provider cannot follow rules in free text" })),
});

const trace = Type.Object({
  tool_calls: Type.Array(
    Type.Object({
      tool: Type.String(),
      input: anyObject,
      output: Type.Optional(Type.Unknown()),
      duration_ms: count,
      iteration: count,
    }),
  ),
  llm_calls: Type.Array(Type.Object({ scope: Type.String(), duration_ms: count })),
});

export const reflectAnswer = component(
  "ReflectAnswer",
  Type.Object({
    text: Type.String(),
    based_on: Type.Optional(basedOn),
    structured_output: Type.Optional(Type.Unknown()),
    usage: Type.Optional(tokenUsage),
    trace: Type.Optional(trace),
  }),
);
