import type { Job, NewJob } from "./job.ts";
import { invalidJob } from "./job-errors.ts";
import { ENQUEUE_BATCH_MAX } from "./job-store.ts";

/** Throws `INVALID_JOB` for what can be told from the call alone. */
export function refuseOddFamilies(jobs: readonly NewJob[]): void {
  if (jobs.length > ENQUEUE_BATCH_MAX) throw invalidJob(`at most ${ENQUEUE_BATCH_MAX} jobs may be enqueued at once`);
  const withChildren = new Set(jobs.map(({ parentId }) => parentId));
  for (const { id, isParent, parentId, dedupeKey } of jobs) {
    if (isParent && !withChildren.has(id)) throw invalidJob(`parent '${id}' has no children`);
    if (isParent && parentId !== undefined) throw invalidJob(`parent '${id}' cannot be a child`);
    if ((isParent || parentId !== undefined) && dedupeKey !== undefined)
      throw invalidJob(`'${id}' is of a family and has a dedupe key`);
  }
}

/** The record of a job that nobody has touched yet. */
export function asEnqueued(job: NewJob, nowUs: number): Job {
  return {
    id: job.id,
    kind: job.kind,
    groupKey: job.groupKey,
    tenantKey: job.tenantKey,
    serialKey: job.serialKey ?? null,
    dedupeKey: job.dedupeKey ?? null,
    payload: job.payload,
    details: job.details ?? {},
    priority: job.priority ?? 0,
    isParent: job.isParent ?? false,
    parentId: job.parentId ?? null,
    index: job.index ?? null,
    createdAtUs: job.createdAtUs,
    status: "pending",
    retryCount: 0,
    nextRunAtUs: job.runAtUs ?? job.createdAtUs,
    epoch: 0,
    progress: null,
    result: null,
    error: null,
    updatedAtUs: nowUs,
    completedAtUs: null,
  };
}
