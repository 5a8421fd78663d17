import type { Row, SqliteTx } from "@memory-bank/storage";
import type { Claim, JsonObject } from "../job.ts";
import { cutError, leaseLost } from "../job-errors.ts";
import type { BackToPending, ClaimedJob, ClaimRequest } from "../job-store.ts";
import type { ObservedLease } from "../lease-observer.ts";
import { pendingTwin } from "./enqueue-jobs.ts";
import { followChildren } from "./job-family.ts";
import { findJob } from "./job-rows.ts";

interface Candidate extends Row {
  id: string;
  serial_key: string | null;
  priority: number;
  run_at_us: number;
  seq: number;
}

/** The jobs that a claim would take, in the order in which it takes them. */
export function dueJobs(tx: SqliteTx, { kinds, limit, nowUs }: ClaimRequest): readonly string[] {
  const candidates = kinds.flatMap((kind) => dueOfKind(tx, kind, limit, nowUs));
  candidates.sort((a, b) => b.priority - a.priority || a.run_at_us - b.run_at_us || a.seq - b.seq);
  return firstOfEachSerial(candidates, limit).map(({ id }) => id);
}

function dueOfKind(tx: SqliteTx, kind: string, limit: number, nowUs: number): Candidate[] {
  // The index is named because it gives the order: only as many rows are read as are taken or passed over. Left to itself SQLite
  // may choose the one by due time and sort everything that is due.
  const rows = tx.iterate<Candidate>(
    `SELECT id, serial_key, priority, run_at_us, seq FROM jobs AS waiting INDEXED BY jobs_due
     WHERE kind = ? AND status = 'pending' AND is_parent = 0 AND run_at_us <= ? AND (serial_key IS NULL OR NOT EXISTS (
       SELECT 1 FROM jobs AS running WHERE running.serial_key = waiting.serial_key AND running.status = 'processing'))
     ORDER BY priority DESC, run_at_us, seq`,
    [kind, nowUs],
  );
  return firstOfEachSerial(rows, limit);
}

function firstOfEachSerial(candidates: Iterable<Candidate>, limit: number): Candidate[] {
  const taken: Candidate[] = [];
  const serials = new Set<string>();
  for (const candidate of candidates) {
    if (candidate.serial_key !== null && serials.has(candidate.serial_key)) continue;
    if (candidate.serial_key !== null) serials.add(candidate.serial_key);
    taken.push(candidate);
    if (taken.length >= limit) break;
  }
  return taken;
}

/** Takes what is due; each job's epoch moves, so earlier claims on it are lost. */
export function claimJobs(tx: SqliteTx, request: ClaimRequest, nowUs: number): ClaimedJob[] {
  return dueJobs(tx, request).map((id) => {
    tx.run(
      `UPDATE jobs SET status = 'processing', epoch = epoch + 1, owner = ?, lease_ms = ?, heartbeat = 0, updated_at_us = ?,
         stage = 'processing', stage_at_us = ?, processed = 0 WHERE id = ?`,
      [request.owner, request.leaseMs, nowUs, nowUs, id],
    );
    const job = findJob(tx, id);
    if (!job) throw new Error(`job ${id} vanished inside a transaction`);
    followChildren(tx, job.parentId, nowUs);
    return { job, claim: { jobId: id, epoch: job.epoch, owner: request.owner } };
  });
}

/** Running jobs of these kinds, for the observer of leases. */
export function runningLeases(tx: SqliteTx, kinds: readonly string[]): ObservedLease[] {
  const sql = `SELECT id AS jobId, kind, epoch, heartbeat, lease_ms AS leaseMs FROM jobs
    WHERE kind = ? AND status = 'processing' AND is_parent = 0`;
  return kinds.flatMap((kind) => tx.all(sql, [kind]) as unknown as ObservedLease[]);
}

/** Throws `conflict`, `LEASE_LOST`, when the claim is lost; for a transaction that writes but does not finish the job. */
export function assertClaim(tx: SqliteTx, { jobId, epoch }: Claim): void {
  if (!tx.get<Row>("SELECT 1 FROM jobs WHERE id = ? AND epoch = ? AND status = 'processing'", [jobId, epoch]))
    throw leaseLost(jobId);
}

/** False when the claim is lost. */
export function renewClaim(tx: SqliteTx, { jobId, epoch }: Claim): boolean {
  const sql = "UPDATE jobs SET heartbeat = heartbeat + 1 WHERE id = ? AND epoch = ? AND status = 'processing'";
  return tx.run(sql, [jobId, epoch]).changes > 0;
}

