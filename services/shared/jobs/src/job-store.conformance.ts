import type { VirtualTime } from "@memory-bank/lifecycle";
import { describe, expect, test } from "vitest";
import type { Claim, Job, NewJob } from "./job.ts";
import type { ClaimedJob, JobStore } from "./job-store.ts";

/** An adapter opened for one test: two handles on the same data, as two processes would have, and the clock of both. */
export type OpenedJobStore = { store: JobStore; other: JobStore; time: VirtualTime } & AsyncDisposable;

const LEASE_MS = 30_000;

/** The contract of `JobStore`, for every adapter. */
export function describeJobStore(name: string, open: () => Promise<OpenedJobStore>): void {
  /** A fresh group with helpers, so that tests never meet each other's jobs. */
  async function setUp() {
    const opened = await open();
    const groupKey = crypto.randomUUID();
    const kind = `kind-${groupKey}`;
    const { store, time } = opened;
    const newJob = (parts: Partial<NewJob> = {}): NewJob => ({
      id: crypto.randomUUID(),
      kind,
      groupKey,
      tenantKey: "tenant",
      payload: {},
      createdAtUs: time.now(),
      ...parts,
    });
    const add = async (parts: Partial<NewJob> = {}): Promise<Job> => (await store.enqueue([newJob(parts)]))[0]!.job;
    const claim = (
      limit = 10,
      from: JobStore = store,
      owner = from === store ? "first" : "second",
    ): Promise<readonly ClaimedJob[]> => from.claim({ kinds: [kind], limit, owner, leaseMs: LEASE_MS, nowUs: time.now() });
    const claimOne = async (): Promise<Claim> => (await claim(1))[0]!.claim;
    const get = (id: string): Promise<Job> => store.get(groupKey, id);
    const family = async (size: number, parts: Partial<NewJob> = {}): Promise<{ parentId: string; childIds: string[] }> => {
      const parentId = crypto.randomUUID();
      const children = Array.from({ length: size }, (_, index) => newJob({ parentId, index, ...parts }));
      await store.enqueue([newJob({ id: parentId, kind: `${kind}-parent`, isParent: true }), ...children]);
      return { parentId, childIds: children.map(({ id }) => id) };
    };
    return {
      ...{ store, other: opened.other, time, groupKey, kind, newJob, add, claim, claimOne, get, family },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }
  const ids = (claimed: readonly ClaimedJob[]): string[] => claimed.map(({ job }) => job.id);
  const lost = { code: "conflict", reason: "LEASE_LOST" };

  describe(`JobStore: ${name}`, () => {
    describe("enqueue and read", () => {
      test("a job comes back as it was given, pending and untouched", async () => {
        await using t = await setUp();
        const given = t.newJob({
          payload: { text: "Grüße \u{1F600}", list: [1, null, { deep: true }] },
          details: { items: 2 },
          serialKey: "s",
          dedupeKey: `d-${t.groupKey}`,
          priority: 3,
          index: 4,
          total: 5,
        });
        const [enqueued] = await t.store.enqueue([given]);
        const { total, ...rest } = given;
        expect(total).toBe(5);
        expect(enqueued).toEqual({ job: await t.get(given.id), deduplicated: false });
        expect(enqueued?.job).toEqual({
          ...rest,
          isParent: false,
          parentId: null,
          status: "pending",
          retryCount: 0,
          nextRunAtUs: given.createdAtUs,
          epoch: 0,
          progress: null,
          result: null,
          error: null,
          updatedAtUs: t.time.now(),
          completedAtUs: null,
        });
      });

      test("an id that is taken refuses the whole call and keeps the first job", async () => {
        await using t = await setUp();
        const first = await t.add({ payload: { n: 1 } });
        const another = t.newJob();
        const call = t.store.enqueue([another, t.newJob({ id: first.id, payload: { n: 2 } })]);
        await expect(call).rejects.toMatchObject({ code: "already_exists" });
        expect((await t.get(first.id)).payload).toEqual({ n: 1 });
        expect(await t.store.find(another.id)).toBeUndefined();
      });

      test("a job is found in its own group only", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        const notFound = { code: "not_found", reason: "JOB_NOT_FOUND" };
        await expect(t.store.get(t.groupKey.toUpperCase(), id)).rejects.toMatchObject(notFound);
        await expect(t.get(crypto.randomUUID())).rejects.toMatchObject(notFound);
        for (const call of ["cancel", "requeue", "remove"] as const) {
          await expect(t.store[call]("another group", id)).rejects.toMatchObject(notFound);
        }
        expect(await t.store.find(id)).toMatchObject({ id });
      });

      test("a pending job with the same dedupe key is answered, and starts at the earlier time", async () => {
        await using t = await setUp();
        const dedupeKey = `once-${t.groupKey}`;
        const first = await t.add({ dedupeKey, runAtUs: t.time.now() + 9_000_000 });
        const [again] = await t.store.enqueue([t.newJob({ dedupeKey, runAtUs: t.time.now() + 5_000_000 })]);
        expect(again).toMatchObject({ deduplicated: true, job: { id: first.id, nextRunAtUs: t.time.now() + 5_000_000 } });
        await t.add({ dedupeKey, runAtUs: t.time.now() + 8_000_000 });
        expect((await t.get(first.id)).nextRunAtUs).toBe(t.time.now() + 5_000_000);
        expect(await t.store.enqueue([t.newJob({ dedupeKey: dedupeKey.toUpperCase() })])).toMatchObject([
          { deduplicated: false },
        ]);
      });

      test("a running job does not stand in for a new one", async () => {
        await using t = await setUp();
        const dedupeKey = `once-${t.groupKey}`;
        const first = await t.add({ dedupeKey });
        await t.claimOne();
        const twins = await t.store.enqueue([t.newJob({ dedupeKey }), t.newJob({ dedupeKey })]);
        expect(twins.map(({ deduplicated }) => deduplicated)).toEqual([false, true]);
        expect(twins[0]?.job.id).not.toBe(first.id);
        expect(twins[1]?.job.id).toBe(twins[0]?.job.id);
      });

      test("lists are newest first with ties by id, and filter by status, kind and parenthood", async () => {
        await using t = await setUp();
        const sameTime = ["a", "c", "b"].map((letter) => t.newJob({ id: `${letter}-${t.groupKey}` }));
        await t.store.enqueue([
          ...sameTime,
          t.newJob({ id: `0-${t.groupKey}`, createdAtUs: t.time.now() + 1, kind: `${t.kind}-x` }),
        ]);
        await t.family(1, { createdAtUs: t.time.now() - 10 });
        const page = (query: object = {}) => t.store.list({ groupKey: t.groupKey, limit: 10, offset: 0, ...query });
        const all = await page();
        expect(all.total).toBe(6);
        expect(all.items.slice(0, 1)).toMatchObject([{ id: `0-${t.groupKey}` }]);
        expect(all.items.filter(({ id }) => sameTime.some((job) => job.id === id)).map(({ id }) => id[0])).toEqual([
          "c",
          "b",
          "a",
        ]);
        expect(all.items[0]).not.toHaveProperty("payload");
        expect(await page({ offset: 1, limit: 2 })).toEqual({ total: 6, items: all.items.slice(1, 3) });
        expect(await page({ offset: 6 })).toEqual({ total: 6, items: [] });
        expect((await page({ kind: `${t.kind}-x` })).total).toBe(1);
        expect((await page({ excludeParents: true })).items.every(({ isParent }) => !isParent)).toBe(true);
        expect((await page({ excludeParents: true })).total).toBe(5);
        expect(await page({ status: "failed" })).toEqual({ total: 0, items: [] });
        expect((await t.store.list({ groupKey: "another", limit: 10, offset: 0 })).total).toBe(0);
      });

      test.each([0, 1_001])("a page of %i is refused", async (limit) => {
        await using t = await setUp();
        const call = t.store.list({ groupKey: t.groupKey, limit, offset: 0 });
        await expect(call).rejects.toMatchObject({ code: "invalid_argument" });
      });

      test("counts are by status, zeros included", async () => {
        await using t = await setUp();
        await Promise.all([t.add(), t.add(), t.add()]);
        await t.store.fail(await t.claimOne(), "broken");
        await t.claimOne();
        expect(await t.store.countByStatus(t.groupKey)).toEqual({
          pending: 1,
          processing: 1,
          completed: 0,
          failed: 1,
          cancelled: 0,
        });
      });
    });

    describe("claim", () => {
      test("order is priority, then due time, then the order of adding; what is not due stays", async () => {
        await using t = await setUp();
        const now = t.time.now();
        const late = await t.add({ runAtUs: now - 1 });
        const early = await t.add({ runAtUs: now - 2 });
        const [second, third] = [await t.add({ runAtUs: now - 1 }), await t.add({ runAtUs: now })];
        const urgent = await t.add({ priority: 1 });
        await t.add({ priority: 9, runAtUs: now + 1 });
        expect(ids(await t.claim(2))).toEqual([urgent.id, early.id]);
        expect(ids(await t.claim())).toEqual([late.id, second.id, third.id]);
        expect(await t.claim()).toEqual([]);
      });

      test("only the kinds asked for are taken, in one order over all of them", async () => {
        await using t = await setUp();
        const kinds = ["x", "y"].map((letter) => `${t.kind}-${letter}`);
        const [x, , y] = [await t.add({ kind: kinds[0]! }), await t.add(), await t.add({ kind: kinds[1]!, priority: 1 })];
        const claimed = await t.store.claim({ kinds, limit: 9, owner: "o", leaseMs: LEASE_MS, nowUs: t.time.now() });
        expect(ids(claimed)).toEqual([y!.id, x!.id]);
      });

      test("a claim says who holds it, and moves the epoch each time", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        const [first] = await t.claim();
        expect(first).toMatchObject({ claim: { jobId: id, owner: "first" }, job: { status: "processing", nextRunAtUs: null } });
        await t.store.release(first!.claim);
        const [second] = await t.claim();
        expect(second!.claim.epoch).toBeGreaterThan(first!.claim.epoch);
        expect(second!.job).toMatchObject({ epoch: second!.claim.epoch, retryCount: 0 });
      });

      test("two stores at once never take the same job", async () => {
        await using t = await setUp();
        await t.store.enqueue(Array.from({ length: 40 }, () => t.newJob()));
        const rounds = await Promise.all(Array.from({ length: 8 }, (_, n) => t.claim(7, n % 2 ? t.store : t.other)));
        const taken = rounds.flatMap(ids);
        expect(taken).toHaveLength(40);
        expect(new Set(taken).size).toBe(40);
      });

      test("one job per serial key runs, others do not wait for it", async () => {
        await using t = await setUp();
        const serialKey = `doc-${t.groupKey}`;
        const [first, second] = [await t.add({ serialKey }), await t.add({ serialKey })];
        const [other, plain] = [await t.add({ serialKey: `${serialKey}-2` }), await t.add()];
        const claimed = await t.claim();
        expect(ids(claimed)).toEqual([first!.id, other!.id, plain!.id]);
        expect(await t.claim(10, t.other)).toEqual([]);
        await t.store.complete(claimed[0]!.claim, null);
        expect(ids(await t.claim(10, t.other))).toEqual([second!.id]);
      });

      test.each([0, 65])("taking %i is refused", async (limit) => {
        await using t = await setUp();
        await expect(t.claim(limit)).rejects.toMatchObject({ code: "invalid_argument" });
      });

      test("the next due time is the earliest pending one of the kinds", async () => {
        await using t = await setUp();
        expect(await t.store.nextDueUs([t.kind])).toBeNull();
        await t.add({ runAtUs: t.time.now() + 7 });
        await t.add({ runAtUs: t.time.now() + 5, kind: `${t.kind}-x` });
        await t.family(1, { runAtUs: t.time.now() + 6 });
        expect(await t.store.nextDueUs([t.kind])).toBe(t.time.now() + 6);
        expect(await t.store.nextDueUs([t.kind, `${t.kind}-x`])).toBe(t.time.now() + 5);
      });
    });

    describe("ends of a try", () => {
      test("completed", async () => {
        await using t = await setUp();
        const { id } = await t.add({ total: 3 });
        const claim = await t.claimOne();
        await t.time.advance(5);
        await t.store.complete(claim, { made: 2 });
        const at = t.time.now();
        const progress = { stage: "completed", processed: 3, total: 3, atUs: at };
        expect(await t.get(id)).toMatchObject({
          status: "completed",
          result: { made: 2 },
          error: null,
          completedAtUs: at,
          updatedAtUs: at,
          progress,
        });
      });

      test("to be tried again: pending until then, with the error and one more try", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        const runAtUs = t.time.now() + 60_000_000;
        expect(await t.store.retryAt(await t.claimOne(), runAtUs, "not now")).toBe("pending");
        expect(await t.get(id)).toMatchObject({
          status: "pending",
          retryCount: 1,
          nextRunAtUs: runAtUs,
          error: "not now",
          completedAtUs: null,
        });
        expect(await t.claim()).toEqual([]);
        await t.time.advance(60_000);
        expect(ids(await t.claim())).toEqual([id]);
      });

      test("failed, with the error cut to its limit", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        await t.store.fail(await t.claimOne(), "x".repeat(6_000));
        expect(await t.get(id)).toMatchObject({ status: "failed", error: "x".repeat(5_000), completedAtUs: t.time.now() });
      });

      test("released: due at once and not counted", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        expect(await t.store.release(await t.claimOne())).toBe("pending");
        expect(await t.get(id)).toMatchObject({ status: "pending", retryCount: 0, error: null, nextRunAtUs: t.time.now() });
      });

      test.each(["retryAt", "release"] as const)("%s ends the job when another pending one has its dedupe key", async (call) => {
        await using t = await setUp();
        const dedupeKey = `once-${t.groupKey}`;
        const { id } = await t.add({ dedupeKey });
        const claim = await t.claimOne();
        const twin = await t.add({ dedupeKey });
        const back = call === "release" ? t.store.release(claim) : t.store.retryAt(claim, t.time.now(), "not now");
        expect(await back).toBe("superseded");
        expect(await t.get(id)).toMatchObject({ status: "cancelled", error: expect.stringContaining(twin.id) });
        expect(await t.get(twin.id)).toMatchObject({ status: "pending" });
      });

      test("progress is kept with its time", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        const claim = await t.claimOne();
        await t.store.setProgress(claim, { stage: "reading", processed: 1, total: 4 });
        expect((await t.get(id)).progress).toEqual({ stage: "reading", processed: 1, total: 4, atUs: t.time.now() });
      });

      test("every write of a claim that is over fails and changes nothing", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        const claim = await t.claimOne();
        await t.store.release(claim);
        for (const isHeldByAnother of [false, true]) {
          if (isHeldByAnother) await t.claim(1, t.other);
          const before = await t.get(id);
          await expect(t.store.complete(claim, {})).rejects.toMatchObject(lost);
          await expect(t.store.fail(claim, "x")).rejects.toMatchObject(lost);
          await expect(t.store.retryAt(claim, 0, "x")).rejects.toMatchObject(lost);
          await expect(t.store.release(claim)).rejects.toMatchObject(lost);
          await expect(t.store.setProgress(claim, { stage: "x", processed: 1, total: 1 })).rejects.toMatchObject(lost);
          expect(await t.store.heartbeat([claim])).toEqual([claim]);
          expect(await t.get(id)).toEqual(before);
        }
      });
    });

    describe("leases", () => {
      /** Lets the other store look every `stepMs`, after each of `steps` pauses; answers what it took. */
      const watch = async (t: Awaited<ReturnType<typeof setUp>>, steps: number, stepMs: number): Promise<ClaimedJob[]> => {
        const taken = [...(await t.claim(1, t.other))];
        for (let step = 0; step < steps; step += 1) {
          await t.time.advance(stepMs);
          taken.push(...(await t.claim(1, t.other)));
        }
        return taken;
      };

      test("one that is renewed is kept, one that stands still for its time is over", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        const [held] = await t.claim();
        for (let beat = 0; beat < 5; beat += 1) {
          expect(await watch(t, 3, LEASE_MS / 4)).toEqual([]);
          expect(await t.store.heartbeat([held!.claim])).toEqual([]);
        }
        const taken = await watch(t, 4, LEASE_MS / 4);
        expect(taken).toMatchObject([{ job: { id, retryCount: 0 }, claim: { owner: "second" } }]);
        await expect(t.store.complete(held!.claim, null)).rejects.toMatchObject(lost);
      });

      test("nothing is over before it was watched for the lease time, however old it is", async () => {
        await using t = await setUp();
        await t.add();
        await t.claim();
        await t.time.advance(LEASE_MS * 10);
        expect(await watch(t, 3, LEASE_MS / 4)).toEqual([]);
      });

      test("an observer that stood still itself starts to watch anew", async () => {
        await using t = await setUp();
        await t.add();
        await t.claim();
        expect(await watch(t, 3, LEASE_MS)).toEqual([]);
        expect(await watch(t, 4, LEASE_MS / 4)).toHaveLength(1);
      });

      test("reclaimAll gives back what runs, of one owner or of all", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        const claim = await t.claimOne();
        expect(await t.store.reclaimAll("second")).toBe(0);
        expect(await t.store.reclaimAll("first")).toBe(1);
        expect(await t.get(id)).toMatchObject({ status: "pending", retryCount: 0 });
        await expect(t.store.complete(claim, null)).rejects.toMatchObject(lost);
      });
    });

    describe("what people do to jobs", () => {
      test("only a pending job is cancelled", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        const claim = await t.claimOne();
        await expect(t.store.cancel(t.groupKey, id)).rejects.toMatchObject({
          code: "failed_precondition",
          reason: "JOB_NOT_PENDING",
        });
        await t.store.release(claim);
        expect(await t.store.cancel(t.groupKey, id)).toMatchObject({
          status: "cancelled",
          completedAtUs: t.time.now(),
          nextRunAtUs: null,
        });
        await expect(t.store.cancel(t.groupKey, id)).rejects.toMatchObject({ reason: "JOB_NOT_PENDING" });
        expect(await t.claim()).toEqual([]);
      });

      test("a failed or cancelled job is queued again from the beginning", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        await expect(t.store.requeue(t.groupKey, id)).rejects.toMatchObject({ reason: "JOB_NOT_RETRYABLE" });
        await t.store.retryAt(await t.claimOne(), t.time.now(), "once");
        await t.store.fail(await t.claimOne(), "twice");
        const again = {
          status: "pending",
          retryCount: 0,
          error: null,
          completedAtUs: null,
          progress: null,
          nextRunAtUs: t.time.now(),
        };
        expect(await t.store.requeue(t.groupKey, id)).toMatchObject(again);
        await t.store.cancel(t.groupKey, id);
        expect(await t.store.requeue(t.groupKey, id)).toMatchObject(again);
        await t.store.complete(await t.claimOne(), null);
        const refused = t.store.requeue(t.groupKey, id);
        await expect(refused).rejects.toMatchObject({ code: "failed_precondition", reason: "JOB_NOT_RETRYABLE" });
      });

      test("it is not queued twice under one dedupe key", async () => {
        await using t = await setUp();
        const dedupeKey = `once-${t.groupKey}`;
        const { id } = await t.add({ dedupeKey });
        await t.store.fail(await t.claimOne(), "broken");
        await t.add({ dedupeKey });
        const refused = t.store.requeue(t.groupKey, id);
        await expect(refused).rejects.toMatchObject({ code: "failed_precondition", reason: "JOB_ALREADY_PENDING" });
        expect(await t.get(id)).toMatchObject({ status: "failed" });
      });

      test("only a finished job is removed", async () => {
        await using t = await setUp();
        const { id } = await t.add();
        await expect(t.store.remove(t.groupKey, id)).rejects.toMatchObject({
          code: "failed_precondition",
          reason: "JOB_NOT_FINISHED",
        });
        await t.store.cancel(t.groupKey, id);
        await t.store.remove(t.groupKey, id);
        expect(await t.store.find(id)).toBeUndefined();
      });

      test("cancelling a group ends waiting and running jobs, whose claims are lost, and leaves the rest", async () => {
        await using t = await setUp();
        const outside = await t.add({ groupKey: `${t.groupKey}-2`, runAtUs: t.time.now() + 1 });
        const done = await t.add();
        await t.store.complete(await t.claimOne(), null);
        const { parentId } = await t.family(2);
        const [running] = await t.claim(1);
        const waiting = await t.add();
        expect(await t.store.cancelGroup(t.groupKey)).toBe(3);
        await expect(t.store.complete(running!.claim, null)).rejects.toMatchObject(lost);
        expect(await t.store.heartbeat([running!.claim])).toHaveLength(1);
        for (const id of [running!.job.id, waiting.id, parentId]) expect(await t.get(id)).toMatchObject({ status: "cancelled" });
        expect(await t.get(done.id)).toMatchObject({ status: "completed" });
        expect(await t.store.find(outside.id)).toMatchObject({ status: "pending" });
      });

      test("purging a group forgets all of it, however large, and nothing else", async () => {
        await using t = await setUp();
        const outside = await t.add({ groupKey: `${t.groupKey}-2` });
        await t.store.enqueue(Array.from({ length: 1_100 }, () => t.newJob({ runAtUs: t.time.now() + 1 })));
        const { id } = await t.add({ priority: 1 });
        const claim = await t.claimOne();
        expect(await t.store.purgeGroup(t.groupKey)).toBe(1_101);
        expect((await t.store.list({ groupKey: t.groupKey, limit: 1, offset: 0 })).total).toBe(0);
        await expect(t.store.complete(claim, null)).rejects.toMatchObject(lost);
        expect(await t.store.find(id)).toBeUndefined();
        expect(await t.store.find(outside.id)).toBeDefined();
      });
    });

    describe("families", () => {
      test("a parent waits with its children, runs with the first, and ends with the last", async () => {
        await using t = await setUp();
        const { parentId, childIds } = await t.family(2, { total: 5 });
        expect(await t.get(parentId)).toMatchObject({ status: "pending", progress: null, result: null });
        expect((await t.store.children(parentId)).map(({ id }) => id)).toEqual(childIds);
        const claimed = await t.claim(1);
        expect(ids(claimed)).toEqual([childIds[0]]);
        expect(await t.get(parentId)).toMatchObject({ status: "processing" });
        await t.store.setProgress(claimed[0]!.claim, { stage: "reading", processed: 2, total: 5 });
        expect((await t.get(parentId)).progress).toEqual({ stage: "reading", processed: 2, total: 10, atUs: t.time.now() });
        await t.store.complete(claimed[0]!.claim, { items: 5, tokens: { in: 10, out: 1 }, note: "x" });
        expect(await t.get(parentId)).toMatchObject({ status: "processing", completedAtUs: null, result: null });
        await t.store.complete(await t.claimOne(), { items: 4, tokens: { in: 2 } });
        expect(await t.get(parentId)).toMatchObject({
          status: "completed",
          completedAtUs: t.time.now(),
          progress: { stage: "completed", processed: 10, total: 10 },
          result: { items: 9, tokens: { in: 12, out: 1 } },
        });
      });

      test("a parent is never claimed and does not hold anything up", async () => {
        await using t = await setUp();
        await t.family(1, { runAtUs: t.time.now() + 1 });
        const claimed = await t.store.claim({
          kinds: [`${t.kind}-parent`],
          limit: 9,
          owner: "o",
          leaseMs: 1,
          nowUs: t.time.now(),
        });
        expect(claimed).toEqual([]);
        expect(await t.store.nextDueUs([`${t.kind}-parent`])).toBeNull();
      });

      test("it failed if any child failed, with the most common error and the earliest of them in a tie", async () => {
        await using t = await setUp();
        const { parentId } = await t.family(5);
        const claims = (await t.claim()).map(({ claim }) => claim);
        const errors = ["rare", "common", "common", "rare", undefined];
        for (const [index, claim] of claims.entries()) {
          const error = errors[index];
          await (error === undefined ? t.store.complete(claim, null) : t.store.fail(claim, error));
        }
        expect(await t.get(parentId)).toMatchObject({ status: "failed", error: "rare" });
      });

      test("it was cancelled if all children were, otherwise it completed", async () => {
        await using t = await setUp();
        const cancelled = await t.family(2);
        await t.store.cancel(t.groupKey, cancelled.childIds[0]!);
        expect(await t.get(cancelled.parentId)).toMatchObject({ status: "pending" });
        await t.store.cancel(t.groupKey, cancelled.childIds[1]!);
        expect(await t.get(cancelled.parentId)).toMatchObject({ status: "cancelled" });
        const mixed = await t.family(2);
        await t.store.cancel(t.groupKey, mixed.childIds[1]!);
        await t.store.complete(await t.claimOne(), null);
        expect(await t.get(mixed.parentId)).toMatchObject({ status: "completed" });
      });

      test("cancelling a parent ends its children, unless one has started", async () => {
        await using t = await setUp();
        const { parentId } = await t.family(2);
        expect(await t.store.cancel(t.groupKey, parentId)).toMatchObject({ status: "cancelled" });
        expect((await t.store.children(parentId)).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
        const started = await t.family(2);
        await t.claimOne();
        await expect(t.store.cancel(t.groupKey, started.parentId)).rejects.toMatchObject({ reason: "JOB_NOT_PENDING" });
      });

      test("retrying a parent queues what did not succeed, and it ends anew", async () => {
        await using t = await setUp();
        const { parentId, childIds } = await t.family(3);
        await t.store.cancel(t.groupKey, childIds[2]!);
        await t.store.complete(await t.claimOne(), { items: 1 });
        await t.store.fail(await t.claimOne(), "broken");
        expect(await t.get(parentId)).toMatchObject({ status: "failed" });
        expect(await t.store.requeue(t.groupKey, parentId)).toMatchObject({
          status: "processing",
          error: null,
          completedAtUs: null,
        });
        expect((await t.store.children(parentId)).map(({ status }) => status)).toEqual(["completed", "pending", "pending"]);
        for (const { claim } of await t.claim()) await t.store.complete(claim, { items: 1 });
        expect(await t.get(parentId)).toMatchObject({ status: "completed", result: { items: 3 } });
        await expect(t.store.requeue(t.groupKey, parentId)).rejects.toMatchObject({ reason: "JOB_NOT_RETRYABLE" });
      });

      test("retrying one child revives its parent", async () => {
        await using t = await setUp();
        const { parentId, childIds } = await t.family(1);
        await t.store.fail(await t.claimOne(), "broken");
        await t.store.requeue(t.groupKey, childIds[0]!);
        expect(await t.get(parentId)).toMatchObject({
          error: null,
          completedAtUs: null,
          nextRunAtUs: expect.toSatisfy(() => true),
        });
        await t.store.complete(await t.claimOne(), null);
        expect(await t.get(parentId)).toMatchObject({ status: "completed" });
      });

      test("removing a parent removes its children", async () => {
        await using t = await setUp();
        const { parentId, childIds } = await t.family(2);
        await expect(t.store.remove(t.groupKey, parentId)).rejects.toMatchObject({ reason: "JOB_NOT_FINISHED" });
        await t.store.cancel(t.groupKey, parentId);
        await t.store.remove(t.groupKey, parentId);
        for (const id of [parentId, ...childIds]) expect(await t.store.find(id)).toBeUndefined();
      });

      test("odd families are refused as a whole", async () => {
        await using t = await setUp();
        const invalid = { code: "invalid_argument", reason: "INVALID_JOB" };
        const stranger = await t.add();
        const { parentId } = await t.family(1);
        const calls = [
          [t.newJob({ isParent: true })],
          [t.newJob({ parentId: crypto.randomUUID() })],
          [t.newJob({ parentId: stranger.id })],
          [t.newJob({ parentId, groupKey: `${t.groupKey}-2` })],
          [t.newJob({ parentId, dedupeKey: "d" })],
          Array.from({ length: 10_001 }, () => t.newJob()),
        ];
        for (const jobs of calls) await expect(t.store.enqueue(jobs)).rejects.toMatchObject(invalid);
        expect((await t.store.list({ groupKey: t.groupKey, limit: 10, offset: 0 })).total).toBe(3);
      });
    });
  });
}
