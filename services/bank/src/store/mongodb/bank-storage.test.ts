import { openMongodb } from "@memory-bank/storage";
import { describeWithServer } from "@memory-bank/test-servers/with-server";
import { expect, test } from "vitest";
import { describeAuditStore } from "../../audit-store.conformance.ts";
import { aBank, bury, describeBankStore } from "../../bank-store.conformance.ts";
import { describeDirectiveStore } from "../../directive-store.conformance.ts";
import { describeIdempotencyStore } from "../../idempotency-store.conformance.ts";
import { purgeJob } from "../../purge.ts";
import { banksOf } from "./bank-documents.ts";
import { bankMigrations, openMongodbBankStorage } from "./open-mongodb-bank-storage.ts";

const nowUs = () => Date.now() * 1_000;
const newId = () => crypto.randomUUID();

describeWithServer("MongoDB", (url) => {
  /** With a database of its own: sweeps go over everything that it holds. */
  async function open(database = `test-${newId()}`) {
    const storage = await openMongodbBankStorage({ url: url(), database, nowUs, newId });
    return {
      ...storage,
      database,
      async [Symbol.asyncDispose]() {
        const behind = await openMongodb({ url: url(), database, migrations: bankMigrations });
        await behind.run((db) => db.dropDatabase());
        await behind[Symbol.asyncDispose]();
        await storage[Symbol.asyncDispose]();
      },
    };
  }

  describeBankStore("MongoDB", () => open());
  describeDirectiveStore("MongoDB", () => open());
  describeAuditStore("MongoDB", () => open());
  describeIdempotencyStore("MongoDB", () => open());

  test("the jobs of a burial whose process ended are there for whoever looks for work, once", async () => {
    await using t = await open();
    const bank = await t.banks.put(aBank(), (seed) => seed);
    await bury(t, bank);
    const { dedupeKey: _, ...late } = purgeJob(bank, { id: newId(), nowUs: 1 });
    const behind = await openMongodb({ url: url(), database: t.database, migrations: bankMigrations });
    for (let time = 0; time < 2; time += 1) {
      await behind.run((db) => banksOf(db).updateOne({ _id: bank.bankUid }, { $set: { pendingJobs: [JSON.stringify(late)] } }));
      await t.jobs.claim({ kinds: ["none"], limit: 1, owner: "o", leaseMs: 1, nowUs: 1 });
    }
    expect(await t.jobs.countByStatus(bank.bankUid)).toMatchObject({ pending: 2 });
    expect(await behind.run((db) => banksOf(db).countDocuments({ pendingJobs: { $exists: true } }))).toBe(0);
    await behind[Symbol.asyncDispose]();
  });

  test("two processes that put the same bank at once make one", async () => {
    await using one = await open();
    await using two = await openMongodbBankStorage({ url: url(), database: one.database, nowUs, newId });
    const { tenantId, bankId } = aBank();
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 ? one : two).banks.put(aBank({ tenantId, bankId }), (seed) => seed)),
    );
    expect(new Set(made.map(({ bankUid }) => bankUid)).size).toBe(1);
  });
});
