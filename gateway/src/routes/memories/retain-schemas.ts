import { Type } from "typebox";
import { list, listOrString, map, model, optional, refine, union } from "../../validation/containers.ts";
import { parseDateTime } from "../../validation/date-time-text.ts";
import { bool, id, literal, str, uuid } from "../../validation/scalars.ts";
import { component, makeSchema, type Output, type Schema } from "../../validation/schema.ts";
import { fault, valueFault } from "../../validation/walk.ts";
import { count, texts } from "../answer-parts.ts";
import { isStorable, outOfRange } from "../instant-text.ts";
import { tokenUsage } from "../token-usage.ts";

const TAG_LENGTH_MAX = 255;

/** When an item occurred: an instant, no time at all, or `undefined` for the time of the request. */
export type RetainTime = { readonly us: number } | "timeless" | undefined;

/** An instant as text, `unset` for text without a time, or empty text for the time of the request. */
const retainTime: Schema<RetainTime> = makeSchema<RetainTime>(
  { type: "string", description: "ISO 8601, or `unset` for text that has no time; empty means now" },
  {
    read: (walk, input) => {
      if (typeof input !== "string") return fault(walk, "string_type", "Input should be a valid string", input);
      if (input === "") return undefined;
      if (input.trim().toLowerCase() === "unset") return "timeless";
      const parsed = parseDateTime(input.trim());
      if (!("us" in parsed)) return valueFault(walk, `Invalid timestamp: '${input}'`, input);
      return isStorable(parsed.us) ? parsed : valueFault(walk, outOfRange, input);
    },
  },
);

/** The branches are named as the contract's fault lists name them. */
export const observationScopes = union({
  "literal['per_tag','combined','all_combinations','shared']": literal(["per_tag", "combined", "all_combinations", "shared"]),
  "list[list[str]]": list(list(str({ maxLength: TAG_LENGTH_MAX }))),
});

const tagList = () => listOrString(str({ maxLength: TAG_LENGTH_MAX }));

const retainItem = model({
  content: refine(str(), (text) => (text.trim() === "" ? "content cannot be empty" : undefined)),
  context: optional(str(), ""),
  document_id: optional(id({ description: "Groups items into a document; an existing one is replaced" })),
  timestamp: optional(retainTime),
  metadata: optional(map(str())),
  tags: optional(tagList()),
  entities: optional(list(model({ text: str(), type: optional(str()) }))),
  resolve_entities: optional(bool({ description: "False: names match entities only by equality, ignoring case" }), true),
  observation_scopes: optional(observationScopes),
  strategy: optional(str()),
  update_mode: optional(literal(["replace", "append"]), "replace"),
});
export type RetainItemBody = Output<typeof retainItem>;

export const retainBody = model({
  items: list(retainItem),
  async: optional(bool({ description: "Queue the work and answer at once" }), false),
  operation_id: optional(uuid({ description: "Repeating an asynchronous call with the same id replays its answer" })),
  document_tags: optional(tagList()),
});
export type RetainBody = Output<typeof retainBody>;

export const retainAnswer = component(
  "RetainResult",
  Type.Object({
    success: Type.Boolean(),
    bank_id: Type.String(),
    items_count: count,
    async: Type.Boolean(),
    usage: Type.Optional(tokenUsage),
    operation_id: Type.Optional(Type.String()),
    operation_ids: Type.Optional(texts),
  }),
);
