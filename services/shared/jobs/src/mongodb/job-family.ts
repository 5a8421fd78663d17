import type { Db } from "mongodb";
import { isTerminal, type JobProgress, type JobStatus, type JsonObject } from "../job.ts";
import { type ChildCounts, parentStage, parentStatus, sumResults } from "../parent.ts";
import { type JobDocument, jobsOf, type SummaryDocument, withoutPayload } from "./job-documents.ts";

const UNFINISHED = ["pending", "processing", "staged"] as const;
const FOLLOW_TRIES_MAX = 50; // each lost try means that somebody else wrote what the children say

/**
 * Brings a parent in line with its children. A parent is a function of them, so this may run at any time, any number of times; a
 * reader runs it for parents that a crash left behind. `null` is no parent.
 */
export async function followChildren(db: Db, parentId: string | null, nowUs: number): Promise<void> {
  if (parentId === null) return;
  const jobs = jobsOf(db);
  for (let tries = 0; tries < FOLLOW_TRIES_MAX; tries += 1) {
    const parent = await jobs.findOne({ _id: parentId, isParent: true }, { projection: withoutPayload });
    if (!parent) return;
    if (parent.endsChildren) return await endPendingChildren(db, parentId, nowUs);
    // Nearly every change of a large family ends here, by two index lookups instead of a count of all its members.
    if (parent.status === "processing" && (await hasUnfinished(db, parentId))) return;
    const counts = await childCounts(db, parentId);
    if (Object.keys(counts).length === 0) return;
    const current = parent.status === "staged" ? "pending" : parent.status;
    const status = parentStatus(counts, current);
    if (status === current && !isTerminal(status)) return;
    const end = isTerminal(status) ? await endOf(db, parentId, status) : NO_END;
    const { matchedCount } = await jobs.updateOne(
      { _id: parentId, revision: parent.revision ?? 0 },
      { $set: { status, ...end, updatedAtUs: nowUs }, $inc: { revision: 1 } },
    );
    if (matchedCount > 0) return;
  }
  throw new Error(`the children of '${parentId}' change faster than their parent can follow`);
}

/** Does what the cancelling of a parent has decided. */
export async function endPendingChildren(db: Db, parentId: string, nowUs: number): Promise<void> {
  const end = { status: "cancelled", completedAtUs: nowUs, updatedAtUs: nowUs } as const;
  await jobsOf(db).updateMany({ parentId, status: "pending" }, { $set: end });
}

/** Follows the unfinished parents of a group none of whose children is unfinished: what a crash left between two writes. */
export async function settleParents(db: Db, groupKey: string, nowUs: number): Promise<void> {
  const parents = await jobsOf(db)
    .find({ groupKey, isParent: true, status: { $in: ["pending", "processing"] } }, { projection: { _id: 1 } })
    .toArray();
  if (parents.length === 0) return;
  const busy = await jobsOf(db)
    .aggregate<{ _id: string }>([
      { $match: { parentId: { $in: parents.map(({ _id }) => _id) }, status: { $in: [...UNFINISHED] } } },
      { $group: { _id: "$parentId" } },
    ])
    .toArray();
  const busyIds = new Set(busy.map(({ _id }) => _id));
  for (const { _id } of parents) if (!busyIds.has(_id)) await followChildren(db, _id, nowUs);
}

/** The progress of each of these parents that has any. */
export async function familyProgress(db: Db, parents: readonly SummaryDocument[]): Promise<Map<string, JobProgress>> {
  const byId = new Map<string, JobProgress>();
  if (parents.length === 0) return byId;
  const sums = await jobsOf(db)
    .aggregate<{ _id: string; atUs: number | null; processed: number; total: number }>([
      { $match: { parentId: { $in: parents.map(({ _id }) => _id) } } },
      {
        $group: {
          _id: "$parentId",
          atUs: { $max: "$stageAtUs" },
          processed: { $sum: "$processed" },
          total: { $sum: "$total" },
        },
      },
    ])
    .toArray();
  for (const { _id, atUs, processed, total } of sums) {
    const parent = parents.find((one) => one._id === _id);
    if (!parent || atUs === null || parent.status === "staged") continue;
    const last = isTerminal(parent.status) ? null : await stageReported(db, _id, atUs);
    byId.set(_id, { stage: parentStage(parent.status, last), atUs, processed, total });
  }
  return byId;
}

async function stageReported(db: Db, parentId: string, stageAtUs: number): Promise<string | null> {
  const child = await jobsOf(db).findOne({ parentId, stageAtUs }, { projection: { stage: 1 } });
  return child?.stage ?? null;
}

async function hasUnfinished(db: Db, parentId: string): Promise<boolean> {
  const child = await jobsOf(db).findOne({ parentId, status: { $in: [...UNFINISHED] } }, { projection: { _id: 1 } });
  return child !== null;
}

async function childCounts(db: Db, parentId: string): Promise<ChildCounts> {
  const rows = await jobsOf(db)
    .aggregate<{ _id: JobDocument["status"]; n: number }>([
      { $match: { parentId } },
      { $group: { _id: "$status", n: { $sum: 1 } } },
    ])
    .toArray();
  const counts: Partial<Record<JobStatus, number>> = {};
  for (const { _id, n } of rows) {
    const status = _id === "staged" ? "pending" : _id;
    counts[status] = (counts[status] ?? 0) + n;
  }
  return counts;
}

type End = Pick<JobDocument, "completedAtUs" | "error" | "result">;
const NO_END: End = { completedAtUs: null, error: null, result: null };

async function endOf(db: Db, parentId: string, status: JobStatus): Promise<End> {
  const projection = { status: 1, error: 1, index: 1, seq: 1, result: 1, completedAtUs: 1 } as const;
  const children = await jobsOf(db).find({ parentId }, { projection }).toArray();
  const results = children.flatMap(({ result }) => (result === null ? [] : [JSON.parse(result) as JsonObject]));
  return {
    completedAtUs: Math.max(...children.map(({ completedAtUs }) => completedAtUs ?? 0)),
    error: status === "failed" ? commonError(children.filter((child) => child.status === "failed")) : null,
    result: results.length === 0 ? null : JSON.stringify(sumResults(results)),
  };
}

type FailedChild = Pick<JobDocument, "error" | "index" | "seq">;

/** The most common error; in a tie that of the earliest child. */
function commonError(failed: readonly FailedChild[]): string | null {
  const inOrder = failed.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0) || a.seq - b.seq);
  const counts = new Map<string | null, number>();
  for (const { error } of inOrder) counts.set(error, (counts.get(error) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0] ?? null;
}
