import type { Row, SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import { isTerminal, type Job, type JobStatus } from "../job.ts";
import { invalidJob, wrongState } from "../job-errors.ts";
import { CLAIM_BATCH_MAX, JOB_PAGE_MAX, type JobPage, type JobQuery, type JobStore } from "../job-store.ts";
import { createLeaseObserver } from "../lease-observer.ts";
import {
  assertClaim,
  backToPending,
  claimJobs,
  completeJob,
  dueJobs,
  endJob,
  failJob,
  renewClaim,
  retryJob,
  runningLeases,
  setJobProgress,
} from "./claimed-jobs.ts";
import { enqueueJobs, pendingTwin } from "./enqueue-jobs.ts";
import { followChildren } from "./job-family.ts";
import { findJob, getJob, SUMMARY_COLUMNS, type SummaryRow, summaryFromRow } from "./job-rows.ts";

export interface SqliteJobStoreDeps {
  /** Microseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that never go back, for leases. */
  readonly monotonicMs?: () => number;
}

const STEP_JOBS_MAX = 500; // per transaction of a call that works in steps; a few milliseconds

/** The job store in a database that ran `jobsMigration`, beside the tables of its service. */
export function createSqliteJobStore(
  db: SqliteDatabase,
  { now, monotonicMs = () => performance.now() }: SqliteJobStoreDeps,
): JobStore {
  const leases = createLeaseObserver(monotonicMs);
  return {
    enqueue: (jobs) => db.write((tx) => enqueueJobs(tx, jobs, now())),
    get: async (groupKey, id) => db.read((tx) => getJob(tx, groupKey, id)),
    find: async (id) => db.read((tx) => findJob(tx, id)),
    list: async (query) => db.read((tx) => listJobs(tx, query)),
    countByStatus: async (groupKey) => db.read((tx) => countByStatus(tx, groupKey)),
    children: async (parentId) => db.read((tx) => childrenOf(tx, parentId)),

    async claim(request) {
      const { kinds, limit } = request;
      if (limit < 1 || limit > CLAIM_BATCH_MAX) throw invalidJob(`a claim takes 1 to ${CLAIM_BATCH_MAX} jobs`);
      const over = leases.over(
        db.read((tx) => runningLeases(tx, kinds)),
        kinds,
      );
      // Looked up without the write lock first: most polls find nothing.
      if (over.length === 0 && db.read((tx) => dueJobs(tx, request)).length === 0) return [];
      return await db.write((tx) => {
        for (const lease of over) if (isUnchanged(tx, lease)) backToPending(tx, lease.jobId, request.nowUs, now());
        return claimJobs(tx, request, now());
      });
    },
    heartbeat: (claims) => db.write((tx) => claims.filter((claim) => !renewClaim(tx, claim))),
    setProgress: (claim, progress) => db.write((tx) => setJobProgress(tx, claim, progress, now())),
    complete: (claim, result) => db.write((tx) => completeJob(tx, claim, result, now())),
    retryAt: (claim, runAtUs, error) => db.write((tx) => retryJob(tx, claim, runAtUs, error, now())),
    fail: (claim, error) => db.write((tx) => failJob(tx, claim, error, now())),
    release: (claim) =>
      db.write((tx) => {
        assertClaim(tx, claim);
        return backToPending(tx, claim.jobId, now(), now());
      }),

    cancel: (groupKey, id) => db.write((tx) => cancelJob(tx, getJob(tx, groupKey, id), now())),
    requeue: (groupKey, id) => db.write((tx) => requeueJob(tx, getJob(tx, groupKey, id), now())),
    remove: (groupKey, id) => db.write((tx) => removeJob(tx, getJob(tx, groupKey, id), now())),
    cancelGroup: (groupKey) => inSteps((limit) => db.write((tx) => cancelSome(tx, groupKey, limit, now()))),
    purgeGroup: (groupKey) => inSteps((limit) => db.write((tx) => purgeSome(tx, groupKey, limit))),

    nextDueUs: async (kinds) => db.read((tx) => nextDueUs(tx, kinds)),
    reclaimAll: (owner) => db.write((tx) => reclaimAll(tx, owner, now())),
  };
}

function listJobs(tx: SqliteTx, query: JobQuery): JobPage {
  const { groupKey, status, kind, excludeParents, limit, offset } = query;
  if (limit < 1 || limit > JOB_PAGE_MAX) throw invalidJob(`a page holds 1 to ${JOB_PAGE_MAX} jobs`);
  const conditions = ["group_key = :groupKey"];
  if (status !== undefined) conditions.push("status = :status");
  if (kind !== undefined) conditions.push("kind = :kind");
  if (excludeParents) conditions.push("is_parent = 0");
  const where = conditions.join(" AND ");
  const values = { groupKey, ...(status === undefined ? {} : { status }), ...(kind === undefined ? {} : { kind }) };
  const total = tx.get<{ n: number }>(`SELECT count(*) AS n FROM jobs WHERE ${where}`, values)?.n ?? 0;
  const rows = tx.all<SummaryRow>(
    `SELECT ${SUMMARY_COLUMNS} FROM jobs WHERE ${where} ORDER BY created_at_us DESC, id DESC LIMIT :limit OFFSET :offset`,
    { ...values, limit, offset },
  );
  return { items: rows.map((row) => summaryFromRow(tx, row)), total };
}

function countByStatus(tx: SqliteTx, groupKey: string): Record<JobStatus, number> {
  const counts: Record<JobStatus, number> = { pending: 0, processing: 0, completed: 0, failed: 0, cancelled: 0 };
  const sql = "SELECT status, count(*) AS n FROM jobs WHERE group_key = ? GROUP BY status";
  for (const { status, n } of tx.all<{ status: JobStatus; n: number }>(sql, [groupKey])) counts[status] = n;
  return counts;
}

function childrenOf(tx: SqliteTx, parentId: string) {
  const sql = `SELECT ${SUMMARY_COLUMNS} FROM jobs WHERE parent_id = ? ORDER BY child_index, seq`;
  return tx.all<SummaryRow>(sql, [parentId]).map((row) => summaryFromRow(tx, row));
}

/** False when the owner renewed the lease, or gave the job away, after it was observed. */
function isUnchanged(tx: SqliteTx, { jobId, epoch, heartbeat }: { jobId: string; epoch: number; heartbeat: number }): boolean {
  const sql = "SELECT 1 FROM jobs WHERE id = ? AND epoch = ? AND heartbeat = ? AND status = 'processing'";
  return tx.get<Row>(sql, [jobId, epoch, heartbeat]) !== undefined;
}

function cancelJob(tx: SqliteTx, job: Job, nowUs: number): Job {
  if (job.status !== "pending") throw wrongState("JOB_NOT_PENDING", job.id, job.status);
  const ended = job.isParent ? childrenOf(tx, job.id).filter(({ status }) => status === "pending") : [job];
  for (const { id } of ended) endJob(tx, id, "cancelled", null, nowUs);
  return getJob(tx, job.groupKey, job.id);
}

function requeueJob(tx: SqliteTx, job: Job, nowUs: number): Job {
  const mayRetry = ({ status }: { status: JobStatus }) => status === "failed" || status === "cancelled";
  if (!mayRetry(job)) throw wrongState("JOB_NOT_RETRYABLE", job.id, job.status);
  const queued = job.isParent ? childrenOf(tx, job.id).filter(mayRetry) : [job];
  if (queued.length === 0) throw wrongState("JOB_NOT_RETRYABLE", job.id, job.status);
  for (const { id, dedupeKey, status } of queued) {
    if (dedupeKey !== null && pendingTwin(tx, dedupeKey) !== undefined) throw wrongState("JOB_ALREADY_PENDING", id, status);
    tx.run(
      `UPDATE jobs SET status = 'pending', run_at_us = ?, retry_count = 0, error = NULL, completed_at_us = NULL, updated_at_us = ?,
         stage = NULL, stage_at_us = NULL, processed = 0 WHERE id = ?`,
      [nowUs, nowUs, id],
    );
  }
  followChildren(tx, job.isParent ? job.id : job.parentId, nowUs);
  return getJob(tx, job.groupKey, job.id);
}

function removeJob(tx: SqliteTx, job: Job, nowUs: number): void {
  if (!isTerminal(job.status)) throw wrongState("JOB_NOT_FINISHED", job.id, job.status);
  tx.run("DELETE FROM jobs WHERE id = ? OR parent_id = ?", [job.id, job.id]);
  followChildren(tx, job.parentId, nowUs);
}

function cancelSome(tx: SqliteTx, groupKey: string, limit: number, nowUs: number): number {
  const sql = `SELECT id FROM jobs WHERE group_key = ? AND status IN ('pending', 'processing') AND is_parent = 0 LIMIT ?`;
  const jobs = tx.all<{ id: string }>(sql, [groupKey, limit]);
  for (const { id } of jobs) endJob(tx, id, "cancelled", null, nowUs);
  return jobs.length;
}

function purgeSome(tx: SqliteTx, groupKey: string, limit: number): number {
  const sql = "DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE group_key = ? LIMIT ?)";
  return tx.run(sql, [groupKey, limit]).changes;
}

async function inSteps(step: (limit: number) => Promise<number>): Promise<number> {
  let sum = 0;
  for (let done = STEP_JOBS_MAX; done === STEP_JOBS_MAX; sum += done) done = await step(STEP_JOBS_MAX);
  return sum;
}

function nextDueUs(tx: SqliteTx, kinds: readonly string[]): number | null {
  const sql = "SELECT min(run_at_us) AS due FROM jobs WHERE kind = ? AND status = 'pending' AND is_parent = 0";
  const due = kinds.flatMap((kind) => tx.get<{ due: number | null }>(sql, [kind])?.due ?? []);
  return due.length === 0 ? null : Math.min(...due);
}

function reclaimAll(tx: SqliteTx, owner: string | undefined, nowUs: number): number {
  const sql = "SELECT id FROM jobs WHERE status = 'processing' AND is_parent = 0 AND (?1 IS NULL OR owner = ?1)";
  const jobs = tx.all<{ id: string }>(sql, [owner ?? null]);
  for (const { id } of jobs) backToPending(tx, id, nowUs, nowUs);
  return jobs.length;
}
