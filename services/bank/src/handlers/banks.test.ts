import { expect, test } from "vitest";
import { openTestService, write } from "../test-service.ts";

test("PUT creates with defaults, then changes only what is given", async () => {
  await using t = await openTestService();
  const created = await t.bank.putBank(t.as(), write("support"));
  expect(created).toEqual({
    ...{ bankId: "support", bankUid: expect.any(String), name: "support", mission: "" },
    disposition: { skepticism: 3, literalism: 3, empathy: 3 },
    ...{ createdAtUs: t.time.now(), updatedAtUs: t.time.now() },
  });
  await t.time.advance(1_000);
  const changed = await t.bank.putBank(t.as(), write("support", { mission: "Help.", overrides: { disposition_empathy: 5 } }));
  expect(changed).toEqual({
    ...created,
    mission: "Help.",
    disposition: { skepticism: 3, literalism: 3, empathy: 5 },
    updatedAtUs: t.time.now(),
  });
  await t.time.advance(1_000);
  expect(await t.bank.putBank(t.as(), write("support"))).toEqual(changed);
  expect(await t.bank.putBank(t.as(), write("support", { overrides: { disposition_empathy: 5, retain_mission: null } }))).toEqual(
    changed,
  );
  expect(await t.bank.getBank(t.as(), { bankId: "support" })).toEqual(changed);
});

test("of many PUTs at once one creates and every change is kept", async () => {
  await using t = await openTestService();
  const overrides = [
    { retain_mission: "a" },
    { observations_mission: "b" },
    { enable_reranking: false },
    { retain_chunk_size: 500 },
    { recall_max_tokens: 900 },
  ];
  const banks = await Promise.all(overrides.map((given) => t.bank.putBank(t.as(), write("support", { overrides: given }))));
  expect(new Set(banks.map(({ bankUid }) => bankUid)).size).toBe(1);
  const { overrides: kept } = await t.bank.getBankConfig(t.as(), { bankId: "support" });
  expect(kept).toEqual(Object.assign({}, ...overrides));
});

test("the mission is the reflect_mission of the configuration, both ways", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b", { mission: "profile", overrides: { reflect_mission: "override" } }));
  const { config, overrides } = await t.bank.getBankConfig(t.as(), { bankId: "b" });
  expect([config?.["reflect_mission"], overrides?.["reflect_mission"]]).toEqual(["profile", "profile"]);
  await t.bank.patchBankConfig(t.as(), { bankId: "b", updates: { reflect_mission: null } });
  expect((await t.bank.getBank(t.as(), { bankId: "b" })).mission).toBe("");
});

test("a refused PUT leaves nothing behind, not even the bank", async () => {
  await using t = await openTestService();
  const refused = t.bank.putBank(t.as(), write("b", { overrides: { retain_chunk_size: 500, disposition_empathy: 6 } }));
  await expect(refused).rejects.toMatchObject({
    code: "invalid_argument",
    violations: [],
    message: "disposition_empathy must be an integer between 1 and 5",
  });
  await expect(t.bank.getBank(t.as(), { bankId: "b" })).rejects.toMatchObject({
    code: "not_found",
    message: "Bank 'b' not found",
  });
});

test("PATCH changes an existing bank and refuses an unknown one", async () => {
  await using t = await openTestService();
  await expect(t.bank.patchBank(t.as(), write("b", { name: "B" }))).rejects.toMatchObject({
    code: "not_found",
    reason: "BANK_NOT_FOUND",
  });
  const bank = await t.bank.putBank(t.as(), write("b"));
  await t.time.advance(1_000);
  expect(await t.bank.patchBank(t.as(), write("b"))).toEqual(bank);
  expect(await t.bank.patchBank(t.as(), write("b", { name: "B" }))).toEqual({ ...bank, name: "B", updatedAtUs: t.time.now() });
});

test("lists the banks of the key: its tenant's, and of those the allowed ones", async () => {
  await using t = await openTestService();
  for (const bankId of ["beta", "alpha", "gamma"]) await t.bank.putBank(t.as(), write(bankId, { name: `Team ${bankId}` }));
  await t.bank.putBank(t.as({ tenantId: "other" }), write("delta"));
  const list = async (principal: Parameters<typeof t.as>[0], request = {}) => {
    const { banks, total } = await t.bank.listBanks(t.as(principal), { limit: 0, offset: 0, ...request });
    return [banks.map(({ bankId }) => bankId), total];
  };
  expect(await list({})).toEqual([["alpha", "beta", "gamma"], 3]);
  expect(await list({}, { limit: 1, offset: 1 })).toEqual([["beta"], 3]);
  expect(await list({}, { query: "TEAM GA" })).toEqual([["gamma"], 1]);
  expect(await list({ allowedBankIds: ["gamma", "delta"] })).toEqual([["gamma"], 1]);
  expect(await list({ tenantId: "other" })).toEqual([["delta"], 1]);
});

test("a key that is kept to other banks reaches nothing", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b"));
  const stranger = t.as({ allowedBankIds: ["c"] });
  const calls = [
    t.bank.putBank(stranger, write("b")),
    t.bank.patchBank(stranger, write("b")),
    t.bank.getBank(stranger, { bankId: "b" }),
    t.bank.deleteBank(stranger, { bankId: "b" }),
    t.bank.getBankConfig(stranger, { bankId: "b" }),
    t.bank.patchBankConfig(stranger, { bankId: "b", updates: {} }),
    t.bank.resetBankConfig(stranger, { bankId: "b" }),
    t.bank.createDirective(stranger, { bankId: "b", name: "", content: "", priority: 0, isActive: true, tags: [] }),
    t.bank.getDirective(stranger, { bankId: "b", directiveId: "d" }),
    t.bank.updateDirective(stranger, { bankId: "b", directiveId: "d", tags: undefined }),
    t.bank.listDirectives(stranger, { bankId: "b", tags: undefined, activeOnly: true, limit: 1, offset: 0 }),
    t.bank.deleteDirective(stranger, { bankId: "b", directiveId: "d" }),
    t.bank.listAuditEntries(stranger, { bankId: "b", limit: 1, offset: 0 }),
    t.bank.getAuditStats(stranger, { bankId: "b", period: "1d" }),
    t.internal.resolveBank(stranger, { tenantId: "", bankId: "b", bankUid: "", create: true }),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "permission_denied", reason: "BANK_OUT_OF_SCOPE" });
});
