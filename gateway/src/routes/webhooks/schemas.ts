import { Type } from "typebox";
import { isObject, list, map, model, nullable, optional } from "../../validation/containers.ts";
import { bool, dateTime, int, literal, str } from "../../validation/scalars.ts";
import { component, makeSchema, type Output, ruleOf } from "../../validation/schema.ts";
import { invalid, valueFault } from "../../validation/walk.ts";
import { count, instant, instantOrNull, orNull, textMap, textOrNull, texts } from "../answer-parts.ts";
import { LABEL_LENGTH_MAX } from "../text-parts.ts";

const URL_LENGTH_MAX = 2048;
const TIMEOUT_SECONDS_MAX = 300;

const url = () => str({ maxLength: URL_LENGTH_MAX, description: "An http or https address that is open to the public" });
const eventTypes = () => list(str({ minLength: 1, maxLength: LABEL_LENGTH_MAX }));

const httpConfigBody = model({
  method: optional(literal(["POST", "GET"]), "POST"),
  timeout_seconds: optional(int({ ge: 1, le: TIMEOUT_SECONDS_MAX }), 30),
  headers: optional(map(str()), {}),
  params: optional(map(str()), {}),
});
export type HttpConfigBody = Output<typeof httpConfigBody>;

export const newWebhook = model({
  url: url(),
  secret: optional(str({ description: "Signs every notification" })),
  event_types: optional(eventTypes(), ["consolidation.completed"]),
  enabled: optional(bool(), true),
  http_config: optional(httpConfigBody),
});

const changeable = {
  url: optional(url()),
  secret: optional(nullable(str({ description: "Null removes it" }))),
  event_types: optional(eventTypes()),
  enabled: optional(bool()),
  http_config: optional(httpConfigBody),
};
const changes = model(changeable);
export type WebhookChange = Output<typeof changes>;

/** A body must name something that can be changed; a null, which for most members changes nothing, names it, too. */
export const webhookChange = makeSchema<WebhookChange>(changes, {
  read(walk, input) {
    const change = ruleOf(changes).read(walk, input);
    if (change === invalid || !isObject(input)) return change;
    const isNamed = Object.keys(changeable).some((name) => Object.hasOwn(input, name));
    return isNamed ? change : valueFault(walk, "No fields provided to update", input);
  },
});

export const redelivery = model({ since: dateTime({ description: "Failed deliveries made since then are sent again" }) });

export const webhook = component(
  "Webhook",
  Type.Object({
    id: Type.String(),
    bank_id: Type.String(),
    url: Type.String(),
    secret: textOrNull,
    event_types: texts,
    enabled: Type.Boolean(),
    http_config: Type.Object({
      method: Type.String(),
      timeout_seconds: Type.Integer(),
      headers: textMap,
      params: textMap,
    }),
    created_at: instant,
    updated_at: instant,
  }),
);

export const webhookList = Type.Object({ items: Type.Array(webhook) });

export const deliveryPage = Type.Object({
  items: Type.Array(
    component(
      "WebhookDelivery",
      Type.Object({
        id: Type.String(),
        webhook_id: textOrNull,
        url: Type.String(),
        event_type: Type.String(),
        status: Type.String({ description: "pending, processing, completed, failed or cancelled" }),
        attempts: count,
        next_retry_at: instantOrNull,
        last_error: textOrNull,
        last_response_status: orNull(Type.Integer()),
        last_response_body: textOrNull,
        last_attempt_at: instantOrNull,
        created_at: instant,
        updated_at: instant,
      }),
    ),
  ),
  next_cursor: Type.Union([instant, Type.Null()], { description: "Pass it as `cursor` for what is older; null at the end" }),
});

export const queuedCount = Type.Object({ queued: count });
export const success = Type.Object({ success: Type.Literal(true) });
