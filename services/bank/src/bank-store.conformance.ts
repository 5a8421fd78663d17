import { describe, expect, test } from "vitest";
import { type BankStorage, PURGE_ROWS_MAX, TOMBSTONES_MAX } from "./bank-store.ts";
import { type Bank, newBank } from "./domain/bank.ts";
import { newDirective } from "./domain/directive.ts";
import { bankDeleted } from "./events.ts";
import { purgeJob } from "./purge.ts";

export type OpenBankStorage = () => Promise<BankStorage>;

const id = () => crypto.randomUUID();
const keep = (bank: Bank) => bank;

export const aBank = (parts: Partial<Bank> = {}): Bank => ({
  ...newBank({ tenantId: id(), bankId: id(), bankUid: id(), nowUs: 1_000 }),
  ...parts,
});

/** Ends the bank as the service does. */
export function bury({ banks }: BankStorage, { tenantId, bankId }: Bank, deletedAtUs = 5_000): Promise<Bank | undefined> {
  return banks.bury({
    tenantId,
    bankId,
    deletedAtUs,
    jobs: (bank) => [purgeJob(bank, { id: id(), nowUs: deletedAtUs })],
    events: ({ tenantId, bankUid, bankId }) => [
      bankDeleted.create({ id: id(), occurredAtUs: deletedAtUs, payload: { tenantId, bankUid, bankId } }),
    ],
  });
}

