import { Type } from "typebox";
import { optional } from "../../validation/containers.ts";
import { dateTime, str } from "../../validation/scalars.ts";
import { component } from "../../validation/schema.ts";
import { anyObject, count, counts, instant, orNull, textOrNull } from "../answer-parts.ts";
import { boundedPage } from "../request-parts.ts";

const ENTRIES_LISTED = 50; // when the caller names no limit
const ENTRIES_LISTED_MAX = 500;

export const auditQuery = {
  action: optional(str()),
  transport: optional(str({ description: "http, mcp or system" })),
  start_date: optional(dateTime({ description: "Inclusive, on the start of the call" })),
  end_date: optional(dateTime({ description: "Exclusive, on the start of the call" })),
  ...boundedPage(ENTRIES_LISTED, ENTRIES_LISTED_MAX),
};

const auditEntry = component(
  "AuditEntry",
  Type.Object({
    id: Type.String(),
    action: Type.String(),
    transport: Type.String(),
    bank_id: textOrNull,
    started_at: instant,
    ended_at: instant,
    duration_ms: count,
    request: orNull(anyObject),
    response: Type.Unknown({ description: "The answer; null for a call that failed" }),
    metadata: anyObject,
  }),
);

export const auditPage = Type.Object({
  bank_id: textOrNull,
  total: count,
  limit: count,
  offset: count,
  items: Type.Array(auditEntry),
});

export const auditStats = Type.Object({
  bank_id: Type.String(),
  period: Type.String(),
  trunc: Type.Union([Type.Literal("hour"), Type.Literal("day")]),
  start: instant,
  buckets: Type.Array(Type.Object({ time: instant, actions: counts, total: count })),
});
