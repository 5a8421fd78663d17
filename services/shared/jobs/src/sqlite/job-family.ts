import type { Row, SqliteTx } from "@memory-bank/storage";
import { isTerminal, type JobStatus, type JsonObject } from "../job.ts";
import { type ChildCounts, parentStatus, sumResults } from "../parent.ts";

/** Brings a parent's row in line with its children, in the transaction that changed one. `null` is no parent. */
export function followChildren(tx: SqliteTx, parentId: string | null, nowUs: number): void {
  if (parentId === null) return;
  const parent = tx.get<{ status: JobStatus }>("SELECT status FROM jobs WHERE id = ?", [parentId]);
  // Nearly every change of a large family ends here, by two index lookups instead of a count of all its members.
  if (!parent || (parent.status === "processing" && hasUnfinished(tx, parentId))) return;
  const counts = childCounts(tx, parentId);
  if (Object.keys(counts).length === 0) return;
  const status = parentStatus(counts, parent.status);
  if (status === parent.status && !isTerminal(status)) return;
  const hasEnded = isTerminal(status);
  tx.run("UPDATE jobs SET status = ?, error = ?, result = ?, completed_at_us = ?, updated_at_us = ? WHERE id = ?", [
    status,
    status === "failed" ? commonError(tx, parentId) : null,
    hasEnded ? summedResult(tx, parentId) : null,
    hasEnded ? nowUs : null,
    nowUs,
    parentId,
  ]);
}

function hasUnfinished(tx: SqliteTx, parentId: string): boolean {
  const sql = "SELECT 1 FROM jobs WHERE parent_id = ? AND status IN ('processing', 'pending') LIMIT 1";
  return tx.get<Row>(sql, [parentId]) !== undefined;
}

function childCounts(tx: SqliteTx, parentId: string): ChildCounts {
  const sql = "SELECT status, count(*) AS n FROM jobs WHERE parent_id = ? GROUP BY status";
  return Object.fromEntries(tx.all<{ status: JobStatus; n: number }>(sql, [parentId]).map(({ status, n }) => [status, n]));
}

function commonError(tx: SqliteTx, parentId: string): string | null {
  const sql = `SELECT error FROM jobs WHERE parent_id = ? AND status = 'failed'
    GROUP BY error ORDER BY count(*) DESC, min(ifnull(child_index, 0)), min(seq) LIMIT 1`;
  return tx.get<{ error: string | null }>(sql, [parentId])?.error ?? null;
}

function summedResult(tx: SqliteTx, parentId: string): string | null {
  const rows = tx.all<Row & { result: string }>("SELECT result FROM jobs WHERE parent_id = ? AND result IS NOT NULL", [parentId]);
  if (rows.length === 0) return null;
  return JSON.stringify(sumResults(rows.map(({ result }) => JSON.parse(result) as JsonObject)));
}
