import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeAuditStore } from "../../audit-store.conformance.ts";
import { aBank, bury, describeBankStore } from "../../bank-store.conformance.ts";
import { describeDirectiveStore } from "../../directive-store.conformance.ts";
import { describeIdempotencyStore } from "../../idempotency-store.conformance.ts";
import { openBankStore } from "../open-bank-store.ts";

const nowUs = () => Date.now() * 1_000;
const open = (file = ":memory:") => openBankStore({ kind: "sqlite", file }, { nowUs, newId: () => crypto.randomUUID() });

describeBankStore("SQLite", () => open());
describeDirectiveStore("SQLite", () => open());
describeAuditStore("SQLite", () => open());
describeIdempotencyStore("SQLite", () => open());

test("what is acknowledged is there after the file is opened again, and a purge that ran is due again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bank-store-"));
  const file = join(folder, "bank.sqlite");
  const [live, dead] = [aBank(), aBank()];
  {
    await using storage = await open(file);
    for (const bank of [live, dead]) await storage.banks.put(bank, (bank) => bank);
    await bury(storage, dead);
    await storage.jobs.claim({ kinds: ["purge"], limit: 1, owner: "gone", leaseMs: 60_000, nowUs: nowUs() });
    expect(await storage.jobs.countByStatus(dead.bankUid)).toMatchObject({ processing: 1 });
  }
  {
    await using storage = await open(file);
    expect(await storage.banks.findByUid(live.bankUid)).toEqual(live);
    expect(await storage.banks.findByUid(dead.bankUid)).toBeUndefined();
    expect(await storage.jobs.countByStatus(dead.bankUid)).toMatchObject({ pending: 1, processing: 0 });
  }
  rmSync(folder, { recursive: true });
});
