import { createMongodbOutboxRelay, mongodbOutboxMigration } from "@memory-bank/events";
import { createMongodbJobStore, type JobStore, mongodbJobsMigration } from "@memory-bank/jobs";
import { type MongodbPlace, openMongodb } from "@memory-bank/storage";
import type { BankStorage } from "../../bank-store.ts";
import { createMongodbAuditStore } from "./audit-store.ts";
import { BANK_COLLECTION, bankMigration } from "./bank-documents.ts";
import { createMongodbBankStore, finishBurials } from "./bank-store.ts";
import { createMongodbDirectiveStore } from "./directive-store.ts";
import { createMongodbIdempotencyStore } from "./idempotency-store.ts";

export interface MongodbBankStorageOptions extends MongodbPlace {
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Called with what shall run when the bus is connected again. */
  readonly onBusReconnect?: (listener: () => void) => void;
}

export const bankMigrations = [mongodbJobsMigration, mongodbOutboxMigration, bankMigration];

/** Any number of processes share the database. */
export async function openMongodbBankStorage(options: MongodbBankStorageOptions): Promise<BankStorage> {
  const { nowUs, newId, onBusReconnect, ...place } = options;
  const database = await openMongodb({ ...place, migrations: bankMigrations });
  const plainJobs = createMongodbJobStore(database, { now: nowUs, newId });
  const jobs: JobStore = {
    ...plainJobs,
    async claim(request) {
      await database.run((db) => finishBurials(db, plainJobs));
      return await plainJobs.claim(request);
    },
  };
  return {
    banks: createMongodbBankStore(database, jobs),
    directives: createMongodbDirectiveStore(database),
    audit: createMongodbAuditStore(database),
    idempotency: createMongodbIdempotencyStore(database),
    jobs,
    createRelay({ bus, log }) {
      const relay = createMongodbOutboxRelay({ database, sources: [BANK_COLLECTION], bus, log, now: nowUs, owner: newId() });
      onBusReconnect?.(() => relay.resend());
      return relay;
    },
    ping: () => database.ping(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