/** `JobStore.setProgress` inside the caller's transaction. */
export function setJobProgress(
  tx: SqliteTx,
  claim: Claim,
  { stage, processed, total }: { stage: string; processed: number; total: number },
  nowUs: number,
): void {
  assertClaim(tx, claim);
  const sql = "UPDATE jobs SET stage = ?, stage_at_us = ?, processed = ?, total = ?, updated_at_us = ? WHERE id = ?";
  tx.run(sql, [stage, nowUs, processed, total, nowUs, claim.jobId]);
}

/** Merges members into the public facts about a job that is held, in the caller's transaction. */
export function setJobDetails(tx: SqliteTx, claim: Claim, members: JsonObject): void {
  assertClaim(tx, claim);
  const { details } = tx.get<{ details: string }>("SELECT details FROM jobs WHERE id = ?", [claim.jobId])!;
  const merged = { ...(JSON.parse(details) as JsonObject), ...members };
  tx.run("UPDATE jobs SET details = ? WHERE id = ?", [JSON.stringify(merged), claim.jobId]);
}

/** Ends the pending job that holds the dedupe key as `cancelled`, in the caller's transaction; does nothing when there is none. */
export function cancelPendingJob(tx: SqliteTx, dedupeKey: string, nowUs: number): void {
  const id = pendingTwin(tx, dedupeKey);
  if (id !== undefined) endJob(tx, id, "cancelled", null, nowUs);
}

/** `JobStore.complete` inside the caller's transaction; the handler then answers `"committed"`. */
export function completeJob(tx: SqliteTx, claim: Claim, result: JsonObject | null, nowUs: number): void {
  assertClaim(tx, claim);
  tx.run(
    `UPDATE jobs SET status = 'completed', result = ?, error = NULL, stage = 'completed', stage_at_us = ?, processed = total,
       completed_at_us = ?, updated_at_us = ? WHERE id = ?`,
    [result === null ? null : JSON.stringify(result), nowUs, nowUs, nowUs, claim.jobId],
  );
  followChildren(tx, parentOf(tx, claim.jobId), nowUs);
}

/** `JobStore.fail` inside the caller's transaction. */
export function failJob(tx: SqliteTx, claim: Claim, error: string, nowUs: number): void {
  assertClaim(tx, claim);
  endJob(tx, claim.jobId, "failed", error, nowUs);
}

/** Makes a job `failed` or `cancelled`, whatever it was. */
export function endJob(tx: SqliteTx, id: string, status: "failed" | "cancelled", error: string | null, nowUs: number): void {
  tx.run("UPDATE jobs SET status = ?, error = ?, completed_at_us = ?, updated_at_us = ? WHERE id = ?", [
    status,
    error === null ? null : cutError(error),
    nowUs,
    nowUs,
    id,
  ]);
  followChildren(tx, parentOf(tx, id), nowUs);
}

/** Counts a failed try and queues the job again. */
export function retryJob(tx: SqliteTx, claim: Claim, runAtUs: number, error: string, nowUs: number): BackToPending {
  assertClaim(tx, claim);
  tx.run("UPDATE jobs SET retry_count = retry_count + 1, error = ? WHERE id = ?", [cutError(error), claim.jobId]);
  return backToPending(tx, claim.jobId, runAtUs, nowUs);
}

/** Queues a running job again; when another pending one has its dedupe key, that one will do the work and this one ends. */
export function backToPending(tx: SqliteTx, id: string, runAtUs: number, nowUs: number): BackToPending {
  const key = tx.get<{ dedupe_key: string | null }>("SELECT dedupe_key FROM jobs WHERE id = ?", [id])?.dedupe_key ?? null;
  const twinId = key === null ? undefined : pendingTwin(tx, key);
  if (twinId !== undefined) {
    endJob(tx, id, "cancelled", `Superseded by '${twinId}'`, nowUs);
    return "superseded";
  }
  tx.run("UPDATE jobs SET status = 'pending', run_at_us = ?, updated_at_us = ? WHERE id = ?", [runAtUs, nowUs, id]);
  followChildren(tx, parentOf(tx, id), nowUs);
  return "pending";
}

function parentOf(tx: SqliteTx, id: string): string | null {
  return tx.get<{ parent_id: string | null }>("SELECT parent_id FROM jobs WHERE id = ?", [id])?.parent_id ?? null;
}
