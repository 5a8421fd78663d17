import { describe, expect, test } from "vitest";
import { AUDIT_BATCH_MAX, AUDIT_SWEEP_MAX, type AuditQuery } from "./audit-store.ts";
import { aBank, bury, type OpenBankStorage } from "./bank-store.conformance.ts";
import type { BankStorage } from "./bank-store.ts";
import { auditPeriod, type FiledAuditEntry } from "./domain/audit.ts";
import type { Bank } from "./domain/bank.ts";

const id = () => crypto.randomUUID();

const anEntry = (parts: Partial<FiledAuditEntry> & Pick<FiledAuditEntry, "tenantId" | "bankUid">): FiledAuditEntry => ({
  id: id(),
  bankId: null,
  action: "retain",
  transport: "http",
  startedAtUs: 1_000,
  endedAtUs: 2_000,
  request: null,
  response: null,
  metadata: {},
  ...parts,
});

const everything = ({ tenantId, bankUid }: Pick<AuditQuery, "tenantId" | "bankUid">): AuditQuery => ({
  tenantId,
  bankUid,
  limit: 500,
  offset: 0,
});

const aLiveBank = ({ banks }: BankStorage): Promise<Bank> => banks.put(aBank(), (bank) => bank);

export function describeAuditStore(name: string, open: OpenBankStorage): void {
  describe(`AuditStore: ${name}`, () => {
    test("keeps every member, whatever kind of JSON the answer is", async () => {
      await using storage = await open();
      const bank = await aLiveBank(storage);
      const entries = [{ id: "x", n: [1, null, "✓"] }, null, "text", [1], false].map((response, index) =>
        anEntry({
          ...{ tenantId: bank.tenantId, bankUid: bank.bankUid, bankId: bank.bankId, response },
          ...{ request: { a: { b: index } }, metadata: { status_code: 200 }, startedAtUs: 9 - index },
        }),
      );
      await storage.audit.insert(entries);
      expect(await storage.audit.list(everything(bank))).toEqual({ entries, total: 5 });
    });

    test("an entry that comes again changes nothing", async () => {
      await using storage = await open();
      const bank = await aLiveBank(storage);
      const entry = anEntry({ tenantId: bank.tenantId, bankUid: bank.bankUid });
      await storage.audit.insert([entry, entry]);
      await storage.audit.insert([{ ...entry, action: "other" }]);
      expect(await storage.audit.list(everything(bank))).toEqual({ entries: [entry], total: 1 });
    });

    test("newest first, ties by descending id, in pages with a true total", async () => {
      await using storage = await open();
      const { tenantId, bankUid } = await aLiveBank(storage);
      const ordered = [
        anEntry({ tenantId, bankUid, startedAtUs: 9 }),
        anEntry({ tenantId, bankUid, startedAtUs: 5, id: "b" }),
        anEntry({ tenantId, bankUid, startedAtUs: 5, id: "a" }),
        anEntry({ tenantId, bankUid, startedAtUs: 2 }),
      ];
      await storage.audit.insert(ordered.toReversed());
      const list = (limit: number, offset: number) => storage.audit.list({ tenantId, bankUid, limit, offset });
      expect(await list(500, 0)).toEqual({ entries: ordered, total: 4 });
      expect(await list(2, 1)).toEqual({ entries: ordered.slice(1, 3), total: 4 });
      expect(await list(2, 4)).toEqual({ entries: [], total: 4 });
    });

    test("filters by action, transport and time: the begin counts, the end does not", async () => {
      await using storage = await open();
      const { tenantId, bankUid } = await aLiveBank(storage);
      const rows = [
        ["retain", "http", 10],
        ["recall", "http", 20],
        ["retain", "system", 30],
      ] as const;
      await storage.audit.insert(
        rows.map(([action, transport, startedAtUs]) => anEntry({ tenantId, bankUid, action, transport, startedAtUs })),
      );
      const times = async (filter: Partial<AuditQuery>) => {
        const { entries, total } = await storage.audit.list({ ...everything({ tenantId, bankUid }), ...filter });
        expect(total).toBe(entries.length);
        return entries.map(({ startedAtUs }) => startedAtUs);
      };
      expect(await times({ action: "retain" })).toEqual([30, 10]);
      expect(await times({ transport: "http" })).toEqual([20, 10]);
      expect(await times({ action: "retain", transport: "system" })).toEqual([30]);
      expect(await times({ transport: "pigeon" })).toEqual([]);
      expect(await times({ startUs: 20 })).toEqual([30, 20]);
      expect(await times({ endUs: 20 })).toEqual([10]);
      expect(await times({ startUs: 10, endUs: 30 })).toEqual([20, 10]);
      expect(await times({ startUs: 30, endUs: 10 })).toEqual([]);
    });

    test("banks, tenants and the tenant's own log do not see each other's entries", async () => {
      await using storage = await open();
      const [one, two] = [await aLiveBank(storage), await aLiveBank(storage)];
      const sister = await storage.banks.put(aBank({ tenantId: one.tenantId }), (bank) => bank);
      const owners = [one, two, sister, { tenantId: one.tenantId, bankUid: null }, { tenantId: two.tenantId, bankUid: null }];
      const entries = owners.map(({ tenantId, bankUid }) => anEntry({ tenantId, bankUid }));
      await storage.audit.insert(entries);
      for (const [index, owner] of owners.entries()) {
        expect(await storage.audit.list(everything(owner))).toEqual({ entries: [entries[index]], total: 1 });
      }
      expect(await storage.audit.list(everything({ tenantId: id(), bankUid: one.bankUid }))).toEqual({ entries: [], total: 0 });
    });

    test("entries of a dead bank are not shown, dropped when they come, and purged with it", async () => {
      await using storage = await open();
      const bank = await aLiveBank(storage);
      const { tenantId, bankUid } = bank;
      const kept = anEntry({ tenantId, bankUid: null, action: "delete_bank", bankId: bank.bankId });
      await storage.audit.insert([anEntry({ tenantId, bankUid }), kept]);
      await bury(storage, bank);
      expect((await storage.audit.list(everything(bank))).total).toBe(0);
      await storage.audit.insert([anEntry({ tenantId, bankUid })]);
      expect(await storage.banks.purge(bankUid)).toBe(true);
      expect(await storage.audit.deleteBefore(Number.MAX_SAFE_INTEGER)).toBe(1); // nothing but the entry of the deletion was left
    });

    test("counts by bucket and action what starts inside the period", async () => {
      await using storage = await open();
      const { tenantId, bankUid } = await aLiveBank(storage);
      const period = auditPeriod("1d", 1_800_000_000_000_000);
      const { startUs, bucketUs, bucketCount } = period;
      const at = (startedAtUs: number, action = "retain") => anEntry({ tenantId, bankUid, action, startedAtUs });
      const last = bucketCount - 1;
      await storage.audit.insert([
        at(startUs - 1),
        at(startUs),
        at(startUs + bucketUs - 1),
        at(startUs + bucketUs, "recall"),
        at(startUs + last * bucketUs),
        at(startUs + bucketCount * bucketUs),
      ]);
      const counted = async (action?: string) => {
        const counts = await storage.audit.count({ tenantId, bankUid, period, action });
        return counts.map(({ bucket, action, count }) => `${bucket} ${action} ${count}`).sort();
      };
      expect(await counted()).toEqual(["0 retain 2", "1 recall 1", `${last} retain 1`].sort());
      expect(await counted("recall")).toEqual(["1 recall 1"]);
    });

    test("deletes what is too old, a bounded number at once, oldest first", async () => {
      await using storage = await open();
      const bank = await aLiveBank(storage);
      const { tenantId, bankUid } = bank;
      const old = Array.from({ length: AUDIT_SWEEP_MAX + 1 }, (_, index) => anEntry({ tenantId, bankUid, startedAtUs: index }));
      const young = anEntry({ tenantId, bankUid: null, startedAtUs: 5_000 });
      for (let index = 0; index < old.length; index += AUDIT_BATCH_MAX) {
        await storage.audit.insert(old.slice(index, index + AUDIT_BATCH_MAX));
      }
      await storage.audit.insert([young]);
      expect(await storage.audit.deleteBefore(5_000)).toBe(AUDIT_SWEEP_MAX);
      expect((await storage.audit.list(everything(bank))).entries).toEqual([old.at(-1)]);
      expect(await storage.audit.deleteBefore(5_000)).toBe(1);
      expect(await storage.audit.deleteBefore(5_000)).toBe(0);
      expect((await storage.audit.list(everything({ tenantId, bankUid: null }))).entries).toEqual([young]);
    });

    test("more than a batch is refused whole", async () => {
      await using storage = await open();
      const bank = await aLiveBank(storage);
      const { tenantId, bankUid } = bank;
      const entries = Array.from({ length: AUDIT_BATCH_MAX + 1 }, () => anEntry({ tenantId, bankUid }));
      await expect(storage.audit.insert(entries)).rejects.toMatchObject({ code: "invalid_argument" });
      expect((await storage.audit.list(everything(bank))).total).toBe(0);
    });
  });
}
