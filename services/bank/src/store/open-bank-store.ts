import type { MongodbPlace } from "@memory-bank/storage";
import type { BankStorage } from "../bank-store.ts";
import { openMongodbBankStorage } from "./mongodb/open-mongodb-bank-storage.ts";
import { openSqliteBankStorage } from "./sqlite/open-sqlite-bank-storage.ts";

/** Where the bank service keeps its records. */
export type BankStoreConfig = { readonly kind: "sqlite"; readonly file: string } | ({ readonly kind: "mongodb" } & MongodbPlace);

export interface BankStoreDeps {
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Takes what shall run whenever the bus is connected again; a bus inside the process never is. */
  readonly onBusReconnect?: (listener: () => void) => void;
}

/** The one switch from configuration to adapter. */
export function openBankStore(config: BankStoreConfig, deps: BankStoreDeps): Promise<BankStorage> {
  switch (config.kind) {
    case "sqlite":
      return openSqliteBankStorage({ file: config.file, nowUs: deps.nowUs });
    case "mongodb":
      return openMongodbBankStorage({ ...config, ...deps });
  }
}
