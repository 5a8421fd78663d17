import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { dateTime, int, pathId } from "../../validation/scalars.ts";
import { instantTextOrNull } from "../instant-text.ts";
import { deliveryFromProto } from "./convert.ts";
import { webhookTag as tag, webhookParams, webhookUrl } from "./routes.ts";
import { deliveryPage, queuedCount, redelivery } from "./schemas.ts";

export interface DeliveryRouteDeps {
  readonly webhook: Pick<GatewayClients["webhook"], "listDeliveries" | "redeliverDelivery" | "redeliverFailed" | "testWebhook">;
}

const DELIVERIES_LISTED = 50; // when the caller names no limit
const DELIVERIES_LISTED_MAX = 200;

/** What was sent to one webhook, and sending it again. */
export function deliveryRoutes(app: FastifyInstance, { webhook: client }: DeliveryRouteDeps): void {
  route(app, {
    method: "GET",
    url: `${webhookUrl}/deliveries`,
    operationId: "listWebhookDeliveries",
    summary: "List deliveries, newest first",
    tag,
    params: webhookParams,
    query: {
      limit: optional(int({ ge: 1, le: DELIVERIES_LISTED_MAX }), DELIVERIES_LISTED),
      cursor: optional(dateTime({ description: "Only deliveries made before this `created_at`" })),
    },
    response: deliveryPage,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, webhook_id: webhookId }, query: { limit, cursor: beforeUs } }) => {
      const { deliveries, nextBeforeUs } = await client.listDeliveries(ctx, { bankId, webhookId, limit, beforeUs });
      return { items: deliveries.map(deliveryFromProto), next_cursor: instantTextOrNull(nextBeforeUs) };
    },
  });

  route(app, {
    method: "POST",
    url: `${webhookUrl}/deliveries/{delivery_id}/redeliver`,
    operationId: "redeliverWebhookDelivery",
    summary: "Send one event again",
    description: "Same id and body, to the webhook as it is now.",
    tag,
    params: { ...webhookParams, delivery_id: pathId() },
    response: queuedCount,
    errors: [404, 409],
    handler: async (ctx, { params: { bank_id: bankId, webhook_id: webhookId, delivery_id: deliveryId } }) => {
      const { queued } = await client.redeliverDelivery(ctx, { bankId, webhookId, deliveryId });
      return { queued };
    },
  });

  route(app, {
    method: "POST",
    url: `${webhookUrl}/redeliver`,
    operationId: "redeliverFailedWebhookDeliveries",
    summary: "Send all failed events since an instant again",
    tag,
    params: webhookParams,
    body: redelivery,
    response: queuedCount,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, webhook_id: webhookId }, body: { since: sinceUs } }) => {
      const { queued } = await client.redeliverFailed(ctx, { bankId, webhookId, sinceUs });
      return { queued };
    },
  });

  route(app, {
    method: "POST",
    url: `${webhookUrl}/test`,
    operationId: "testWebhook",
    summary: "Send a test event",
    tag,
    params: webhookParams,
    response: queuedCount,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, webhook_id: webhookId } }) => {
      const { queued } = await client.testWebhook(ctx, { bankId, webhookId });
      return { queued };
    },
  });
}
