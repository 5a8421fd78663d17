import { createVirtualTime } from "@memory-bank/lifecycle";
import { openMongodb } from "@memory-bank/storage";
import { describeWithServer } from "@memory-bank/test-servers/with-server";
import { describe, expect, test } from "vitest";
import type { NewJob } from "../job.ts";
import { describeJobStore } from "../job-store.conformance.ts";
import { batchesOf, documentOf, jobsOf, mongodbJobsMigration } from "./job-documents.ts";
import { createMongodbJobStore } from "./job-store.ts";

const newId = () => crypto.randomUUID();

describeWithServer("MongoDB", (url) => {
  async function open() {
    const time = createVirtualTime();
    const database = `test-${newId()}`;
    const connect = () => openMongodb({ url: url(), database, migrations: [mongodbJobsMigration] });
    const databases = [await connect(), await connect()] as const;
    return {
      time,
      database: databases[0],
      store: createMongodbJobStore(databases[0], { ...time, newId }),
      other: createMongodbJobStore(databases[1], { ...time, newId }),
      async [Symbol.asyncDispose]() {
        await databases[0].run((db) => db.dropDatabase());
        for (const one of databases) await one[Symbol.asyncDispose]();
      },
    };
  }

  describeJobStore("MongoDB", open);

  describe("what a process leaves that ends between two writes", () => {
    const job = (parts: Partial<NewJob> = {}): NewJob => ({
      ...{ id: newId(), kind: "k", groupKey: "g", tenantKey: "t", payload: {}, createdAtUs: 1 },
      ...parts,
    });
    const request = { kinds: ["k"], limit: 9, owner: "o", leaseMs: 30_000 };

    test("jobs that were staged and committed are made pending by whoever looks for work; those that were not are never seen", async () => {
      await using t = await open();
      const stage = (batchId: string, staged: NewJob) =>
        t.database.run((db) => jobsOf(db).insertOne({ ...documentOf(staged, 1, t.time.now()), status: "staged", batchId }));
      const [committed, uncommitted] = [job(), job()];
      await stage("b1", committed);
      await stage("b2", uncommitted);
      await t.database.run((db) => batchesOf(db).insertOne({ _id: "b1", state: "committed" }));
      expect(await t.store.find(committed.id)).toBeUndefined();
      const claimed = await t.store.claim({ ...request, nowUs: t.time.now() });
      expect(claimed.map(({ job: { id } }) => id)).toEqual([committed.id]);
      await t.time.advance(3_600_000);
      expect(await t.store.claim({ ...request, nowUs: t.time.now() })).toEqual([]);
      expect(await t.store.countByStatus("g")).toMatchObject({ pending: 0, processing: 1 });
      expect(await t.database.run((db) => jobsOf(db).countDocuments({}))).toBe(1);
    });

    test("a parent whose last child ended is finished for every reader", async () => {
      await using t = await open();
      const parent = job({ kind: "p", isParent: true });
      const child = job({ parentId: parent.id });
      await t.store.enqueue([parent, child]);
      const [held] = await t.store.claim({ ...request, nowUs: t.time.now() });
      await t.database.run((db) =>
        jobsOf(db).updateOne({ _id: held!.job.id }, { $set: { status: "completed", completedAtUs: 7, result: '{"n":1}' } }),
      );
      expect((await t.other.list({ groupKey: "g", status: "completed", limit: 9, offset: 0 })).total).toBe(2);
      expect(await t.store.get("g", parent.id)).toMatchObject({ status: "completed", result: { n: 1 }, completedAtUs: 7 });
    });

    test("a child of a cancelled parent is not started", async () => {
      await using t = await open();
      const parent = job({ kind: "p", isParent: true });
      await t.store.enqueue([parent, job({ parentId: parent.id }), job({ parentId: parent.id })]);
      await t.database.run((db) =>
        jobsOf(db).updateOne({ _id: parent.id }, { $set: { status: "cancelled", endsChildren: true } }),
      );
      expect(await t.store.claim({ ...request, nowUs: t.time.now() })).toEqual([]);
      expect((await t.store.children(parent.id)).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    });
  });
});
