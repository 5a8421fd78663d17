import type { MongodbPlace } from "@memory-bank/storage";
import type { WebhookStore } from "../webhook-store.ts";
import { openMongodbWebhookStore } from "./mongodb/webhook-store.ts";
import { openSqliteWebhookStore } from "./sqlite/webhook-store.ts";

/** Which adapter keeps the webhooks. */
export type WebhookStoreConfig =
  | { readonly kind: "sqlite"; readonly file: string }
  | ({ readonly kind: "mongodb" } & MongodbPlace);

/** Opens the store that the configuration names; the only place that knows them all. */
export function openWebhookStore(config: WebhookStoreConfig): Promise<WebhookStore & AsyncDisposable> {
  switch (config.kind) {
    case "sqlite":
      return openSqliteWebhookStore({ file: config.file });
    case "mongodb":
      return openMongodbWebhookStore(config);
  }
}
