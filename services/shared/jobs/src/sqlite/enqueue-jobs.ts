import type { Row, SqliteTx } from "@memory-bank/storage";
import type { Job, NewJob } from "../job.ts";
import { invalidJob } from "../job-errors.ts";
import type { Enqueued } from "../job-store.ts";
import { asEnqueued, refuseOddFamilies } from "../new-job-rules.ts";
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

/** The pending job that holds the key, or `undefined`. */
export function pendingTwin(tx: SqliteTx, dedupeKey: string): string | undefined {
  return tx.get<{ id: string }>("SELECT id FROM jobs WHERE dedupe_key = ? AND status = 'pending'", [dedupeKey])?.id;
}

function requireParent(tx: SqliteTx, parentId: string, groupKey: string): void {
  const sql = "SELECT 1 FROM jobs WHERE id = ? AND is_parent = 1 AND group_key = ?";
  if (!tx.get<Row>(sql, [parentId, groupKey])) throw invalidJob(`there is no parent '${parentId}' in this group`);
}
