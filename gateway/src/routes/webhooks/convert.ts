import type { Delivery, HttpConfig, UpdateWebhookRequest, Webhook } from "@memory-bank/proto/webhook/v1/webhook";
import { instantText, instantTextOrNull } from "../instant-text.ts";
import type { HttpConfigBody, WebhookChange } from "./schemas.ts";

export function httpConfigToProto({ method, timeout_seconds, headers, params }: HttpConfigBody): HttpConfig {
  return { method, timeoutSeconds: timeout_seconds, headers, params };
}

/** A null secret clears; every other null is an absent member by now. */
export function webhookChangeToProto(
  names: Pick<UpdateWebhookRequest, "bankId" | "webhookId">,
  { url, secret, event_types, enabled, http_config }: WebhookChange,
): UpdateWebhookRequest {
  return {
    ...names,
    url,
    secret: secret ?? undefined,
    clearSecret: secret === null,
    eventTypes: event_types && { values: event_types },
    enabled,
    httpConfig: http_config && httpConfigToProto(http_config),
  };
}

export function webhookFromProto(webhook: Webhook) {
  const { method = "POST", timeoutSeconds = 30, headers = {}, params = {} } = webhook.httpConfig ?? {};
  return {
    id: webhook.id,
    bank_id: webhook.bankId,
    url: webhook.url,
    secret: webhook.secret ?? null,
    event_types: webhook.eventTypes,
    enabled: webhook.enabled,
    http_config: { method, timeout_seconds: timeoutSeconds, headers, params },
    created_at: instantText(webhook.createdAtUs),
    updated_at: instantText(webhook.updatedAtUs),
  };
}

export function deliveryFromProto(delivery: Delivery) {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId ?? null,
    url: delivery.url,
    event_type: delivery.eventType,
    status: delivery.status,
    attempts: delivery.attempts,
    next_retry_at: instantTextOrNull(delivery.nextRetryAtUs),
    last_error: delivery.lastError ?? null,
    last_response_status: delivery.lastResponseStatus ?? null,
    last_response_body: delivery.lastResponseBody ?? null,
    last_attempt_at: instantTextOrNull(delivery.lastAttemptAtUs),
    created_at: instantText(delivery.createdAtUs),
    updated_at: instantText(delivery.updatedAtUs),
  };
}
