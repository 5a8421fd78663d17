import { expect, test } from "vitest";
import { parseConfigFile } from "../domain/config-file.ts";
import { overridableKeys, readOnlyKeys } from "../domain/config-keys.ts";
import { openTestService, write } from "../test-service.ts";

test("an unknown bank has the defaults and is not created", async () => {
  await using t = await openTestService({ providers: { llm_provider: "openai", llm_model: "gpt-4o-mini" } });
  const { bankId, config, overrides } = await t.bank.getBankConfig(t.as(), { bankId: "b" });
  expect([bankId, overrides]).toEqual(["b", {}]);
  expect(Object.keys(config ?? {}).sort()).toEqual([...Object.keys(overridableKeys), ...Object.keys(readOnlyKeys)].sort());
  expect(config).toMatchObject({
    llm_provider: "openai",
    reflect_llm_model: "gpt-4o-mini",
    retain_mission: null,
    retain_chunk_size: 3_000,
  });
  expect((await t.bank.listBanks(t.as(), { limit: 0, offset: 0 })).total).toBe(0);
});

test("PATCH creates the bank, sets and removes overrides, and answers like GET", async () => {
  await using t = await openTestService();
  const updates = { HINDSIGHT_API_RETAIN_MISSION: "Note.", disposition_empathy: 5 };
  const patched = await t.bank.patchBankConfig(t.as(), { bankId: "b", updates });
  expect(patched.overrides).toEqual({ retain_mission: "Note.", disposition_empathy: 5 });
  expect(patched).toEqual(await t.bank.getBankConfig(t.as(), { bankId: "b" }));
  expect((await t.bank.getBank(t.as(), { bankId: "b" })).disposition?.empathy).toBe(5);
  const cleared = await t.bank.patchBankConfig(t.as(), { bankId: "b", updates: { retain_mission: null } });
  expect(cleared.overrides).toEqual({ disposition_empathy: 5 });
  expect(cleared.config?.["retain_mission"]).toBeNull();
});

test("any fault stores nothing and creates nothing", async () => {
  await using t = await openTestService();
  const faulty = { retain_mission: "Note.", llm_model: "x" };
  await expect(t.bank.patchBankConfig(t.as(), { bankId: "b", updates: faulty })).rejects.toMatchObject({
    code: "invalid_argument",
    violations: [],
    message: "llm_model is read-only",
  });
  expect((await t.bank.listBanks(t.as(), { limit: 0, offset: 0 })).total).toBe(0);
});

test("reset removes every override, and creates nothing", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b", { name: "B", mission: "Help." }));
  expect((await t.bank.resetBankConfig(t.as(), { bankId: "b" })).overrides).toEqual({});
  expect(await t.bank.getBank(t.as(), { bankId: "b" })).toMatchObject({ name: "B", mission: "" });
  expect((await t.bank.resetBankConfig(t.as(), { bankId: "c" })).overrides).toEqual({});
  expect((await t.bank.listBanks(t.as(), { limit: 0, offset: 0 })).total).toBe(1);
});

test("global, tenant and bank are merged in this order; the tenant's layer that was set by RPC replaces the file's", async () => {
  const configFile = parseConfigFile(
    JSON.stringify({
      global: { retain_chunk_size: 1_000, recall_max_tokens: 1_000, reflect_mission: "All." },
      tenants: { acme: { recall_max_tokens: 2_000, disposition_empathy: 4 } },
    }),
  );
  await using t = await openTestService({ configFile });
  await t.bank.putBank(t.as(), write("b", { overrides: { retain_chunk_size: 3_000 } }));
  const shown = async (tenantId: string) => {
    const { config } = await t.bank.getBankConfig(t.as({ tenantId }), { bankId: "b" });
    return [config?.["retain_chunk_size"], config?.["recall_max_tokens"], config?.["disposition_empathy"]];
  };
  expect(await shown("acme")).toEqual([3_000, 2_000, 4]);
  expect(await shown("other")).toEqual([1_000, 1_000, null]);
  expect(await t.bank.getBank(t.as(), { bankId: "b" })).toMatchObject({ mission: "All.", disposition: { empathy: 4 } });
  await t.internal.setTenantConfig(t.asMesh(), { tenantId: "acme", config: { disposition_empathy: 2 } });
  expect(await shown("acme")).toEqual([3_000, 1_000, 2]);
});

test("a tenant's layer is checked like a bank's", async () => {
  await using t = await openTestService();
  const set = (config: Record<string, unknown>) => t.internal.setTenantConfig(t.asMesh(), { tenantId: "acme", config });
  await expect(set({ nope: 1, retain_chunk_size: "x" })).rejects.toMatchObject({
    code: "invalid_argument",
    message: "Unknown configuration key 'nope'; retain_chunk_size must be an integer, got string",
  });
  await expect(set({ recall_budget_min: 5_000 })).rejects.toMatchObject({ code: "invalid_argument" });
  await expect(t.internal.setTenantConfig(t.asMesh(), { tenantId: "", config: {} })).rejects.toMatchObject({
    code: "invalid_argument",
  });
});
