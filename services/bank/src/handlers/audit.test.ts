import type { AuditEntry, ListAuditEntriesRequest } from "@memory-bank/proto/bank/v1/bank";
import { expect, test } from "vitest";
import { auditRecorded } from "../events.ts";
import { openTestService, type TestService, write } from "../test-service.ts";

const DAY_US = 86_400_000_000;

const anEntry = (t: TestService, parts: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ id: crypto.randomUUID(), action: "retain", transport: "http", bankId: "b", tenantId: "acme" },
  ...{ startedAtUs: t.time.now() - 12_000, endedAtUs: t.time.now() },
  ...{ request: { items: 1 }, response: { ok: true }, metadata: { status_code: 200 } },
  ...parts,
});
const record = (t: TestService, ...entries: AuditEntry[]) => t.internal.recordAudit(t.asMesh(), { entries });
const listed = (t: TestService, parts: Partial<ListAuditEntriesRequest> = {}) =>
  t.bank.listAuditEntries(t.as(), { bankId: "b", limit: 0, offset: 0, ...parts });

test("a recorded entry is listed as it was recorded, and once", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b"));
  const [entry, failed] = [
    anEntry(t),
    anEntry(t, { response: undefined, request: undefined, startedAtUs: t.time.now() - 99_000 }),
  ];
  await record(t, entry, failed);
  await record(t, entry);
  expect(await listed(t)).toEqual({ entries: [entry, JSON.parse(JSON.stringify(failed))], total: 2 });
});

test("filters, pages and true totals", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b"));
  const at = (seconds: number, action: string, transport = "http") =>
    anEntry(t, { action, transport, startedAtUs: t.time.now() - seconds * 1_000_000 });
  await record(t, at(4, "retain"), at(3, "recall"), at(2, "retain", "system"), at(1, "reflect"));
  const actions = async (parts: Partial<ListAuditEntriesRequest>) => {
    const { entries, total } = await listed(t, parts);
    return [entries.map(({ action }) => action), total];
  };
  expect(await actions({})).toEqual([["reflect", "retain", "recall", "retain"], 4]);
  expect(await actions({ limit: 2, offset: 1 })).toEqual([["retain", "recall"], 4]);
  expect(await actions({ action: "retain", transport: "http" })).toEqual([["retain"], 1]);
  expect(await actions({ transport: "mcp" })).toEqual([[], 0]);
  const [startUs, endUs] = [t.time.now() - 3_000_000, t.time.now() - 1_000_000];
  expect(await actions({ startUs, endUs })).toEqual([["retain", "recall"], 2]);
});

test("an unknown bank is not found", async () => {
  await using t = await openTestService();
  const fault = { code: "not_found", message: "Bank 'b' not found" };
  await expect(listed(t)).rejects.toMatchObject(fault);
  await expect(t.bank.getAuditStats(t.as(), { bankId: "b", period: "1d" })).rejects.toMatchObject(fault);
});

test("nothing is kept while audit_log_enabled resolves false, for bank or tenant", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b", { overrides: {} }));
  await t.bank.patchBankConfig(t.as(), { bankId: "b", updates: { audit_log_enabled: false } });
  await record(t, anEntry(t));
  expect((await listed(t)).total).toBe(0);
  await t.internal.setTenantConfig(t.asMesh(), { tenantId: "acme", config: { audit_log_enabled: false } });
  await t.bank.patchBankConfig(t.as(), { bankId: "b", updates: { audit_log_enabled: true } });
  await record(t, anEntry(t), anEntry(t, { bankId: undefined, action: "create_api_key" }));
  expect((await listed(t)).total).toBe(1);
  expect((await listed(t, { bankId: undefined })).total).toBe(0);
});

test("entries without a bank are the tenant's, for owners and admins of every bank", async () => {
  await using t = await openTestService();
  await record(t, anEntry(t, { bankId: undefined, action: "create_api_key" }));
  const request = { limit: 0, offset: 0 };
  for (const role of ["owner", "admin"] as const) {
    expect(await t.bank.listAuditEntries(t.as({ role }), request)).toMatchObject({
      entries: [{ action: "create_api_key" }],
      total: 1,
    });
  }
  expect((await t.bank.listAuditEntries(t.as({ tenantId: "other" }), request)).total).toBe(0);
  for (const principal of [{ role: "member" }, { role: "owner", allowedBankIds: ["b"] }] as const) {
    await expect(t.bank.listAuditEntries(t.as(principal), request)).rejects.toMatchObject({ code: "permission_denied" });
  }
});

