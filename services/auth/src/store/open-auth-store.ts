import type { EventBus } from "@memory-bank/events";
import type { MongodbPlace } from "@memory-bank/storage";
import type { Logger } from "@memory-bank/telemetry";
import type { AuthStore } from "../auth-store.ts";
import { openMongodbAuthStore } from "./mongodb/auth-store.ts";
import { openSqliteAuthStore } from "./sqlite/auth-store.ts";

/** Where tenants and keys are kept. */
export type AuthStoreConfig = { readonly kind: "sqlite"; readonly file: string } | ({ readonly kind: "mongodb" } & MongodbPlace);

export interface AuthStoreDeps {
  readonly bus: EventBus;
  readonly log: Logger;
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Takes what shall run whenever the bus is connected again; a bus inside the process never is. */
  readonly onBusReconnect?: (listener: () => void) => void;
}

/** The one switch from configuration to adapter. */
export async function openAuthStore(config: AuthStoreConfig, deps: AuthStoreDeps): Promise<AuthStore> {
  switch (config.kind) {
    case "sqlite":
      return openSqliteAuthStore({ file: config.file, bus: deps.bus, log: deps.log });
    case "mongodb":
      return openMongodbAuthStore({ ...config, ...deps });
  }
}
