import { bool, busFields, int, list, mongodbFields, oneOf, secret, string } from "@memory-bank/config";
import { AppError } from "@memory-bank/errors";
import { eventTypes } from "./domain/envelope.ts";
import { createTargetVault, parseVaultKey, type TargetVault } from "./domain/target-vault.ts";
import type { ServerWebhook } from "./server-webhook.ts";

const keyDescription = "Key of 32 bytes, in hexadecimal or base64, that urls, secrets and headers are encrypted with";

/** Settings of the webhook service, for a root that can make an encryption key of its own when it is given none. */
export const webhookConfig = {
  encryptionKey: secret("WEBHOOK_ENCRYPTION_KEY", { description: keyDescription, optional: true }),
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

/** Settings of the process that runs this service alone. Its replicas share a database, so they must be given one key. */
export const webhookProcessConfig = {
  webhook: { ...webhookConfig, encryptionKey: secret("WEBHOOK_ENCRYPTION_KEY", { description: keyDescription }) },
  bus: busFields,
  mongodb: mongodbFields,
  dataDir: string("DATA_DIR", { description: "Folder of the database file", default: "./data" }),
  logLevel: oneOf("LOG_LEVEL", {
    description: "Least important lines that are written",
    values: ["debug", "info", "warn", "error"],
    default: "info",
  }),
  rpc: {
    host: string("RPC_LISTEN_HOST", { description: "Address to serve gRPC on", default: "127.0.0.1" }),
    port: int("RPC_LISTEN_PORT", { description: "Port to serve gRPC on", default: 50_056, min: 0, max: 65_535 }),
    serviceToken: secret("RPC_SERVICE_TOKEN", { description: "Proves members of the mesh to each other", optional: true }),
  },
  peers: {
    auth: string("AUTH_RPC_ADDRESS", { description: "host:port of auth", default: "127.0.0.1:50052", pattern: ".+:[0-9]+" }),
    bank: string("BANK_RPC_ADDRESS", { description: "host:port of bank", default: "127.0.0.1:50053", pattern: ".+:[0-9]+" }),
  },
};

/** The vault with the configured keys. Throws `invalid_argument` that names the setting which is no key. */
export function vaultFromConfig(keys: {
  readonly encryptionKey: string;
  readonly previousEncryptionKeys: string | undefined;
}): TargetVault {
  const previous = keys.previousEncryptionKeys?.split(",") ?? [];
  return createTargetVault({
    current: keyNamed("WEBHOOK_ENCRYPTION_KEY", keys.encryptionKey),
    previous: previous.map((text) => keyNamed("WEBHOOK_ENCRYPTION_KEY_PREVIOUS", text)),
  });
}

function keyNamed(name: string, text: string): Uint8Array {
  try {
    return parseVaultKey(text.trim());
  } catch (error) {
    throw new AppError("invalid_argument", "INVALID_CONFIG", `Configuration: ${name} ${(error as Error).message}`);
  }
}

/** The operator's webhook, when there is one. */
export function serverWebhookOf(config: {
  readonly url: string | undefined;
  readonly secret: string | undefined;
  readonly eventTypes: readonly string[];
}): ServerWebhook | null {
  return config.url === undefined ? null : { url: config.url, secret: config.secret ?? null, eventTypes: config.eventTypes };
}
