import { createSqliteJobStore, type JobStore } from "@memory-bank/jobs";
import { openSqlite } from "@memory-bank/storage";
import type { ReflectStore } from "../reflect-store.ts";
import { createSqliteReflectStore, reflectMigrations } from "./sqlite/reflect-store.ts";

export type ReflectStoreConfig = { readonly kind: "sqlite"; readonly file: string };

/** The service's own data: mental models, and in the same place, so that one write covers both, the jobs that refresh them. */
export interface ReflectStorage extends AsyncDisposable {
  readonly store: ReflectStore;
  readonly jobs: JobStore;
}

/** The one switch from configuration to adapter. */
export async function openReflectStore(
  config: ReflectStoreConfig,
  { nowUs }: { readonly nowUs: () => number },
): Promise<ReflectStorage> {
  switch (config.kind) {
    case "sqlite": {
      const db = openSqlite({ file: config.file, migrations: reflectMigrations });
      return {
        store: createSqliteReflectStore(db, { nowUs }),
        jobs: createSqliteJobStore(db, { now: nowUs }),
        [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
      };
    }
  }
}
