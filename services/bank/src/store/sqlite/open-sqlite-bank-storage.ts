import { createOutboxRelay, outboxMigration } from "@memory-bank/events";
import { createSqliteJobStore, jobsMigration } from "@memory-bank/jobs";
import { migrationsFrom, openSqlite } from "@memory-bank/storage";
import type { BankStorage } from "../../bank-store.ts";
import { createSqliteAuditStore } from "./audit-store.ts";
import { createSqliteBankStore } from "./bank-store.ts";
import { createSqliteDirectiveStore } from "./directive-store.ts";
import { createSqliteIdempotencyStore } from "./idempotency-store.ts";

/** Opens and migrates the file (`:memory:` for tests). The process is taken to be alone with it, so jobs that ran are due again. */
export async function openSqliteBankStorage(deps: { readonly file: string; readonly nowUs: () => number }): Promise<BankStorage> {
  const migrations = [jobsMigration, outboxMigration, ...migrationsFrom(new URL("./migrations/", import.meta.url))];
  const db = openSqlite({ file: deps.file, migrations });
  const jobs = createSqliteJobStore(db, { now: deps.nowUs });
  await jobs.reclaimAll();
  return {
    banks: createSqliteBankStore(db),
    directives: createSqliteDirectiveStore(db),
    audit: createSqliteAuditStore(db),
    idempotency: createSqliteIdempotencyStore(db),
    jobs,
    createRelay: ({ bus, log }) => createOutboxRelay({ db, bus, log }),
    ping: async () => db.ping(),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
