import { describe, expect, test } from "vitest";
import { aBank, bury, type OpenBankStorage } from "./bank-store.conformance.ts";
import type { BankStorage } from "./bank-store.ts";
import type { DirectiveQuery } from "./directive-store.ts";
import type { Directive } from "./domain/directive.ts";

const id = () => crypto.randomUUID();

const aDirective = (parts: Partial<Directive>): Directive => ({
  id: id(),
  bankUid: id(),
  name: "Language",
  content: "Answer in German.",
  priority: 0,
  isActive: true,
  tags: [],
  createdAtUs: 1_000,
  updatedAtUs: 1_000,
  ...parts,
});

const everything = (bankUid: string, parts: Partial<DirectiveQuery> = {}): DirectiveQuery => ({
  bankUid,
  isActiveOnly: false,
  tags: [],
  tagsMatch: "any",
  limit: 1_000,
  offset: 0,
  ...parts,
});

const aLiveBank = ({ banks }: BankStorage) => banks.put(aBank(), (bank) => bank);

export function describeDirectiveStore(name: string, open: OpenBankStorage): void {
  describe(`DirectiveStore: ${name}`, () => {
    test("keeps every member", async () => {
      await using storage = await open();
      const { bankUid } = await aLiveBank(storage);
      const directive = aDirective({
        bankUid,
        priority: -(2 ** 31),
        isActive: false,
        tags: ["ä", "b c"],
        content: "Zeile 1\nZeile 2 ✓",
      });
      expect(await storage.directives.insert(directive)).toBe(true);
      expect(await storage.directives.find(bankUid, directive.id)).toEqual(directive);
      expect(await storage.directives.find(id(), directive.id)).toBeUndefined();
      expect(await storage.directives.find(bankUid, id())).toBeUndefined();
    });

    test("changes and deletes what the bank has, and nothing of another bank", async () => {
      await using storage = await open();
      const [own, other] = [await aLiveBank(storage), await aLiveBank(storage)];
      const directive = aDirective({ bankUid: own.bankUid });
      await storage.directives.insert(directive);
      const change = (before: Directive): Directive => ({ ...before, priority: 7, tags: ["t"], isActive: false, updatedAtUs: 9 });
      expect(await storage.directives.update(other.bankUid, directive.id, change)).toBeUndefined();
      expect(await storage.directives.delete(other.bankUid, directive.id)).toBe(false);
      expect(await storage.directives.update(own.bankUid, directive.id, change)).toEqual(change(directive));
      expect(await storage.directives.find(own.bankUid, directive.id)).toEqual(change(directive));
      expect(await storage.directives.delete(own.bankUid, directive.id)).toBe(true);
      expect(await storage.directives.delete(own.bankUid, directive.id)).toBe(false);
    });

    test("no change of many at once is lost", async () => {
      await using storage = await open();
      const { bankUid } = await aLiveBank(storage);
      const directive = aDirective({ bankUid });
      await storage.directives.insert(directive);
      const raise = (before: Directive): Directive => ({ ...before, priority: before.priority + 1 });
      await Promise.all(Array.from({ length: 20 }, () => storage.directives.update(bankUid, directive.id, raise)));
      expect((await storage.directives.find(bankUid, directive.id))?.priority).toBe(20);
    });

    test("lists by priority, then newest, then id, in pages with a true total", async () => {
      await using storage = await open();
      const { bankUid } = await aLiveBank(storage);
      const ordered = [
        aDirective({ bankUid, priority: 5, createdAtUs: 1 }),
        aDirective({ bankUid, priority: 1, createdAtUs: 3 }),
        aDirective({ bankUid, priority: 1, createdAtUs: 2, id: "b" }),
        aDirective({ bankUid, priority: 1, createdAtUs: 2, id: "a" }),
        aDirective({ bankUid, priority: -4, createdAtUs: 9 }),
      ];
      for (const directive of ordered.toReversed()) await storage.directives.insert(directive);
      expect(await storage.directives.list(everything(bankUid))).toEqual({ directives: ordered, total: 5 });
      const page = await storage.directives.list(everything(bankUid, { limit: 2, offset: 3 }));
      expect(page).toEqual({ directives: ordered.slice(3), total: 5 });
      expect(await storage.directives.list(everything(bankUid, { offset: 5 }))).toEqual({ directives: [], total: 5 });
    });

    test("leaves out inactive ones when told", async () => {
      await using storage = await open();
      const { bankUid } = await aLiveBank(storage);
      await storage.directives.insert(aDirective({ bankUid, name: "on" }));
      await storage.directives.insert(aDirective({ bankUid, name: "off", isActive: false }));
      const active = await storage.directives.list(everything(bankUid, { isActiveOnly: true }));
      expect(active).toMatchObject({ directives: [{ name: "on" }], total: 1 });
    });

    test.each([
      ["any", [], ["none", "a", "ab", "abc", "c"]],
      ["exact", [], ["none"]],
      ["any", ["a", "x"], ["none", "a", "ab", "abc"]],
      ["all", ["a", "b"], ["none", "ab", "abc"]],
      ["any_strict", ["a", "x"], ["a", "ab", "abc"]],
      ["all_strict", ["b", "a", "b"], ["ab", "abc"]],
      ["exact", ["b", "a"], ["ab"]],
      ["exact", ["A"], []],
    ] as const)("tags %s %j", async (tagsMatch, tags, names) => {
      await using storage = await open();
      const { bankUid } = await aLiveBank(storage);
      const tagged = { none: [], a: ["a"], ab: ["a", "b"], abc: ["c", "b", "a"], c: ["c"] };
      for (const [name, tags] of Object.entries(tagged)) await storage.directives.insert(aDirective({ bankUid, name, tags }));
      const { directives, total } = await storage.directives.list(everything(bankUid, { tags, tagsMatch }));
      expect(directives.map(({ name }) => name).sort()).toEqual([...names].sort());
      expect(total).toBe(names.length);
    });

    test("of a buried bank nothing is read and nothing is written", async () => {
      await using storage = await open();
      const bank = await aLiveBank(storage);
      const directive = aDirective({ bankUid: bank.bankUid });
      await storage.directives.insert(directive);
      await bury(storage, bank);
      expect(await storage.directives.find(bank.bankUid, directive.id)).toBeUndefined();
      expect(await storage.directives.list(everything(bank.bankUid))).toEqual({ directives: [], total: 0 });
      expect(await storage.directives.insert(aDirective({ bankUid: bank.bankUid }))).toBe(false);
      expect(await storage.directives.update(bank.bankUid, directive.id, (before) => before)).toBeUndefined();
      expect(await storage.directives.delete(bank.bankUid, directive.id)).toBe(false);
      expect(await storage.directives.insert(aDirective({ bankUid: id() }))).toBe(false);
    });
  });
}
