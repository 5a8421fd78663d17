import type { ResolveBankRequest } from "@memory-bank/proto/bank/v1/bank";
import { expect, test } from "vitest";
import { openTestService, write } from "../test-service.ts";

const resolve = (parts: Partial<ResolveBankRequest>): ResolveBankRequest => ({
  ...{ tenantId: "", bankId: "", bankUid: "", create: false },
  ...parts,
});

test("finds a bank by the caller's tenant and id, or by uid, with its resolved configuration", async () => {
  await using t = await openTestService();
  const bank = await t.bank.putBank(t.as(), write("b", { mission: "Help.", overrides: { retain_chunk_size: 500 } }));
  const { config } = await t.bank.getBankConfig(t.as(), { bankId: "b" });
  const answer = { bank, tenantId: "acme", config };
  expect(await t.internal.resolveBank(t.as(), resolve({ bankId: "b" }))).toEqual(answer);
  expect(await t.internal.resolveBank(t.asMesh(), resolve({ tenantId: "acme", bankId: "b" }))).toEqual(answer);
  expect(await t.internal.resolveBank(t.asMesh(), resolve({ bankUid: bank.bankUid }))).toEqual(answer);
});

test("an absent bank is absent, with the tenant's defaults, and made only when asked for", async () => {
  await using t = await openTestService();
  await t.internal.setTenantConfig(t.asMesh(), { tenantId: "acme", config: { retain_chunk_size: 700 } });
  const absent = await t.internal.resolveBank(t.as(), resolve({ bankId: "b" }));
  expect(absent).toMatchObject({ tenantId: "acme", config: { retain_chunk_size: 700, retain_mission: null } });
  expect(absent.bank).toBeUndefined();
  const made = await t.internal.resolveBank(t.as(), resolve({ bankId: "b", create: true }));
  expect(made.bank).toMatchObject({ bankId: "b", name: "b" });
  await t.time.advance(1_000);
  expect(await t.internal.resolveBank(t.as(), resolve({ bankId: "b", create: true }))).toEqual(made);
});

test("of many that ask at once all get the same incarnation", async () => {
  await using t = await openTestService();
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => t.internal.resolveBank(t.as(), resolve({ bankId: "b", create: true }))),
  );
  expect(new Set(answers.map(({ bank }) => bank?.bankUid)).size).toBe(1);
});

test("a uid that is unknown, dead or of another tenant resolves to no bank", async () => {
  await using t = await openTestService();
  const { bankUid } = await t.bank.putBank(t.as(), write("b"));
  const bankOf = async (request: ResolveBankRequest) => (await t.internal.resolveBank(t.asMesh(), request)).bank;
  expect(await bankOf(resolve({ bankUid: crypto.randomUUID() }))).toBeUndefined();
  expect(await bankOf(resolve({ bankUid, tenantId: "other" }))).toBeUndefined();
  await t.bank.deleteBank(t.as(), { bankId: "b" });
  expect(await bankOf(resolve({ bankUid, create: true }))).toBeUndefined();
});

test("a request that names no bank is refused", async () => {
  await using t = await openTestService();
  for (const request of [resolve({}), resolve({ bankId: "b" }), resolve({ tenantId: "acme" })]) {
    await expect(t.internal.resolveBank(t.asMesh(), request)).rejects.toMatchObject({ code: "invalid_argument" });
  }
  const invalid = t.internal.resolveBank(t.as(), resolve({ bankId: "a/b", create: true }));
  await expect(invalid).rejects.toMatchObject({ code: "invalid_argument", reason: "INVALID_BANK_ID" });
});
