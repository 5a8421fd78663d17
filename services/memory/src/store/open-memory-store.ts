import { appendEvents, createOutboxRelay, type DomainEvent, type EventBus, type OutboxRelay } from "@memory-bank/events";
import { createSqliteJobStore, type JobStore } from "@memory-bank/jobs";
import { openSqlite } from "@memory-bank/storage";
import type { Logger } from "@memory-bank/telemetry";
import type { MemoryKeeping } from "../memory-keeping.ts";
import type { MemoryStore } from "../memory-store.ts";
import { createSqliteMemoryKeeping } from "./sqlite/memory-keeping.ts";
import { createSqliteMemoryStore, memoryMigrations } from "./sqlite/memory-store.ts";

export type MemoryStoreConfig = { readonly kind: "sqlite"; readonly file: string };

/** The service's own data: memories, and in the same place (so that one write covers both) its jobs and outgoing events. */
export interface MemoryStorage extends AsyncDisposable {
  readonly store: MemoryStore;
  readonly keeping: MemoryKeeping;
  readonly jobs: JobStore;
  readonly relay: OutboxRelay;
  /** Puts events into the outbox that no commit of the store carries. */
  readonly tell: (events: readonly DomainEvent[]) => Promise<void>;
}

/** The one switch from configuration to adapter. */
export async function openMemoryStore(
  config: MemoryStoreConfig,
  deps: { readonly bus: EventBus; readonly log: Logger; readonly nowUs: () => number },
): Promise<MemoryStorage> {
  switch (config.kind) {
    case "sqlite": {
      const db = openSqlite({ file: config.file, migrations: memoryMigrations });
      const relay = createOutboxRelay({ db, bus: deps.bus, log: deps.log });
      return {
        store: createSqliteMemoryStore(db),
        keeping: createSqliteMemoryKeeping(db),
        jobs: createSqliteJobStore(db, { now: deps.nowUs }),
        relay,
        tell: (events) => db.write((tx) => appendEvents(tx, events)),
        async [Symbol.asyncDispose]() {
          await relay[Symbol.asyncDispose]();
          await db[Symbol.asyncDispose]();
        },
      };
    }
  }
}
