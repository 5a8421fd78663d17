import { Type } from "typebox";
import { model, optional } from "../../validation/containers.ts";
import { id, int, literal } from "../../validation/scalars.ts";
import { component } from "../../validation/schema.ts";
import { anyObject, instant, instantOrNull, orNull, pageOf, textOrNull, texts } from "../answer-parts.ts";
import { LABEL_LENGTH_MAX, nonBlank, tagList } from "../text-parts.ts";
import { trigger, triggerBody } from "./trigger.ts";

const MAX_TOKENS = 2048; // unless the caller says otherwise

const name = () => nonBlank("name", { maxLength: LABEL_LENGTH_MAX });
const sourceQuery = () => nonBlank("source_query");
const maxTokens = () => int({ ge: 256, le: 8192 });

export const newMentalModel = model({
  name: name(),
  source_query: sourceQuery(),
  id: optional(id({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]*$", description: "Generated when absent" })),
  max_tokens: optional(maxTokens(), MAX_TOKENS),
  tags: optional(tagList(), []),
  trigger: optional(triggerBody),
});

export const mentalModelChange = model({
  name: optional(name()),
  source_query: optional(sourceQuery()),
  max_tokens: optional(maxTokens()),
  tags: optional(tagList()),
  trigger: optional(triggerBody),
});

const details = ["metadata", "content", "full"] as const;
export type Detail = (typeof details)[number];
export const detailQuery = {
  detail: optional(
    literal(details, { description: "metadata leaves out content and reflect_response, content leaves out the latter" }),
    "full",
  ),
};

export const mentalModel = component(
  "MentalModel",
  Type.Object({
    id: Type.String(),
    bank_id: Type.String(),
    name: Type.String(),
    source_query: Type.String(),
    content: textOrNull,
    tags: texts,
    max_tokens: Type.Integer(),
    trigger,
    last_refreshed_at: instantOrNull,
    last_memory_seen_at: instantOrNull,
    created_at: instant,
    reflect_response: orNull(anyObject),
    is_stale: Type.Boolean(),
  }),
);

export const mentalModelPage = pageOf(mentalModel);

export const createdMentalModel = Type.Object({ mental_model_id: Type.String(), operation_id: Type.String() });

export const queuedRefresh = Type.Object({ operation_id: Type.String(), status: Type.Literal("queued") });

export const mentalModelHistory = Type.Array(
  Type.Object({
    previous_content: Type.String(),
    previous_reflect_response: orNull(Type.Object({ based_on: Type.Unknown(), trace: Type.Unknown() })),
    changed_at: instant,
  }),
);
