import type { EventBus } from "@memory-bank/events";
import type { Logger } from "@memory-bank/telemetry";
import type { AuthStore } from "../auth-store.ts";
import { openSqliteAuthStore } from "./sqlite/auth-store.ts";

/** Where tenants and keys are kept. */
export type AuthStoreConfig = { readonly kind: "sqlite"; readonly file: string };

/** The one switch from configuration to adapter. */
export async function openAuthStore(
  config: AuthStoreConfig,
  deps: { readonly bus: EventBus; readonly log: Logger },
): Promise<AuthStore> {
  switch (config.kind) {
    case "sqlite":
      return openSqliteAuthStore({ file: config.file, ...deps });
  }
}