export function describeBankStore(name: string, open: OpenBankStorage): void {
  describe(`BankStore: ${name}`, () => {
    test("put adds the seed once and changes what is there afterwards", async () => {
      await using storage = await open();
      const seed = aBank();
      const first = await storage.banks.put(seed, (bank) => ({ ...bank, overrides: { retain_mission: "a" } }));
      const second = await storage.banks.put({ ...seed, bankUid: id() }, (bank) => ({
        ...bank,
        name: "Desk",
        updatedAtUs: 2_000,
      }));
      expect(first).toEqual({ ...seed, overrides: { retain_mission: "a" } });
      expect(second).toEqual({ ...first, name: "Desk", updatedAtUs: 2_000 });
      expect(await storage.banks.findById(seed.tenantId, seed.bankId)).toEqual(second);
      expect(await storage.banks.findByUid(seed.bankUid)).toEqual(second);
    });

    test("of many puts at once one adds, and no change is lost", async () => {
      await using storage = await open();
      const { tenantId, bankId } = aBank();
      const keys = ["a", "b", "c", "d", "e", "f", "g", "h"];
      const put = (key: string) =>
        storage.banks.put(aBank({ tenantId, bankId }), (bank) => {
          const strategies = { ...(bank.overrides.retain_strategies as object), [key]: {} };
          return { ...bank, overrides: { retain_strategies: strategies } };
        });
      const uids = new Set((await Promise.all(keys.map(put))).map(({ bankUid }) => bankUid));
      expect(uids.size).toBe(1);
      const bank = await storage.banks.findById(tenantId, bankId);
      expect(Object.keys(bank?.overrides.retain_strategies as object).sort()).toEqual(keys);
    });

    test("what a change throws comes out, and nothing is written", async () => {
      await using storage = await open();
      const seed = aBank();
      const refuse = () => {
        throw new TypeError("no");
      };
      await expect(storage.banks.put(seed, refuse)).rejects.toThrow(new TypeError("no"));
      expect(await storage.banks.findById(seed.tenantId, seed.bankId)).toBeUndefined();
      await storage.banks.put(seed, keep);
      await expect(storage.banks.update(seed.tenantId, seed.bankId, refuse)).rejects.toThrow(new TypeError("no"));
      expect(await storage.banks.findByUid(seed.bankUid)).toEqual(seed);
    });

    test("update finds live banks only", async () => {
      await using storage = await open();
      const bank = await storage.banks.put(aBank(), keep);
      const rename = (bank: Bank) => ({ ...bank, name: "Ünïcode ✓" });
      expect(await storage.banks.update(bank.tenantId, bank.bankId, rename)).toMatchObject({ name: "Ünïcode ✓" });
      expect(await storage.banks.update(bank.tenantId, id(), rename)).toBeUndefined();
      expect(await storage.banks.update(id(), bank.bankId, rename)).toBeUndefined();
      await bury(storage, bank);
      expect(await storage.banks.update(bank.tenantId, bank.bankId, rename)).toBeUndefined();
    });

    test("ids compare byte for byte and tenants do not see each other", async () => {
      await using storage = await open();
      const tenantId = id();
      const bankIds = ["Team-A", "team-a", "team", "é", "e\u0301"];
      for (const bankId of bankIds) await storage.banks.put(aBank({ tenantId, bankId }), keep);
      expect((await storage.banks.list({ tenantId, allowedBankIds: null, limit: 10, offset: 0 })).total).toBe(bankIds.length);
      expect(await storage.banks.findById(tenantId, "TEAM-A")).toBeUndefined();
      expect(await storage.banks.findById(id(), "team")).toBeUndefined();
    });

    test("lists by id, in pages, with the total of all matches", async () => {
      await using storage = await open();
      const tenantId = id();
      for (const bankId of ["b", "B", "a", "😀", "z", "é"]) await storage.banks.put(aBank({ tenantId, bankId }), keep);
      const list = async (limit: number, offset: number) => {
        const { banks, total } = await storage.banks.list({ tenantId, allowedBankIds: null, limit, offset });
        return { ids: banks.map(({ bankId }) => bankId), total };
      };
      expect(await list(10, 0)).toEqual({ ids: ["B", "a", "b", "z", "é", "😀"], total: 6 });
      expect(await list(2, 4)).toEqual({ ids: ["é", "😀"], total: 6 });
      expect(await list(2, 6)).toEqual({ ids: [], total: 6 });
      expect(await list(0, 0)).toEqual({ ids: [], total: 6 });
    });

    test("finds a part of the id or the name in any case, taken literally", async () => {
      await using storage = await open();
      const tenantId = id();
      await storage.banks.put(aBank({ tenantId, bankId: "Support", name: "Kundendienst ÄÖ" }), keep);
      await storage.banks.put(aBank({ tenantId, bankId: "sales_100%", name: "Sales" }), keep);
      const found = async (contains: string) =>
        (await storage.banks.list({ tenantId, contains, allowedBankIds: null, limit: 10, offset: 0 })).banks.map(
          (bank) => bank.bankId,
        );
      expect(await found("SUPP")).toEqual(["Support"]);
      expect(await found("dienst äö")).toEqual(["Support"]);
      expect(await found("s")).toEqual(["Support", "sales_100%"]);
      expect(await found("0%")).toEqual(["sales_100%"]);
      expect(await found("s%s")).toEqual([]);
      expect(await found("supportkunden")).toEqual([]);
    });

    test("lists the allowed banks only", async () => {
      await using storage = await open();
      const tenantId = id();
      for (const bankId of ["a", "b", "c"]) await storage.banks.put(aBank({ tenantId, bankId }), keep);
      const list = (allowedBankIds: string[]) => storage.banks.list({ tenantId, allowedBankIds, limit: 10, offset: 0 });
      expect(await list(["c", "a", "x", "A"])).toMatchObject({ banks: [{ bankId: "a" }, { bankId: "c" }], total: 2 });
      expect(await list([])).toEqual({ banks: [], total: 0 });
    });

    test("a buried bank is gone, its id is free, and job and tombstone are there", async () => {
      await using storage = await open();
      const dead = await storage.banks.put(aBank({ overrides: { retain_mission: "x" } }), keep);
      expect(await bury(storage, dead)).toEqual(dead);
      expect(await bury(storage, dead)).toBeUndefined();
      expect(await storage.banks.findById(dead.tenantId, dead.bankId)).toBeUndefined();
      expect(await storage.banks.findByUid(dead.bankUid)).toBeUndefined();
      expect((await storage.banks.list({ tenantId: dead.tenantId, allowedBankIds: null, limit: 9, offset: 0 })).total).toBe(0);
      expect(await storage.jobs.countByStatus(dead.bankUid)).toMatchObject({ pending: 1 });
      expect(await storage.banks.findTombstone(dead.tenantId, dead.bankId)).toEqual({ bank: dead, deletedAtUs: 5_000 });

      const next = await storage.banks.put(aBank({ tenantId: dead.tenantId, bankId: dead.bankId }), keep);
      expect(next.bankUid).not.toBe(dead.bankUid);
      expect(next.overrides).toEqual({});
      await bury(storage, next, 6_000);
      expect(await storage.banks.findTombstone(dead.tenantId, dead.bankId)).toEqual({ bank: next, deletedAtUs: 6_000 });
    });

    test("a burial that fails leaves the bank as it was", async () => {
      await using storage = await open();
      const bank = await storage.banks.put(aBank(), keep);
      const events = () => {
        throw new TypeError("no");
      };
      const jobs = () => [purgeJob(bank, { id: id(), nowUs: 1 })];
      const { tenantId, bankId } = bank;
      await expect(storage.banks.bury({ tenantId, bankId, deletedAtUs: 1, jobs, events })).rejects.toThrow(new TypeError("no"));
      expect(await storage.banks.findByUid(bank.bankUid)).toEqual(bank);
      expect(await storage.jobs.countByStatus(bank.bankUid)).toMatchObject({ pending: 0 });
    });

    test("purges in parts, and only the dead", async () => {
      await using storage = await open();
      const [dead, other] = [aBank({ overrides: { retain_mission: "x", audit_log_enabled: false } }), aBank()];
      for (const bank of [dead, other]) {
        await storage.banks.put(bank, keep);
        const members = { name: "n", content: "c", priority: 0, isActive: true, tags: [] };
        const directives = Array.from({ length: PURGE_ROWS_MAX + 1 }, () =>
          newDirective({ id: id(), bankUid: bank.bankUid }, members, 1),
        );
        await Promise.all(directives.map((directive) => storage.directives.insert(directive)));
      }
      await expect(storage.banks.purge(dead.bankUid)).rejects.toMatchObject({
        code: "failed_precondition",
        reason: "BANK_ALIVE",
      });
      await bury(storage, dead);
      expect(await storage.banks.purge(dead.bankUid)).toBe(false);
      expect(await storage.banks.purge(dead.bankUid)).toBe(true);
      expect(await storage.banks.purge(dead.bankUid)).toBe(true);
      expect(await storage.banks.purge(id())).toBe(true);
      expect(await storage.banks.findTombstone(dead.tenantId, dead.bankId)).toMatchObject({
        bank: { name: dead.bankId, overrides: { audit_log_enabled: false } },
      });
      const left = { bankUid: other.bankUid, isActiveOnly: false, tags: [], tagsMatch: "any", limit: 1, offset: 0 } as const;
      expect((await storage.directives.list(left)).total).toBe(PURGE_ROWS_MAX + 1);
    });

    test("forgets purged tombstones of the past, a bounded number at once", async () => {
      await using storage = await open();
      const old = Array.from({ length: TOMBSTONES_MAX + 1 }, () => aBank());
      const [young, unpurged, live] = [aBank(), aBank(), aBank()];
      for (const bank of [...old, young, unpurged, live]) await storage.banks.put(bank, keep);
      for (const bank of [...old, unpurged]) await bury(storage, bank, 5_000);
      await bury(storage, young, 7_000);
      for (const { bankUid } of [...old, young]) await storage.banks.purge(bankUid);

      const first = await storage.banks.forgetTombstones(7_000);
      const second = await storage.banks.forgetTombstones(7_000);
      expect(first).toHaveLength(TOMBSTONES_MAX);
      expect([...first, ...second].sort()).toEqual(old.map(({ bankUid }) => bankUid).sort());
      expect(await storage.banks.forgetTombstones(7_000)).toEqual([]);
      expect(await storage.banks.findTombstone(young.tenantId, young.bankId)).toBeDefined();
      expect(await storage.banks.findByUid(live.bankUid)).toEqual(live);
    });

    test("keeps the tenant layer that was set last", async () => {
      await using storage = await open();
      const [one, two] = [id(), id()];
      expect(await storage.banks.findTenantConfig(one)).toBeUndefined();
      await storage.banks.setTenantConfig(one, { retain_mission: "a", recall_max_tokens: 5 });
      await storage.banks.setTenantConfig(one, { entity_labels: [{ key: "k" }] });
      expect(await storage.banks.findTenantConfig(one)).toEqual({ entity_labels: [{ key: "k" }] });
      expect(await storage.banks.findTenantConfig(two)).toBeUndefined();
    });

    test("a closed storage is unavailable", async () => {
      const storage = await open();
      await storage.ping();
      await storage[Symbol.asyncDispose]();
      await expect(storage.ping()).rejects.toMatchObject({ code: "unavailable" });
      await expect(storage.banks.findByUid(id())).rejects.toMatchObject({ code: "unavailable" });
    });
  });
}
