import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createVirtualTime } from "@memory-bank/lifecycle";
import { openSqlite, type SqliteDatabase } from "@memory-bank/storage";
import { describe, expect, test } from "vitest";
import type { NewJob } from "../job.ts";
import { describeJobStore } from "../job-store.conformance.ts";
import { assertClaim, completeJob } from "./claimed-jobs.ts";
import { enqueueJobs } from "./enqueue-jobs.ts";
import { createSqliteJobStore } from "./job-store.ts";
import { jobsMigration } from "./jobs-migration.ts";

describeJobStore("SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "jobs-"));
  const time = createVirtualTime();
  const open = (): SqliteDatabase => openSqlite({ file: join(folder, "jobs.sqlite"), migrations: [jobsMigration] });
  const databases = [open(), open()] as const;
  return {
    store: createSqliteJobStore(databases[0], time),
    other: createSqliteJobStore(databases[1], time),
    time,
    async [Symbol.asyncDispose]() {
      for (const db of databases) await db[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
});

describe("inside a service's own transaction", () => {
  const notes = { id: "001-notes", sql: "CREATE TABLE notes (text TEXT) STRICT" };
  const job: NewJob = { id: "j1", kind: "k", groupKey: "g", tenantKey: "t", payload: {}, createdAtUs: 1 };
  const note = "INSERT INTO notes (text) VALUES ('n')";

  function open() {
    const db = openSqlite({ file: ":memory:", migrations: [notes, jobsMigration] });
    const store = createSqliteJobStore(db, { now: () => 5 });
    const claim = async () => (await store.claim({ kinds: ["k"], limit: 1, owner: "o", leaseMs: 1, nowUs: 5 }))[0]!.claim;
    const noteCount = () => db.read((tx) => tx.get("SELECT count(*) AS n FROM notes"))?.["n"];
    return { db, store, claim, noteCount, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
  }

  test("rows and jobs are committed together or not at all", async () => {
    await using t = open();
    const failing = t.db.write((tx) => {
      tx.run(note);
      enqueueJobs(tx, [job], 1);
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow();
    expect(await t.store.find("j1")).toBeUndefined();
    await t.db.write((tx) => [tx.run(note), enqueueJobs(tx, [job], 1)]);
    expect([t.noteCount(), (await t.store.get("g", "j1")).status]).toEqual([1, "pending"]);
  });

  test("a lost claim undoes the rows of the transaction that wanted to finish the job", async () => {
    await using t = open();
    await t.store.enqueue([job]);
    const old = await t.claim();
    await t.store.release(old);
    const current = await t.claim();
    for (const finish of [assertClaim, completeJob]) {
      const write = t.db.write((tx) => [tx.run(note), finish(tx, old, null, 6)]);
      await expect(write).rejects.toMatchObject({ code: "conflict", reason: "LEASE_LOST" });
    }
    expect(t.noteCount()).toBe(0);
    await t.db.write((tx) => [tx.run(note), assertClaim(tx, current), completeJob(tx, current, { n: 1 }, 6)]);
    expect(t.noteCount()).toBe(1);
    expect(await t.store.get("g", "j1")).toMatchObject({ status: "completed", result: { n: 1 }, completedAtUs: 6 });
  });
});
