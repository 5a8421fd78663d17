import type { BankStorage } from "../bank-store.ts";
import { openSqliteBankStorage } from "./sqlite/open-sqlite-bank-storage.ts";

/** Where the bank service keeps its records. */
export type BankStoreConfig = { readonly kind: "sqlite"; readonly file: string };

/** The one switch from configuration to adapter. */
export function openBankStore(config: BankStoreConfig, deps: { readonly nowUs: () => number }): Promise<BankStorage> {
  return openSqliteBankStorage({ file: config.file, ...deps });
}
