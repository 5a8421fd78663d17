import { AppError, isAppError } from "@memory-bank/errors";
import { systemTimers, type TimerHandle, type Timers } from "@memory-bank/lifecycle";
import { type Logger, type Meter, withSpan } from "@memory-bank/telemetry";
import type { Claim, Job, JsonObject } from "./job.ts";
import type { ClaimedJob, JobStore } from "./job-store.ts";
import { defaultRetryPolicy, type RetryPolicy } from "./retry-policy.ts";

/** What a handler gets beside the job. */
export interface JobRun {
  /** Aborts when the lease is lost, the job was cancelled with its group, or the runner stops. Then give up and throw. */
  readonly signal: AbortSignal;
  readonly claim: Claim;
  /** Saves how far it is; each call is a write. */
  progress(progress: { stage: string; processed: number; total: number }): Promise<void>;
}

export interface JobHandler {
  /** `"committed"`: it finished the job in a transaction of its own (`completeJob`). Otherwise the runner completes with the answer. */
  handle(job: Job, run: JobRun): Promise<"committed" | JsonObject | null>;
  /** What a failure means; `defaultRetryPolicy` unless told. */
  readonly retry?: RetryPolicy;
  /** Jobs of this kind at once in this process. */
  readonly concurrency: number;
}

/** How a job ended for good. A committed one was ended by its handler, perhaps as failed: its record tells. */
export type JobEnd = { readonly status: "completed" | "committed" } | { readonly status: "failed"; readonly error: string };

export interface JobRunnerDeps {
  readonly store: JobStore;
  /** By kind. Other kinds are left to other runners. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  /** Microseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
  /** Different for every runner of every process, for example a fresh id. */
  readonly owner: string;
  /** Called after a job has ended here, with the job as it was taken. What it throws is logged and changes nothing. */
  readonly onEnded?: (job: Job, end: JobEnd) => Promise<void>;
  readonly pollMs?: number;
  readonly leaseMs?: number;
  readonly timers?: Timers;
  readonly meter?: Meter;
}

export interface JobRunner extends AsyncDisposable {
  start(): void;
  /** Looks for work now instead of at the next poll; call it after a commit that enqueued. */
  nudge(): void;
  /**
   * Takes no more work, and waits up to `timeoutMs` for what runs. What is not done by then is aborted and given back, not
   * counted as a try. Disposing is the same.
   */
  stop(options?: { timeoutMs?: number }): Promise<void>;
}

const POLL_MS = 500; // how late work starts when nobody nudges: another process enqueued it
const LEASE_MS = 30_000; // how long work of a dead process waits for another one
const HEARTBEATS_PER_LEASE = 3; // two may get lost
const STOP_TIMEOUT_MS = 5_000; // leaves the other half of the process's ten seconds to the rest
const ABORT_GRACE_MS = 1_000; // for handlers to notice the signal

interface Running extends ClaimedJob {
  readonly abort: AbortController;
  done: Promise<void>;
}

