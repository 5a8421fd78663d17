import { bool, int, list, oneOf, secret, string, variants } from "@memory-bank/config";
import { eventTypes } from "./domain/envelope.ts";
import type { ServerWebhook } from "./server-webhook.ts";

/** Settings of the webhook service, whichever root starts it. */
export const webhookConfig = {
  encryptionKey: secret("WEBHOOK_ENCRYPTION_KEY", {
    description: "Key of 32 bytes, in hexadecimal or base64, that urls, secrets and headers are encrypted with.",
  }),
  previousEncryptionKeys: secret("WEBHOOK_ENCRYPTION_KEY_PREVIOUS", {
    description: "Keys that were used before, separated by commas; what they encrypted is encrypted anew.",
    optional: true,
  }),
  allowedHosts: list("WEBHOOK_ALLOWED_HOSTS", {
    description: "Host names, addresses and CIDR blocks that may be called although their addresses are not public.",
    default: [],
  }),
  deliveryRetentionDays: int("WEBHOOK_DELIVERY_RETENTION_DAYS", {
    description: "Days for which deliveries that have ended are kept.",
    default: 30,
    min: 1,
    max: 3_650,
  }),
  keepsResponseBodies: bool("WEBHOOK_RESPONSE_BODIES", {
    description: "Whether deliveries show the beginning of what receivers answered.",
    default: true,
  }),
  server: {
    url: string("WEBHOOK_SERVER_URL", {
      description: "A receiver for the events of every bank.",
      optional: true,
    }),
    secret: secret("WEBHOOK_SERVER_SECRET", { description: "Its signing secret.", optional: true }),
    eventTypes: list("WEBHOOK_SERVER_EVENT_TYPES", {
      description: "The events that it wants.",
      default: [eventTypes.consolidationCompleted],
    }),
  },
};

/** Settings of the service as a process of its own. */
export const webhookProcessConfig = {
  ...webhookConfig,
  store: variants(
    oneOf("WEBHOOK_STORE_KIND", { description: "Where webhooks are kept.", values: ["sqlite"], default: "sqlite" }),
    {
      sqlite: { file: string("WEBHOOK_STORE_FILE", { description: "The SQLite file.", default: "./data/webhook.sqlite" }) },
    },
  ),
};

/** The operator's webhook, when there is one. */
export function serverWebhookOf(config: {
  readonly url: string | undefined;
  readonly secret: string | undefined;
  readonly eventTypes: readonly string[];
}): ServerWebhook | null {
  return config.url === undefined ? null : { url: config.url, secret: config.secret ?? null, eventTypes: config.eventTypes };
}
