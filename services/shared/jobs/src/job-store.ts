import type { Claim, Job, JobStatus, JobSummary, JsonObject, NewJob } from "./job.ts";

export interface Enqueued {
  readonly job: Job;
  /** True when `job` is one that was already pending under the same `dedupeKey`; the new one was dropped. */
  readonly deduplicated: boolean;
}

export interface JobQuery {
  readonly groupKey: string;
  readonly status?: JobStatus;
  readonly kind?: string;
  readonly excludeParents?: boolean;
  /** 1 to `JOB_PAGE_MAX`. */
  readonly limit: number;
  readonly offset: number;
}

export interface JobPage {
  readonly items: readonly JobSummary[];
  /** Of all jobs that match, whatever the page. */
  readonly total: number;
}

export interface ClaimRequest {
  readonly kinds: readonly string[];
  /** Jobs to take at most, 1 to `CLAIM_BATCH_MAX`. */
  readonly limit: number;
  /** Who takes them; different for every runner of every process. */
  readonly owner: string;
  /** How long the same heartbeat may be seen before others take the job over. */
  readonly leaseMs: number;
  readonly nowUs: number;
}

export interface ClaimedJob {
  readonly job: Job;
  readonly claim: Claim;
}

/** `superseded`: another pending job has the same `dedupeKey`, so this one became `cancelled` instead of pending. */
export type BackToPending = "pending" | "superseded";

export const JOB_PAGE_MAX = 1_000; // a page of the public listing is far smaller; callers that merge lists ask for more
export const CLAIM_BATCH_MAX = 64; // what one process can start on before its leases need renewing
export const ENQUEUE_BATCH_MAX = 10_000; // one transaction, so the largest pause that others feel

/**
 * Durable work, and the public record of it.
 *
 * Every write that carries a claim fails with `conflict`, reason `LEASE_LOST`, when the job has changed hands, was cancelled
 * or is gone; then nothing was written. Each call is atomic unless it says otherwise. A call that names an unknown job is `not_found`, reason
 * `JOB_NOT_FOUND`. Ids, keys and kinds compare byte for byte.
 *
 * A parent is never claimed. Its status follows its children in the same atomic write: `processing` as soon as one has
 * started, and terminal when all are: `failed` if any failed (with the most common error among them, the earliest of them
 * in a tie), `cancelled` if all were cancelled, otherwise `completed`.
 */
export interface JobStore {
  /**
   * Adds all jobs or none. A `dedupeKey` that a pending job holds answers that job, which then starts at the earlier of the
   * two times. An id that is taken is `already_exists`. `invalid_argument`, `INVALID_JOB`: more than `ENQUEUE_BATCH_MAX` jobs, a child whose
   * parent is not a parent of the same group, a parent without children in the call, a `dedupeKey` on either.
   */
  enqueue(jobs: readonly NewJob[]): Promise<readonly Enqueued[]>;
  /** The job if it belongs to the group, otherwise `not_found`. */
  get(groupKey: string, id: string): Promise<Job>;
  find(id: string): Promise<Job | undefined>;
  /** Newest first: by `createdAtUs`, then by id, both descending. */
  list(query: JobQuery): Promise<JobPage>;
  /** Counts every job of the group, parents too. */
  countByStatus(groupKey: string): Promise<Readonly<Record<JobStatus, number>>>;
  /** By `index`, then in the order in which they were added. */
  children(parentId: string): Promise<readonly JobSummary[]>;

  /**
   * Takes pending jobs that are due, by priority (larger first), then due time, then the order in which they were added. A job
   * is passed over while another with the same `serialKey` runs. First gives back (`pending`, not counted as a try) jobs of
   * these kinds whose lease is over: the same heartbeat seen for the lease time on this store's monotonic clock, in looks that
   * are at most half a lease time apart (after a longer pause the watch starts anew).
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedJob[]>;
  /** Renews leases; answers the claims that are lost. */
  heartbeat(claims: readonly Claim[]): Promise<readonly Claim[]>;
  setProgress(claim: Claim, progress: { stage: string; processed: number; total: number }): Promise<void>;
  complete(claim: Claim, result: JsonObject | null): Promise<void>;
  /** Counts a try and makes the job pending until `runAtUs`. */
  retryAt(claim: Claim, runAtUs: number, error: string): Promise<BackToPending>;
  fail(claim: Claim, error: string): Promise<void>;
  /** Makes the job pending again, due at once, without counting a try. */
  release(claim: Claim): Promise<BackToPending>;

  /** Ends a pending job; a parent with its pending children, when none has started. Otherwise `failed_precondition`, `JOB_NOT_PENDING`. */
  cancel(groupKey: string, id: string): Promise<Job>;
  /**
   * Queues a failed or cancelled job again, due at once, `retryCount` 0; for a parent, its failed and cancelled children. Otherwise
   * `failed_precondition`: `JOB_NOT_RETRYABLE`, or `JOB_ALREADY_PENDING` when another pending job has the same `dedupeKey`.
   */
  requeue(groupKey: string, id: string): Promise<Job>;
  /** Forgets a terminal job, and a parent's children; otherwise `failed_precondition`, `JOB_NOT_FINISHED`. */
  remove(groupKey: string, id: string): Promise<void>;
  /**
   * Ends every unfinished job of the group as `cancelled`; claims on them are lost. Answers how many there were, parents not
   * counted. In steps; when it resolves there is none left, except one that was enqueued meanwhile.
   */
  cancelGroup(groupKey: string): Promise<number>;
  /** Forgets every job of the group, running ones too. In steps, so that a large group does not hold up others. */
  purgeGroup(groupKey: string): Promise<number>;

  /** When the next pending job of these kinds is due, which may be past; `null` when there is none. */
  nextDueUs(kinds: readonly string[]): Promise<number | null>;
  /** Gives back all running jobs, of one owner when it is told, not counted as a try. Only for a process that knows it is alone. */
  reclaimAll(owner?: string): Promise<number>;
}
