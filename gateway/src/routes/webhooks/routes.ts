import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { pathId } from "../../validation/scalars.ts";
import { bankParams, bankUrl } from "../request-parts.ts";
import { httpConfigToProto, webhookChangeToProto, webhookFromProto } from "./convert.ts";
import { newWebhook, success, webhook, webhookChange, webhookList } from "./schemas.ts";

export interface WebhookRouteDeps {
  readonly webhook: Pick<GatewayClients["webhook"], "createWebhook" | "listWebhooks" | "updateWebhook" | "deleteWebhook">;
}

export const webhookTag = "webhooks";
export const webhooksUrl = `${bankUrl}/webhooks` as const;
export const webhookUrl = `${webhooksUrl}/{webhook_id}` as const;
export const webhookParams = { ...bankParams, webhook_id: pathId() };

export function webhookRoutes(app: FastifyInstance, { webhook: client }: WebhookRouteDeps): void {
  route(app, {
    method: "POST",
    url: webhooksUrl,
    operationId: "createWebhook",
    summary: "Register a receiver of events",
    tag: webhookTag,
    params: bankParams,
    body: newWebhook,
    status: 201,
    response: webhook,
    errors: [400],
    handler: async (ctx, { params, body: { url, secret, event_types: eventTypes, enabled, http_config } }) => {
      const httpConfig = http_config && httpConfigToProto(http_config);
      const request = { bankId: params.bank_id, url, secret, eventTypes, enabled, httpConfig };
      return webhookFromProto(await client.createWebhook(ctx, request));
    },
  });

  route(app, {
    method: "GET",
    url: webhooksUrl,
    operationId: "listWebhooks",
    summary: "List all webhooks, oldest first",
    tag: webhookTag,
    params: bankParams,
    response: webhookList,
    handler: async (ctx, { params }) => {
      const { webhooks } = await client.listWebhooks(ctx, { bankId: params.bank_id });
      return { items: webhooks.map(webhookFromProto) };
    },
  });

  route(app, {
    method: "PATCH",
    url: webhookUrl,
    operationId: "updateWebhook",
    summary: "Change the given members of a webhook",
    description: "A null secret removes the secret. After a change of it the old one signs beside the new one for a day.",
    tag: webhookTag,
    params: webhookParams,
    body: webhookChange,
    response: webhook,
    errors: [400, 404],
    handler: async (ctx, { params: { bank_id: bankId, webhook_id: webhookId }, body }) =>
      webhookFromProto(await client.updateWebhook(ctx, webhookChangeToProto({ bankId, webhookId }, body))),
  });

  route(app, {
    method: "DELETE",
    url: webhookUrl,
    operationId: "deleteWebhook",
    summary: "Delete a webhook with its deliveries",
    tag: webhookTag,
    params: webhookParams,
    response: success,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, webhook_id: webhookId } }) => {
      await client.deleteWebhook(ctx, { bankId, webhookId });
      return { success: true as const };
    },
  });
}
