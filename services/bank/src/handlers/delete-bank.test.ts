import type { DomainEvent } from "@memory-bank/events";
import { expect, test } from "vitest";
import { bankDeleted } from "../events.ts";
import { openTestService, type TestService, write } from "../test-service.ts";

const aDirective = { bankId: "b", name: "n", content: "c", priority: 0, isActive: true, tags: [] };

/** A bank with something in every place. */
async function fullBank(t: TestService): Promise<string> {
  const { bankUid } = await t.bank.putBank(t.as(), write("b", { name: "B", mission: "Help." }));
  await t.bank.createDirective(t.as(), aDirective);
  for (const owner of Object.values(t.owners)) owner.held.set(bankUid, 3);
  t.owners.memory.held.set(bankUid, 40);
  return bankUid;
}

const isPurged = (t: TestService, bankUid: string) => async () =>
  (await t.storage.jobs.countByStatus(bankUid)).completed === 1 &&
  Object.values(t.owners).every(({ held }) => held.get(bankUid) === 0);

test("a deleted bank is gone at once, fenced everywhere, and purged everywhere in time", async () => {
  await using t = await openTestService();
  await t.service.start();
  const bankUid = await fullBank(t);
  expect(await t.bank.deleteBank(t.as(), { bankId: "b" })).toEqual({ existed: true, deletedCount: 40 });
  for (const { fenced } of Object.values(t.owners)) expect(fenced.has(bankUid)).toBe(true);
  await expect(t.bank.getBank(t.as(), { bankId: "b" })).rejects.toMatchObject({ code: "not_found" });
  expect(await t.bank.deleteBank(t.as(), { bankId: "b" })).toEqual({ existed: false, deletedCount: 0 });
  await t.time.until(isPurged(t, bankUid));
  expect((await t.storage.banks.findTombstone("acme", "b"))?.bank).toMatchObject({ bankUid, name: "b", overrides: {} });
});

test("made again it is another bank, empty, and the purge of the old one leaves it alone", async () => {
  await using t = await openTestService();
  await t.service.start();
  const deadUid = await fullBank(t);
  await t.bank.deleteBank(t.as(), { bankId: "b" });
  const next = await t.bank.putBank(t.as(), write("b"));
  expect(next).toMatchObject({ name: "b", mission: "" });
  expect(next.bankUid).not.toBe(deadUid);
  const { id: directiveId } = await t.bank.createDirective(t.as(), aDirective);
  t.owners.memory.held.set(next.bankUid, 7);
  await t.time.until(isPurged(t, deadUid));
  expect(await t.bank.getBank(t.as(), { bankId: "b" })).toEqual(next);
  const listed = await t.bank.listDirectives(t.as(), { bankId: "b", tags: undefined, activeOnly: true, limit: 0, offset: 0 });
  expect(listed).toMatchObject({ directives: [{ id: directiveId }], total: 1 });
  expect(t.owners.memory.held.get(next.bankUid)).toBe(7);
  expect(
    await t.internal.resolveBank(t.asMesh(), { tenantId: "acme", bankId: "", bankUid: deadUid, create: false }),
  ).not.toHaveProperty("bank");
});

test("a fence that fails is told to the caller; the purge fences again until it holds", async () => {
  await using t = await openTestService();
  await t.service.start();
  const bankUid = await fullBank(t);
  t.owners.reflect.failures.fence = 3;
  await expect(t.bank.deleteBank(t.as(), { bankId: "b" })).rejects.toMatchObject({ code: "unavailable", retryAfterMs: 30_000 });
  await expect(t.bank.getBank(t.as(), { bankId: "b" })).rejects.toMatchObject({ code: "not_found" });
  await t.time.until(isPurged(t, bankUid));
  expect(t.owners.reflect.fenced.has(bankUid)).toBe(true);
});

test("a purge goes on until every owner has confirmed, however often one fails, and keeps the bank's own rows until then", async () => {
  await using t = await openTestService();
  await t.service.start();
  const bankUid = await fullBank(t);
  t.owners.webhook.failures.purge = 12;
  await t.bank.deleteBank(t.as(), { bankId: "b" });
  await t.time.until(() => t.owners.webhook.failures.purge === 6);
  expect(await t.storage.jobs.countByStatus(bankUid)).toMatchObject({ completed: 0, failed: 0 });
  expect((await t.storage.banks.findTombstone("acme", "b"))?.bank.name).toBe("B");
  expect([t.owners.memory.held.get(bankUid), t.owners.reflect.held.get(bankUid)]).toEqual([0, 0]);
  await t.time.until(isPurged(t, bankUid), 3_600_000);
  expect((await t.storage.banks.findTombstone("acme", "b"))?.bank.name).toBe("b");
});

test("the deletion is announced once", async () => {
  await using t = await openTestService();
  const seen: DomainEvent[] = [];
  await t.bus.subscribe({ subject: bankDeleted.subject, durable: "test", handler: async (event) => void seen.push(event) });
  await t.service.start();
  const bankUid = await fullBank(t);
  await t.bank.deleteBank(t.as(), { bankId: "b" });
  await t.bank.deleteBank(t.as(), { bankId: "b" });
  await t.time.until(() => seen.length > 0);
  await t.time.advance(5_000);
  expect(seen.map((event) => bankDeleted.payloadOf(event))).toEqual([{ tenantId: "acme", bankUid, bankId: "b" }]);
});

test("the count is that of the call's own fence, however slow it is: the purge waits for it", async () => {
  await using t = await openTestService();
  await t.service.start();
  const bankUid = await fullBank(t);
  const { memory } = t.owners;
  const gate = Promise.withResolvers<void>();
  const fence = memory.fence;
  memory.fence = async (...call) => {
    memory.fence = fence;
    await gate.promise;
    return fence(...call);
  };
  const deletion = t.bank.deleteBank(t.as(), { bankId: "b" });
  await t.time.advance(5_000);
  expect(memory.fenced.has(bankUid)).toBe(false);
  gate.resolve();
  expect(await deletion).toEqual({ existed: true, deletedCount: 40 });
  await t.time.until(isPurged(t, bankUid));
});

test("a process that dies between tombstone and fence leaves a purge that does both", async () => {
  await using t = await openTestService();
  const bankUid = await fullBank(t);
  t.owners.memory.fence = () => new Promise(() => {});
  void t.bank.deleteBank(t.as(), { bankId: "b" }).catch(() => {});
  await t.time.advance(1);
  t.owners.memory.fence = async (_ctx, request) => {
    t.owners.memory.fenced.add(request.bankUid);
    return { hiddenCount: 0 };
  };
  await t.service.start();
  await t.time.until(isPurged(t, bankUid));
});
