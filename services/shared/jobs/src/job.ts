export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [member: string]: JsonValue };

/** `completed`, `failed` and `cancelled` are terminal. */
export type JobStatus = "pending" | "processing" | "completed" | "failed" | "cancelled";

/** Work to be done, chosen with its id before anything is written. */
export interface NewJob {
  readonly id: string;
  /** Names the handler. */
  readonly kind: string;
  /** All jobs of one owner: what is listed, cancelled and purged together. */
  readonly groupKey: string;
  readonly tenantKey: string;
  /** At most one running job per key; others wait without blocking jobs of other keys. Keys reach across groups: put the group in. */
  readonly serialKey?: string;
  /** A pending job with the same key is answered instead of adding a second one. Reaches across groups, too; not for families. */
  readonly dedupeKey?: string;
  /** What the handler needs. */
  readonly payload: JsonObject;
  /** Public facts about the job, for listings. */
  readonly details?: JsonObject;
  /** When it may start; `createdAtUs` unless told. */
  readonly runAtUs?: number;
  /** Larger goes first; 0 unless told. */
  readonly priority?: number;
  /** Items of work it holds, when known before it starts; a parent's progress adds them up. */
  readonly total?: number;
  /** True for a job that only stands for its children. It comes with at least one of them in the same call, before them. */
  readonly isParent?: boolean;
  readonly parentId?: string;
  /** Position among the children of one parent. */
  readonly index?: number;
  readonly createdAtUs: number;
}

export interface JobProgress {
  readonly stage: string;
  readonly atUs: number;
  readonly processed: number;
  readonly total: number;
}

/** The durable record of a job, which is also what the public sees of it. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly groupKey: string;
  readonly tenantKey: string;
  readonly serialKey: string | null;
  readonly dedupeKey: string | null;
  readonly payload: JsonObject;
  readonly details: JsonObject;
  readonly priority: number;
  readonly isParent: boolean;
  readonly parentId: string | null;
  readonly index: number | null;
  readonly createdAtUs: number;

  readonly status: JobStatus;
  /** Failed tries so far; lost leases and shutdowns do not count. */
  readonly retryCount: number;
  /** When a pending job may start; `null` in every other status. */
  readonly nextRunAtUs: number | null;
  /** Counts the times it changed hands. Only the holder of the current one may write. */
  readonly epoch: number;
  /** A parent's adds up its children. */
  readonly progress: JobProgress | null;
  /** What a completed job came to. A finished parent's adds up the numbers of its children's, member by member. */
  readonly result: JsonObject | null;
  /** Why it failed, was cancelled, or will be tried again; at most `JOB_ERROR_LENGTH_MAX` characters. */
  readonly error: string | null;
  readonly updatedAtUs: number;
  readonly completedAtUs: number | null;
}

/** A job as it is listed: its payload may be megabytes. */
export type JobSummary = Omit<Job, "payload">;

/** The right to finish one job, good until the epoch moves. */
export interface Claim {
  readonly jobId: string;
  readonly epoch: number;
  readonly owner: string;
}

export const JOB_ERROR_LENGTH_MAX = 5_000; // the public contract's limit

/** True when a job of this status will not run again unless somebody queues it. */
export function isTerminal(status: JobStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
