import { AppError } from "@memory-bank/errors";
import { createVirtualTime } from "@memory-bank/lifecycle";
import { openSqlite } from "@memory-bank/storage";
import { createMeter, silentLogger } from "@memory-bank/telemetry";
import { describe, expect, test } from "vitest";
import type { JobStatus, JsonObject, NewJob } from "./job.ts";
import { createJobRunner, type JobHandler, type JobRun, type JobRunnerDeps } from "./job-runner.ts";
import type { JobStore } from "./job-store.ts";
import { retryEvery, retryWithBackoff } from "./retry-policy.ts";
import { completeJob } from "./sqlite/claimed-jobs.ts";
import { createSqliteJobStore } from "./sqlite/job-store.ts";
import { jobsMigration } from "./sqlite/jobs-migration.ts";

type Handle = JobHandler["handle"];

const POLL_MS = 500; // the runner's own; nobody nudges in these tests

function setUp() {
  const time = createVirtualTime();
  const db = openSqlite({ file: ":memory:", migrations: [jobsMigration] });
  const store = createSqliteJobStore(db, time);
  const other = createSqliteJobStore(db, time);
  const runners: AsyncDisposable[] = [];
  let count = 0;

  const runner = (handlers: Record<string, Partial<JobHandler>>, deps: Partial<JobRunnerDeps> = {}) => {
    const full = Object.fromEntries(
      Object.entries(handlers).map(([kind, handler]) => [kind, { concurrency: 1, handle: async () => null, ...handler }]),
    );
    const { now, timers } = time;
    const made = createJobRunner({ store, handlers: full, now, timers, log: silentLogger, owner: `runner-${++count}`, ...deps });
    runners.push(made);
    return made;
  };
  const started = (handle: Handle, parts: Partial<JobHandler> = {}, deps: Partial<JobRunnerDeps> = {}) => {
    const made = runner({ work: { handle, ...parts } }, deps);
    made.start();
    return made;
  };
  const add = async (parts: Partial<NewJob> = {}): Promise<string> => {
    const base = { id: crypto.randomUUID(), kind: "work", groupKey: "g", tenantKey: "t", payload: {}, createdAtUs: time.now() };
    const [enqueued] = await store.enqueue([{ ...base, ...parts }]);
    return enqueued!.job.id;
  };
  const get = (id: string) => store.get("g", id);
  const reaches = (id: string, status: JobStatus) => time.until(async () => (await get(id)).status === status);
  return {
    ...{ time, db, store, other, runner, started, add, get, reaches },
    async [Symbol.asyncDispose]() {
      // Stopping waits for handlers by timers, which stand still unless somebody moves them.
      await Promise.all([...runners.map((one) => one[Symbol.asyncDispose]()), time.advance(10_000)]);
      await db[Symbol.asyncDispose]();
    },
  };
}

/** A handler that waits until it is told to go on, and minds its signal. */
function gated() {
  const gate = Promise.withResolvers<JsonObject | null>();
  const runs: JobRun[] = [];
  const handle: Handle = (_job, run) => {
    runs.push(run);
    return Promise.race([
      gate.promise,
      new Promise<never>((_, reject) => run.signal.addEventListener("abort", () => reject(run.signal.reason))),
    ]);
  };
  return { handle, runs, open: gate.resolve };
}

