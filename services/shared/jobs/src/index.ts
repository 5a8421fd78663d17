import type { Timers } from "@memory-bank/lifecycle";
import type { Migration, SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import type { Logger, Meter } from "@memory-bank/telemetry";
import type { Claim, Job, JsonObject, NewJob } from "./job.ts";
import type { Enqueued, JobStore } from "./job-store.ts";
import type { RetryPolicy } from "./retry-policy.ts";

export {
  type Claim,
  isTerminal,
  JOB_ERROR_LENGTH_MAX,
  type Job,
  type JobProgress,
  type JobStatus,
  type JsonObject,
  type JsonValue,
  type NewJob,
} from "./job.ts";
export {
  type BackToPending,
  CLAIM_BATCH_MAX,
  type ClaimedJob,
  type ClaimRequest,
  type Enqueued,
  JOB_PAGE_MAX,
  type JobPage,
  type JobQuery,
  type JobStore,
} from "./job-store.ts";
export {
  defaultRetryPolicy,
  type Failure,
  isWorthRetrying,
  type RetryPolicy,
  retryEvery,
  retryWithBackoff,
} from "./retry-policy.ts";

export declare const jobsMigration: Migration;
export declare function createSqliteJobStore(
  db: SqliteDatabase,
  deps: { now: () => number; monotonicMs?: () => number },
): JobStore;
/** `JobStore.enqueue` inside the caller's transaction. Nudge the runner after the commit. */
export declare function enqueueJobs(tx: SqliteTx, jobs: readonly NewJob[], nowUs: number): Enqueued[];
/** `JobStore.complete` inside the caller's transaction; the handler then answers `"committed"`. */
export declare function completeJob(tx: SqliteTx, claim: Claim, result: JsonObject | null, nowUs: number): void;
/** Throws `conflict`, `LEASE_LOST`, when the claim is lost; for a transaction that writes but does not finish the job. */
export declare function assertClaim(tx: SqliteTx, claim: Claim): void;

/** What a handler gets beside the job. */
export interface JobRun {
  /** Aborts when the lease is lost, the job is cancelled with its group, or the runner stops. */
  readonly signal: AbortSignal;
  readonly claim: Claim;
  progress(progress: { stage: string; processed: number; total: number }): Promise<void>;
}
export interface JobHandler {
  /** `"committed"`: finished in a transaction of its own (`completeJob`); otherwise the runner completes with the answer. */
  handle(job: Job, run: JobRun): Promise<"committed" | JsonObject | null>;
  /** `defaultRetryPolicy` unless told. */
  readonly retry?: RetryPolicy;
  /** Jobs of this kind at once in this process. */
  readonly concurrency: number;
}
export interface JobRunner {
  start(): void;
  /** Looks for work now instead of at the next poll; call it after a commit that enqueued. */
  nudge(): void;
  stop(options?: { timeoutMs?: number }): Promise<void>;
}
export declare function createJobRunner(deps: {
  store: JobStore;
  handlers: Readonly<Record<string, JobHandler>>;
  now: () => number;
  log: Logger;
  owner: string;
  pollMs?: number;
  leaseMs?: number;
  timers?: Timers;
  meter?: Meter;
}): JobRunner & AsyncDisposable;
