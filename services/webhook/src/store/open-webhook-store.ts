import type { WebhookStore } from "../webhook-store.ts";
import { openSqliteWebhookStore } from "./sqlite/webhook-store.ts";

/** Which adapter keeps the webhooks. */
export type WebhookStoreConfig = { readonly kind: "sqlite"; readonly file: string };

/** Opens the store that the configuration names; the only place that knows them all. */
export function openWebhookStore(config: WebhookStoreConfig): Promise<WebhookStore & AsyncDisposable> {
  return openSqliteWebhookStore({ file: config.file });
}