describe("running jobs", () => {
  test("a handler's answer becomes the result, its progress is saved", async () => {
    await using t = setUp();
    t.started(async ({ payload }, { progress }) => {
      await progress({ stage: "reading", processed: 1, total: 2 });
      return { got: payload["n"] ?? null };
    });
    const id = await t.add({ payload: { n: 7 } });
    await t.reaches(id, "completed");
    expect(await t.get(id)).toMatchObject({ result: { got: 7 }, progress: { processed: 2, total: 2 } });
  });

  test("a handler may finish the job in a transaction of its own", async () => {
    await using t = setUp();
    t.started(async (_job, { claim }) => {
      await t.db.write((tx) => completeJob(tx, claim, { own: true }, t.time.now()));
      return "committed";
    });
    const id = await t.add();
    await t.reaches(id, "completed");
    expect((await t.get(id)).result).toEqual({ own: true });
  });

  test("a nudge starts work at once; without one it starts with the next poll", async () => {
    await using t = setUp();
    const made = t.started(async () => null);
    await t.time.advance(10);
    const nudged = await t.add();
    made.nudge();
    await t.time.advance(0);
    expect(await t.get(nudged)).toMatchObject({ status: "completed" });
    const polled = await t.add();
    await t.time.advance(300);
    expect(await t.get(polled)).toMatchObject({ status: "pending" });
    await t.time.advance(300);
    expect(await t.get(polled)).toMatchObject({ status: "completed" });
  });

  test("what is due before the next poll starts when it is due", async () => {
    await using t = setUp();
    const id = await t.add({ runAtUs: t.time.now() + 120_000 });
    t.started(async () => null);
    await t.time.advance(119);
    expect(await t.get(id)).toMatchObject({ status: "pending" });
    await t.time.advance(1);
    expect(await t.get(id)).toMatchObject({ status: "completed" });
  });

  test("each kind runs up to its own concurrency, and the next job starts as soon as one ends", async () => {
    await using t = setUp();
    const [slow, quick] = [gated(), gated()];
    t.runner({ slow: { handle: slow.handle, concurrency: 2 }, quick: { handle: quick.handle } }).start();
    for (const kind of ["slow", "slow", "slow", "quick", "quick"]) await t.add({ kind });
    await t.time.advance(2_000);
    expect([slow.runs.length, quick.runs.length]).toEqual([2, 1]);
    quick.open(null);
    await t.time.advance(0);
    expect([slow.runs.length, quick.runs.length]).toEqual([2, 2]);
  });

  test("jobs behind a serial key do not make the runner spin", async () => {
    await using t = setUp();
    let claims = 0;
    const counting: JobStore = {
      ...t.store,
      claim(request) {
        claims += 1;
        return t.store.claim(request);
      },
    };
    const gate = gated();
    t.started(gate.handle, { concurrency: 2 }, { store: counting });
    await t.add({ serialKey: "s" });
    await t.add({ serialKey: "s" });
    await t.time.advance(5_000);
    expect(gate.runs).toHaveLength(1);
    expect(claims).toBeLessThan(20);
  });
});

describe("failures", () => {
  test("by default three more tries a minute apart, then failed", async () => {
    await using t = setUp();
    const tries: number[] = [];
    t.started(async () => {
      tries.push(t.time.now());
      throw new AppError("unavailable", "MODEL_DOWN", "The model is down");
    });
    const id = await t.add();
    await t.time.advance(POLL_MS);
    expect(await t.get(id)).toMatchObject({ status: "pending", retryCount: 1, error: "The model is down" });
    await t.reaches(id, "failed");
    expect(tries.map((at) => (at - tries[0]!) / 60_000_000)).toEqual([0, 1, 2, 3]);
    expect(await t.get(id)).toMatchObject({ retryCount: 3, error: "The model is down" });
  });

  test("a failure that would repeat itself fails at once; an unknown one does not tell its text", async () => {
    await using t = setUp();
    t.started(
      async ({ payload }) => {
        throw payload["known"] ? new AppError("invalid_argument", "BAD", "Bad text") : new Error("password in here");
      },
      { retry: retryEvery({ delayMs: 1, retriesMax: 0 }) },
    );
    const [known, unknown] = [await t.add({ payload: { known: true } }), await t.add()];
    await t.reaches(known, "failed");
    await t.reaches(unknown, "failed");
    expect(await t.get(known)).toMatchObject({ retryCount: 0, error: "Bad text" });
    expect(await t.get(unknown)).toMatchObject({ error: "Internal error" });
  });

  test("a backoff doubles up to its cap and may go on for ever", () => {
    const policy = retryWithBackoff({ baseMs: 5_000, capMs: 1_800_000 });
    const error = new Error("x");
    const delays = [0, 1, 2, 8, 9, 5_000].map((retryCount) => policy({ error, job: {} as never, retryCount }));
    expect(delays).toEqual([5_000, 10_000, 20_000, 1_280_000, 1_800_000, 1_800_000]);
  });

  test("finished work survives a store that is away for a while", async () => {
    await using t = setUp();
    let failures = 0;
    const flaky: JobStore = {
      ...t.store,
      async complete(claim, result) {
        if (failures++ < 3) throw new AppError("unavailable", "STORE_UNAVAILABLE", "away");
        return await t.store.complete(claim, result);
      },
    };
    let handled = 0;
    t.started(async () => ({ handled: ++handled }), {}, { store: flaky });
    const id = await t.add();
    await t.reaches(id, "completed");
    expect((await t.get(id)).result).toEqual({ handled: 1 });
  });

  test("looking for work goes on after the store was away", async () => {
    await using t = setUp();
    let calls = 0;
    const flaky: JobStore = {
      ...t.store,
      async claim(request) {
        if (calls++ < 3) throw new AppError("unavailable", "STORE_UNAVAILABLE", "away");
        return await t.store.claim(request);
      },
    };
    t.started(async () => null, {}, { store: flaky });
    await t.reaches(await t.add(), "completed");
  });
});

