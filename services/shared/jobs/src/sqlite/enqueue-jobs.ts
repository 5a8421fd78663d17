import type { Row, SqliteTx } from "@memory-bank/storage";
import type { Job, NewJob } from "../job.ts";
import { invalidJob } from "../job-errors.ts";
import { ENQUEUE_BATCH_MAX, type Enqueued } from "../job-store.ts";
import { followChildren } from "./job-family.ts";
import { findJob } from "./job-rows.ts";

/** `JobStore.enqueue` inside the caller's transaction. Nudge the runner after the commit. */
export function enqueueJobs(tx: SqliteTx, jobs: readonly NewJob[], nowUs: number): Enqueued[] {
  refuseOddFamilies(jobs);
  const groupOfParent = new Map<string, string>();
  const enqueued = jobs.map((job) => {
    if (job.parentId !== undefined && groupOfParent.get(job.parentId) !== job.groupKey) {
      requireParent(tx, job.parentId, job.groupKey);
      groupOfParent.set(job.parentId, job.groupKey);
    }
    return enqueueOne(tx, job, nowUs);
  });
  for (const parentId of groupOfParent.keys()) followChildren(tx, parentId, nowUs);
  return enqueued;
}

function refuseOddFamilies(jobs: readonly NewJob[]): void {
  if (jobs.length > ENQUEUE_BATCH_MAX) throw invalidJob(`at most ${ENQUEUE_BATCH_MAX} jobs may be enqueued at once`);
  const withChildren = new Set(jobs.map(({ parentId }) => parentId));
  for (const { id, isParent, parentId, dedupeKey } of jobs) {
    if (isParent && !withChildren.has(id)) throw invalidJob(`parent '${id}' has no children`);
    if (isParent && parentId !== undefined) throw invalidJob(`parent '${id}' cannot be a child`);
    if ((isParent || parentId !== undefined) && dedupeKey !== undefined)
      throw invalidJob(`'${id}' is of a family and has a dedupe key`);
  }
}

function enqueueOne(tx: SqliteTx, job: NewJob, nowUs: number): Enqueued {
  const twinId = job.dedupeKey === undefined ? undefined : pendingTwin(tx, job.dedupeKey);
  if (twinId !== undefined) {
    tx.run("UPDATE jobs SET run_at_us = min(run_at_us, ?) WHERE id = ?", [job.runAtUs ?? job.createdAtUs, twinId]);
    return { job: findJob(tx, twinId) as Job, deduplicated: true };
  }
  tx.run(
    `INSERT INTO jobs (id, kind, group_key, tenant_key, serial_key, dedupe_key, priority, is_parent, parent_id, child_index,
       created_at_us, status, run_at_us, total, updated_at_us, details, payload)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?)`,
    [
      job.id,
      job.kind,
      job.groupKey,
      job.tenantKey,
      job.serialKey ?? null,
      job.dedupeKey ?? null,
      job.priority ?? 0,
      job.isParent ? 1 : 0,
      job.parentId ?? null,
      job.index ?? null,
      job.createdAtUs,
      job.runAtUs ?? job.createdAtUs,
      job.total ?? 0,
      nowUs,
      JSON.stringify(job.details ?? {}),
      JSON.stringify(job.payload),
    ],
  );
  return { job: asEnqueued(job, nowUs), deduplicated: false };
}

function asEnqueued(job: NewJob, nowUs: number): Job {
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

/** The pending job that holds the key, or `undefined`. */
export function pendingTwin(tx: SqliteTx, dedupeKey: string): string | undefined {
  return tx.get<{ id: string }>("SELECT id FROM jobs WHERE dedupe_key = ? AND status = 'pending'", [dedupeKey])?.id;
}

function requireParent(tx: SqliteTx, parentId: string, groupKey: string): void {
  const sql = "SELECT 1 FROM jobs WHERE id = ? AND is_parent = 1 AND group_key = ?";
  if (!tx.get<Row>(sql, [parentId, groupKey])) throw invalidJob(`there is no parent '${parentId}' in this group`);
}