/** Takes jobs from a store and runs their handlers, each kind with its own concurrency, keeping their leases alive. */
export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  const { store, handlers, now, log, owner, pollMs = POLL_MS, leaseMs = LEASE_MS, timers = systemTimers, meter } = deps;
  const finished = meter?.counter({ name: "jobs_finished_total", help: "Tries by outcome", labels: ["kind", "outcome"] });
  const duration = meter?.histogram({ name: "job_duration_seconds", help: "Time of one try", labels: ["kind"] });
  const running = new Set<Running>();
  let state: "new" | "started" | "stopped" = "new";
  let isLooking = false;
  let shallLookAgain = false;
  let pollTimer: TimerHandle;
  let heartbeatTimer: TimerHandle;

  async function look(): Promise<void> {
    if (state !== "started") return;
    shallLookAgain = true;
    if (isLooking) return;
    isLooking = true;
    timers.clearTimeout(pollTimer);
    let delayMs = pollMs;
    try {
      while (shallLookAgain && state === "started") {
        shallLookAgain = false;
        for (const [kind, { concurrency }] of Object.entries(handlers)) await takeUp(kind, concurrency);
        delayMs = await untilNextDue();
      }
    } catch (error) {
      log.warn({ err: error, owner }, "could not look for jobs");
    } finally {
      isLooking = false;
    }
    if (state === "started") pollTimer = timers.setTimeout(look, delayMs);
  }

  async function takeUp(kind: string, concurrency: number): Promise<void> {
    const limit = concurrency - countRunning(kind);
    if (limit <= 0 || state !== "started") return;
    const claimed = await store.claim({ kinds: [kind], limit, owner, leaseMs, nowUs: now() });
    for (const one of claimed) begin(one);
  }

  function countRunning(kind: string): number {
    return [...running].filter(({ job }) => job.kind === kind).length;
  }

  /** A job that is due and still there waits for something else (its serial key), so it gives no reason to hurry. */
  async function untilNextDue(): Promise<number> {
    const free = Object.entries(handlers).flatMap(([kind, { concurrency }]) => (countRunning(kind) < concurrency ? [kind] : []));
    const dueUs = free.length === 0 ? null : await store.nextDueUs(free);
    const waitMs = dueUs === null ? pollMs : Math.ceil((dueUs - now()) / 1_000);
    return waitMs > 0 ? Math.min(waitMs, pollMs) : pollMs;
  }

  function begin(claimed: ClaimedJob): void {
    const entry: Running = { ...claimed, abort: new AbortController(), done: Promise.resolve() };
    running.add(entry);
    // Claimed while `stop` was called: given back at once.
    if (state === "stopped") entry.abort.abort(stopping());
    entry.done = runOne(entry).then(() => {
      running.delete(entry);
      void look();
    });
  }

  async function runOne(entry: Running): Promise<void> {
    const startedUs = now();
    const outcome = await outcomeOf(entry);
    finished?.add({ kind: entry.job.kind, outcome });
    duration?.observe((now() - startedUs) / 1_000_000, { kind: entry.job.kind });
    log.info({ jobId: entry.job.id, kind: entry.job.kind, retryCount: entry.job.retryCount, outcome, owner }, "job tried");
  }

  async function outcomeOf(entry: Running): Promise<string> {
    const { job, claim } = entry;
    try {
      const result = await handle(entry);
      if (result !== "committed") await persist(entry, () => store.complete(claim, result));
      await tellEnd(job, { status: result === "committed" ? "committed" : "completed" });
      return "completed";
    } catch (error) {
      if (isLeaseLost(error) || isLeaseLost(entry.abort.signal.reason)) return "lease_lost";
      try {
        if (isAppError(entry.abort.signal.reason, "RUNNER_STOPPING")) {
          await store.release(claim);
          return "released";
        }
        return await persist(entry, () => settleFailure(job, claim, error));
      } catch (second) {
        if (isLeaseLost(second)) return "lease_lost";
        // The lease runs out by itself then, and another try follows.
        log.error({ err: second, jobId: job.id, kind: job.kind, owner }, "could not record how a job ended");
        return "unrecorded";
      }
    }
  }

  async function handle({ job, claim, abort }: Running): Promise<"committed" | JsonObject | null> {
    const handler = handlers[job.kind];
    if (!handler) throw new Error(`no handler for ${job.kind}`);
    const { signal } = abort;
    signal.throwIfAborted();
    const progress: JobRun["progress"] = (steps) => store.setProgress(claim, steps);
    const attributes = { "job.id": job.id, "job.kind": job.kind };
    return await withSpan(`job ${job.kind}`, attributes, () => handler.handle(job, { signal, claim, progress }));
  }

  async function settleFailure(job: Job, claim: Claim, error: unknown): Promise<string> {
    const policy = handlers[job.kind]?.retry ?? defaultRetryPolicy;
    const delayMs = policy({ error, job, retryCount: job.retryCount });
    const message = publicMessage(error);
    log.warn({ err: error, jobId: job.id, kind: job.kind, retryCount: job.retryCount, delayMs }, "job failed");
    if (delayMs !== "give_up") {
      const next = await store.retryAt(claim, now() + delayMs * 1_000, message);
      return next === "pending" ? "retried" : "superseded";
    }
    await store.fail(claim, message);
    await tellEnd(job, { status: "failed", error: message });
    return "failed";
  }

  async function tellEnd(job: Job, end: JobEnd): Promise<void> {
    try {
      await deps.onEnded?.(job, end);
    } catch (error) {
      log.error({ err: error, jobId: job.id, kind: job.kind }, "the end of a job could not be told");
    }
  }

  /** Repeats a write while the store is away: finished work is not thrown away, and its lease is kept alive meanwhile. */
  async function persist<T>({ abort }: Running, write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof AppError && error.code === "unavailable") || abort.signal.aborted) throw error;
        await wait(pollMs, abort.signal);
      }
    }
  }

  function wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = timers.setTimeout(resolve, ms);
      signal?.addEventListener("abort", () => {
        timers.clearTimeout(timer);
        resolve();
      });
    });
  }

  async function beat(): Promise<void> {
    try {
      const held = [...running];
      const lost = held.length === 0 ? [] : await store.heartbeat(held.map(({ claim }) => claim));
      for (const entry of held) {
        if (lost.some(({ jobId, epoch }) => jobId === entry.claim.jobId && epoch === entry.claim.epoch))
          entry.abort.abort(leaseLostHere(entry));
      }
    } catch (error) {
      log.warn({ err: error, owner }, "could not renew leases");
    }
    if (state !== "stopped" || running.size > 0) heartbeatTimer = timers.setTimeout(beat, leaseMs / HEARTBEATS_PER_LEASE);
  }

  async function stop({ timeoutMs = STOP_TIMEOUT_MS }: { timeoutMs?: number } = {}): Promise<void> {
    state = "stopped";
    timers.clearTimeout(pollTimer);
    await settledWithin(timeoutMs);
    for (const { abort } of running) abort.abort(stopping());
    await settledWithin(ABORT_GRACE_MS);
    for (const { claim, job } of running) {
      log.warn({ jobId: job.id, kind: job.kind, owner }, "job did not stop in time and is given back");
      await store.release(claim).catch((error: unknown) => log.warn({ err: error, jobId: job.id }, "could not give a job back"));
    }
    timers.clearTimeout(heartbeatTimer);
  }

  async function settledWithin(ms: number): Promise<void> {
    if (running.size === 0) return;
    const patience = new AbortController();
    await Promise.race([Promise.all([...running].map(({ done }) => done)), wait(ms, patience.signal)]);
    patience.abort();
  }

  return {
    start() {
      if (state !== "new") throw new Error("a job runner starts once");
      state = "started";
      heartbeatTimer = timers.setTimeout(beat, leaseMs / HEARTBEATS_PER_LEASE);
      void look();
    },
    nudge: () => void look(),
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function isLeaseLost(error: unknown): boolean {
  return isAppError(error, "LEASE_LOST");
}

function leaseLostHere({ job }: Running): AppError {
  return new AppError("conflict", "LEASE_LOST", `Job '${job.id}' is no longer held`);
}

function stopping(): AppError {
  return new AppError("cancelled", "RUNNER_STOPPING", "The process is stopping");
}

/** What the job's record may say. Unknown errors may tell what is not meant for the public, so they stay in the log. */
function publicMessage(error: unknown): string {
  return error instanceof AppError ? error.message : "Internal error";
}
