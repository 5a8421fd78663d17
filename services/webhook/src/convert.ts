import type {
  Delivery as DeliveryMessage,
  HttpConfig as HttpConfigMessage,
  Webhook as WebhookMessage,
} from "@memory-bank/proto/webhook/v1/webhook";
import type { Delivery } from "./domain/delivery.ts";
import { defaultHttpConfig } from "./domain/http-config.ts";
import { type HttpConfig, SERVER_WEBHOOK_ID, type Target, type Webhook } from "./domain/webhook.ts";

export function webhookToProto(webhook: Webhook, target: Target): WebhookMessage {
  const { url, secret, httpConfig } = target;
  return {
    id: webhook.id,
    bankId: webhook.bankId,
    url,
    ...(secret === null ? {} : { secret }),
    eventTypes: [...webhook.eventTypes],
    enabled: webhook.isEnabled,
    httpConfig: { ...httpConfig, headers: { ...httpConfig.headers }, params: { ...httpConfig.params } },
    createdAtUs: webhook.createdAtUs,
    updatedAtUs: webhook.updatedAtUs,
  };
}

/** Members that a caller left at the empty values of the wire get their defaults. */
export function httpConfigFromProto(message: HttpConfigMessage): HttpConfig {
  return {
    method: (message.method || defaultHttpConfig.method) as HttpConfig["method"], // other words are refused by the domain
    timeoutSeconds: message.timeoutSeconds || defaultHttpConfig.timeoutSeconds,
    headers: { ...message.headers },
    params: { ...message.params },
  };
}

export function deliveryToProto(delivery: Delivery, url: string): DeliveryMessage {
  return {
    id: delivery.id,
    ...(delivery.webhookId === SERVER_WEBHOOK_ID ? {} : { webhookId: delivery.webhookId }),
    url,
    eventType: delivery.eventType,
    status: delivery.status,
    attempts: delivery.attempts,
    ...given("nextRetryAtUs", delivery.nextRetryAtUs),
    ...given("lastError", delivery.lastError),
    ...given("lastResponseStatus", delivery.lastResponseStatus),
    ...given("lastResponseBody", delivery.lastResponseBody),
    ...given("lastAttemptAtUs", delivery.lastAttemptAtUs),
    createdAtUs: delivery.createdAtUs,
    updatedAtUs: delivery.updatedAtUs,
  };
}

/** The member unless it is `null`: messages leave out what has no value. */
function given<K extends string, T>(name: K, value: T | null): { readonly [P in K]?: T } {
  return (value === null ? {} : { [name]: value }) as { readonly [P in K]?: T };
}
