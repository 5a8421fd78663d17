import type { Row, SqliteTx } from "@memory-bank/storage";
import type { Job, JobProgress, JobStatus, JobSummary, JsonObject } from "../job.ts";
import { jobNotFound } from "../job-errors.ts";
import { parentStage } from "../parent.ts";

/** A row of `jobs` without its payload. */
export interface SummaryRow extends Row {
  id: string;
  kind: string;
  group_key: string;
  tenant_key: string;
  serial_key: string | null;
  dedupe_key: string | null;
  priority: number;
  is_parent: number;
  parent_id: string | null;
  child_index: number | null;
  created_at_us: number;
  status: JobStatus;
  retry_count: number;
  run_at_us: number;
  epoch: number;
  stage: string | null;
  stage_at_us: number | null;
  processed: number;
  total: number;
  updated_at_us: number;
  completed_at_us: number | null;
  error: string | null;
  result: string | null;
  details: string;
}
interface FullRow extends SummaryRow {
  payload: string;
}

export const SUMMARY_COLUMNS = `id, kind, group_key, tenant_key, serial_key, dedupe_key, priority, is_parent, parent_id, child_index,
  created_at_us, status, retry_count, run_at_us, epoch, stage, stage_at_us, processed, total, updated_at_us, completed_at_us, error,
  result, details`;

/** The job, or `undefined`. */
export function findJob(tx: SqliteTx, id: string): Job | undefined {
  const row = tx.get<FullRow>(`SELECT ${SUMMARY_COLUMNS}, payload FROM jobs WHERE id = ?`, [id]);
  return row && { ...summaryFromRow(tx, row), payload: JSON.parse(row.payload) as JsonObject };
}

/** The job of this group, or `not_found`. */
export function getJob(tx: SqliteTx, groupKey: string, id: string): Job {
  const job = findJob(tx, id);
  if (job?.groupKey !== groupKey) throw jobNotFound(id);
  return job;
}

export function summaryFromRow(tx: SqliteTx, row: SummaryRow): JobSummary {
  return {
    id: row.id,
    kind: row.kind,
    groupKey: row.group_key,
    tenantKey: row.tenant_key,
    serialKey: row.serial_key,
    dedupeKey: row.dedupe_key,
    details: JSON.parse(row.details) as JsonObject,
    priority: row.priority,
    isParent: row.is_parent === 1,
    parentId: row.parent_id,
    index: row.child_index,
    createdAtUs: row.created_at_us,
    status: row.status,
    retryCount: row.retry_count,
    nextRunAtUs: row.status === "pending" ? row.run_at_us : null,
    epoch: row.epoch,
    progress: row.is_parent === 1 ? parentProgress(tx, row) : ownProgress(row),
    result: row.result === null ? null : (JSON.parse(row.result) as JsonObject),
    error: row.error,
    updatedAtUs: row.updated_at_us,
    completedAtUs: row.completed_at_us,
  };
}

function ownProgress({ stage, stage_at_us, processed, total }: SummaryRow): JobProgress | null {
  return stage === null || stage_at_us === null ? null : { stage, atUs: stage_at_us, processed, total };
}

interface ProgressSums extends Row {
  at_us: number | null;
  stage: string | null;
  processed: number | null;
  total: number | null;
}

function parentProgress(tx: SqliteTx, parent: SummaryRow): JobProgress | null {
  // SQLite takes a bare column from the row that holds the maximum: the stage of the child that reported last.
  const sums = tx.get<ProgressSums>(
    "SELECT max(stage_at_us) AS at_us, stage, sum(processed) AS processed, sum(total) AS total FROM jobs WHERE parent_id = ?",
    [parent.id],
  );
  if (!sums || sums.at_us === null) return null;
  const stage = parentStage(parent.status, sums.stage);
  return { stage, atUs: sums.at_us, processed: sums.processed ?? 0, total: sums.total ?? 0 };
}
