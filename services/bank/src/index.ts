export type { BankStorage } from "./bank-store.ts";
export { bankConfig, readConfigFile } from "./config.ts";
export type { BankOwners } from "./deps.ts";
export type { ReadOnlyValues } from "./domain/bank-config.ts";
export type { ConfigFile } from "./domain/config-file.ts";
export { type BankServiceDeps, createBankService } from "./service.ts";
export { type BankStoreConfig, openBankStore } from "./store/open-bank-store.ts";
export { requeuePurges } from "./store/sqlite/requeue-purges.ts";