test("entries die with their bank, the deletion's own stays with the tenant, and a successor starts empty", async () => {
  await using t = await openTestService();
  await t.service.start();
  const { bankUid } = await t.bank.putBank(t.as(), write("b"));
  await record(t, anEntry(t));
  await t.time.advance(1_000);
  const late = anEntry(t);
  await t.time.advance(1_000);
  await t.bank.deleteBank(t.as(), { bankId: "b" });
  const deletion = anEntry(t, { action: "delete_bank" });
  await record(t, deletion, late);
  await t.time.advance(1_000);
  const creation = anEntry(t, { action: "create_bank" });
  await t.bank.putBank(t.as(), write("b"));
  await record(t, creation, late);
  await t.time.until(async () => (await t.storage.jobs.countByStatus(bankUid)).completed === 1);
  expect(await listed(t)).toMatchObject({ entries: [{ id: creation.id }], total: 1 });
  expect(await listed(t, { bankId: undefined })).toEqual({ entries: [deletion], total: 1 });
});

test("the deletion of a bank that was not audited is not audited either", async () => {
  await using t = await openTestService();
  await t.service.start();
  const { bankUid } = await t.bank.putBank(t.as(), write("b", { overrides: { audit_log_enabled: false } }));
  await t.bank.deleteBank(t.as(), { bankId: "b" });
  await t.time.until(async () => (await t.storage.jobs.countByStatus(bankUid)).completed === 1);
  await record(t, anEntry(t, { action: "delete_bank" }));
  expect((await listed(t, { bankId: undefined })).total).toBe(0);
});

test("entries that come over the bus are kept like those of a call", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b"));
  await t.service.start();
  const { request, response, metadata, ...members } = anEntry(t);
  const payload = {
    entries: [{ ...members, bankId: "b", request: request ?? null, response: response ?? null, metadata: metadata ?? {} }],
  };
  const event = auditRecorded.create({ id: crypto.randomUUID(), occurredAtUs: t.time.now(), payload });
  void t.bus.publish([event]);
  await t.time.until(async () => (await listed(t)).total === 1);
  expect((await listed(t)).entries).toEqual([{ ...members, request, response, metadata }]);
});

test("entries without id or tenant are refused; the caller's tenant counts when none is named", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b"));
  await expect(record(t, anEntry(t, { id: "" }))).rejects.toMatchObject({ code: "invalid_argument" });
  await expect(record(t, anEntry(t, { tenantId: "" }))).rejects.toMatchObject({ code: "invalid_argument" });
  const many = Array.from({ length: 501 }, () => anEntry(t));
  await expect(record(t, ...many)).rejects.toMatchObject({ code: "invalid_argument" });
  await t.internal.recordAudit(t.as(), { entries: [anEntry(t, { tenantId: "" })] });
  expect((await listed(t)).entries).toMatchObject([{ tenantId: "acme" }]);
});

test("stats have every bucket of the period", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b"));
  const at = (days: number, action: string) => anEntry(t, { action, startedAtUs: t.time.now() - days * DAY_US });
  await record(t, at(0, "retain"), at(0, "recall"), at(2, "retain"), at(20, "retain"));
  const stats = async (period: string, action?: string) => t.bank.getAuditStats(t.as(), { bankId: "b", period, action });
  const week = await stats("7d");
  expect(week).toMatchObject({ period: "7d", trunc: "day" });
  expect(week.startUs).toBe(week.buckets[0]?.timeUs);
  expect(week.buckets.map(({ total }) => total)).toEqual([0, 0, 0, 0, 1, 0, 2]);
  expect(week.buckets.at(-1)?.actions).toEqual({ retain: 1, recall: 1 });
  expect((await stats("30d", "retain")).buckets.reduce((sum, { total }) => sum + total, 0)).toBe(3);
  expect((await stats("1d")).buckets).toHaveLength(24);
  await expect(stats("2d")).rejects.toMatchObject({ code: "invalid_argument" });
});