describe("leases", () => {
  test("a long job keeps its lease", async () => {
    await using t = setUp();
    const gate = gated();
    t.started(gate.handle, {}, { leaseMs: 3_000 });
    const id = await t.add();
    const steal = () => t.other.claim({ kinds: ["work"], limit: 1, owner: "thief", leaseMs: 3_000, nowUs: t.time.now() });
    for (let second = 0; second < 20; second += 1) {
      await t.time.advance(1_000);
      expect(await steal()).toEqual([]);
    }
    gate.open({ done: true });
    await t.reaches(id, "completed");
    expect(gate.runs).toHaveLength(1);
  });

  test("a try whose end could not be recorded is repeated once its lease is over", async () => {
    await using t = setUp();
    let tries = 0;
    const policy = () => {
      throw new Error("a mistake in the policy");
    };
    const handle: Handle = async () => {
      tries += 1;
      if (tries === 1) throw new Error("first try");
      return { tries };
    };
    t.started(handle, { retry: policy }, { leaseMs: 3_000 });
    const id = await t.add();
    await t.reaches(id, "completed");
    expect(await t.get(id)).toMatchObject({ result: { tries: 2 }, retryCount: 0 });
  });

  test("a lost lease aborts the handler, and its outcome counts for nothing", async () => {
    await using t = setUp();
    const gate = gated();
    t.started(gate.handle, {}, { leaseMs: 3_000 });
    const id = await t.add();
    await t.time.advance(POLL_MS);
    expect(await t.store.cancelGroup("g")).toBe(1);
    await t.time.advance(1_000);
    expect(gate.runs[0]?.signal.reason).toMatchObject({ reason: "LEASE_LOST" });
    expect(await t.get(id)).toMatchObject({ status: "cancelled", error: null });
  });
});

describe("stop", () => {
  test("waits for what runs and takes nothing new", async () => {
    await using t = setUp();
    const gate = gated();
    const made = t.started(gate.handle);
    const [first, second] = [await t.add(), await t.add()];
    await t.time.advance(POLL_MS);
    const stopped = made.stop();
    await t.time.advance(1_000);
    gate.open({ done: true });
    await stopped;
    expect(await t.get(first)).toMatchObject({ status: "completed" });
    await t.time.advance(5_000);
    expect(await t.get(second)).toMatchObject({ status: "pending", epoch: 0 });
  });

  test("aborts what takes too long and gives it back uncounted", async () => {
    await using t = setUp();
    const gate = gated();
    const made = t.started(gate.handle);
    const id = await t.add();
    await t.time.advance(POLL_MS);
    const stopped = made.stop({ timeoutMs: 2_000 });
    await t.time.advance(2_000);
    await stopped;
    expect(gate.runs[0]?.signal.reason).toMatchObject({ reason: "RUNNER_STOPPING" });
    expect(await t.get(id)).toMatchObject({ status: "pending", retryCount: 0, error: null });
  });

  test("a handler that ignores its signal loses the job, and can no longer finish it", async () => {
    await using t = setUp();
    const deaf = Promise.withResolvers<null>();
    const made = t.started(() => deaf.promise);
    const id = await t.add();
    await t.time.advance(POLL_MS);
    const stopped = made.stop({ timeoutMs: 100 });
    await t.time.advance(5_000);
    await stopped;
    expect(await t.get(id)).toMatchObject({ status: "pending" });
    deaf.resolve(null);
    await t.time.advance(100);
    expect(await t.get(id)).toMatchObject({ status: "pending" });
  });
});

test("outcomes are counted by kind", async () => {
  await using t = setUp();
  const meter = createMeter();
  t.started(async () => null, {}, { meter });
  await t.reaches(await t.add(), "completed");
  await t.time.advance(0);
  expect(await meter.render()).toContain('jobs_finished_total{kind="work",outcome="completed"} 1');
});
