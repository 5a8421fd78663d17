import type { MongodbMigration } from "@memory-bank/storage";
import type { Collection, Db } from "mongodb";
import type { Job, JobProgress, JobStatus, JobSummary, JsonObject, NewJob } from "../job.ts";

/**
 * A job as it is stored. Objects of callers are kept as JSON text, because member names of theirs may hold dots or dollars.
 * `staged` is a job whose call has not committed yet: nobody sees it.
 */
export interface JobDocument {
  _id: string;
  kind: string;
  groupKey: string;
  tenantKey: string;
  serialKey: string | null;
  dedupeKey: string | null;
  priority: number;
  isParent: boolean;
  parentId: string | null;
  index: number | null;
  createdAtUs: number;
  /** The order of adding. */
  seq: number;
  status: JobStatus | "staged";
  retryCount: number;
  runAtUs: number;
  epoch: number;
  heartbeat: number;
  stage: string | null;
  stageAtUs: number | null;
  processed: number;
  total: number;
  updatedAtUs: number;
  completedAtUs: number | null;
  error: string | null;
  result: string | null;
  details: string;
  payload: string;
  owner?: string;
  leaseMs?: number;
  /** The dedupe key while pending, the serial key while running: unique indexes hold what they promise. */
  pendingKey?: string;
  runningKey?: string;
  /** The call that it is staged for. */
  batchId?: string;
  /** Of a parent: counts its changes, so that one computed from older children is not written. */
  revision?: number;
  /** Of a parent: it was cancelled, and so is every child that is still pending. */
  endsChildren?: boolean;
}

/** The commit of a call that enqueued several jobs: while this is there, what it staged may still have to be made pending. */
export interface BatchDocument {
  _id: string;
  state: "committed" | "aborted";
}

export const jobsOf = (db: Db): Collection<JobDocument> => db.collection<JobDocument>("jobs");
export const batchesOf = (db: Db): Collection<BatchDocument> => db.collection<BatchDocument>("job_batches");

/** Sparse instead of partial indexes, since every server that speaks the protocol has them. */
export const mongodbJobsMigration: MongodbMigration = {
  id: "jobs-001",
  collections: {
    jobs: [
      { name: "listed", key: { groupKey: 1, createdAtUs: -1, _id: -1 } },
      { name: "counted", key: { groupKey: 1, status: 1 } },
      { name: "of_parent", key: { parentId: 1, status: 1 } },
      { name: "due", key: { kind: 1, status: 1, priority: -1, runAtUs: 1, seq: 1 } },
      { name: "next", key: { kind: 1, status: 1, runAtUs: 1 } },
      { name: "one_pending", key: { pendingKey: 1 }, unique: true, sparse: true },
      { name: "one_running", key: { runningKey: 1 }, unique: true, sparse: true },
      { name: "of_batch", key: { batchId: 1 }, sparse: true },
    ],
    job_batches: [],
  },
};

export function documentOf(job: NewJob, seq: number, nowUs: number): JobDocument {
  return {
    _id: job.id,
    kind: job.kind,
    groupKey: job.groupKey,
    tenantKey: job.tenantKey,
    serialKey: job.serialKey ?? null,
    dedupeKey: job.dedupeKey ?? null,
    priority: job.priority ?? 0,
    isParent: job.isParent ?? false,
    parentId: job.parentId ?? null,
    index: job.index ?? null,
    createdAtUs: job.createdAtUs,
    seq,
    status: "pending",
    retryCount: 0,
    runAtUs: job.runAtUs ?? job.createdAtUs,
    epoch: 0,
    heartbeat: 0,
    stage: null,
    stageAtUs: null,
    processed: 0,
    total: job.total ?? 0,
    updatedAtUs: nowUs,
    completedAtUs: null,
    error: null,
    result: null,
    details: JSON.stringify(job.details ?? {}),
    payload: JSON.stringify(job.payload),
    ...(job.isParent ? { revision: 0 } : {}),
  };
}

/** A document read without its payload. */
export type SummaryDocument = Omit<JobDocument, "payload">;
export const withoutPayload = { payload: 0 } as const;
export const isVisible = { $ne: "staged" } as const;

export function jobOf(document: JobDocument, familyProgress: JobProgress | null = null): Job {
  return { ...summaryOf(document, familyProgress), payload: JSON.parse(document.payload) as JsonObject };
}

/** `familyProgress` is what a parent's children add up to; a parent has no progress of its own. */
export function summaryOf(document: SummaryDocument, familyProgress: JobProgress | null = null): JobSummary {
  const status = document.status === "staged" ? "pending" : document.status;
  return {
    id: document._id,
    kind: document.kind,
    groupKey: document.groupKey,
    tenantKey: document.tenantKey,
    serialKey: document.serialKey,
    dedupeKey: document.dedupeKey,
    details: JSON.parse(document.details) as JsonObject,
    priority: document.priority,
    isParent: document.isParent,
    parentId: document.parentId,
    index: document.index,
    createdAtUs: document.createdAtUs,
    status,
    retryCount: document.retryCount,
    nextRunAtUs: status === "pending" ? document.runAtUs : null,
    epoch: document.epoch,
    progress: document.isParent ? familyProgress : ownProgress(document),
    result: document.result === null ? null : (JSON.parse(document.result) as JsonObject),
    error: document.error,
    updatedAtUs: document.updatedAtUs,
    completedAtUs: document.completedAtUs,
  };
}

function ownProgress({ stage, stageAtUs, processed, total }: SummaryDocument): JobProgress | null {
  return stage === null || stageAtUs === null ? null : { stage, atUs: stageAtUs, processed, total };
}
