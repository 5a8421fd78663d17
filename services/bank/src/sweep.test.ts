import { createVirtualTime } from "@memory-bank/lifecycle";
import { silentLogger } from "@memory-bank/telemetry";
import { expect, test } from "vitest";
import { AUDIT_BATCH_MAX, AUDIT_SWEEP_MAX } from "./audit-store.ts";
import { aBank, bury } from "./bank-store.conformance.ts";
import { openBankStore } from "./store/open-bank-store.ts";
import { createSweep } from "./sweep.ts";

const HOUR_MS = 3_600_000;
const DAY_US = 24 * HOUR_MS * 1_000;

async function setUp(auditRetentionDays: number) {
  const time = createVirtualTime();
  const storage = await openBankStore(
    { kind: "sqlite", file: ":memory:" },
    { nowUs: time.now, newId: () => crypto.randomUUID() },
  );
  const { timers } = time;
  const sweep = createSweep({ storage, auditRetentionDays, nowUs: time.now, log: silentLogger, timers });
  const record = (ageDays: number, count = 1) => {
    const times = { startedAtUs: time.now() - ageDays * DAY_US, endedAtUs: time.now() };
    const owner = { tenantId: "acme", bankUid: null, bankId: null };
    const one = () => ({
      id: crypto.randomUUID(),
      ...owner,
      ...times,
      action: "a",
      transport: "http",
      request: null,
      response: null,
      metadata: {},
    });
    return storage.audit.insert(Array.from({ length: count }, one));
  };
  const countEntries = async () => (await storage.audit.list({ tenantId: "acme", bankUid: null, limit: 1, offset: 0 })).total;
  return {
    ...{ time, storage, sweep, record, countEntries },
    async [Symbol.asyncDispose]() {
      await sweep.stop();
      await storage[Symbol.asyncDispose]();
    },
  };
}

test("entries past their retention go, however many, and younger ones stay", async () => {
  await using t = await setUp(30);
  for (let count = 0; count <= AUDIT_SWEEP_MAX; count += AUDIT_BATCH_MAX) await t.record(31, AUDIT_BATCH_MAX);
  await t.record(29, 2);
  await t.sweep.run();
  expect(await t.countEntries()).toBe(2);
});

test("without retention every entry stays", async () => {
  await using t = await setUp(-1);
  await t.record(10_000);
  await t.sweep.run();
  expect(await t.countEntries()).toBe(1);
});

test("it runs at the start and every hour", async () => {
  await using t = await setUp(1);
  await t.record(2);
  t.sweep.start();
  await t.time.until(async () => (await t.countEntries()) === 0);
  await t.record(0.99);
  await t.time.advance(HOUR_MS);
  expect(await t.countEntries()).toBe(0);
});

test("a purged tombstone goes after a day, with the record of its purge", async () => {
  await using t = await setUp(-1);
  const bank = await t.storage.banks.put(aBank(), (bank) => bank);
  await bury(t.storage, bank, t.time.now());
  await t.storage.banks.purge(bank.bankUid);
  await t.sweep.run();
  expect(await t.storage.banks.findTombstone(bank.tenantId, bank.bankId)).toBeDefined();
  await t.time.advance(25 * HOUR_MS);
  await t.sweep.run();
  expect(await t.storage.banks.findTombstone(bank.tenantId, bank.bankId)).toBeUndefined();
  expect((await t.storage.jobs.list({ groupKey: bank.bankUid, limit: 10, offset: 0 })).total).toBe(0);
});

test("keys of requests that ended are swept, those that are still good are not", async () => {
  await using t = await setUp(-1);
  const claim = (keyHash: string) =>
    t.storage.idempotency.begin({ tenantId: "acme", keyHash, requestHash: "r", holder: "h", nowUs: t.time.now() });
  await claim("old");
  await t.time.advance(2 * HOUR_MS);
  await claim("new");
  await t.sweep.run();
  const leftUs = t.time.now() + DAY_US;
  expect(await t.storage.idempotency.deleteEnded(leftUs)).toBe(1);
});
