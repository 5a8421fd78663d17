import { isDuplicateKey, type MongodbDatabase } from "@memory-bank/storage";
import type { Db, Filter } from "mongodb";
import { isTerminal, type Job, type JobStatus, type JobSummary } from "../job.ts";
import { invalidJob, jobNotFound, wrongState } from "../job-errors.ts";
import { CLAIM_BATCH_MAX, JOB_PAGE_MAX, type JobPage, type JobQuery, type JobStore } from "../job-store.ts";
import { createLeaseObserver } from "../lease-observer.ts";
import {
  backToPending,
  claimJobs,
  completeJob,
  endAs,
  failJob,
  releaseJob,
  renewClaim,
  retryJob,
  runningLeases,
  setJobProgress,
  takeBack,
} from "./claimed-jobs.ts";
import { dropStaleStages, enqueueJobs, finishBatches } from "./enqueue-jobs.ts";
import { isVisible, type JobDocument, jobOf, jobsOf, type SummaryDocument, summaryOf, withoutPayload } from "./job-documents.ts";
import { endPendingChildren, familyProgress, followChildren, settleParents } from "./job-family.ts";

export interface MongodbJobStoreDeps {
  /** Microseconds since 1970. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Milliseconds that never go back, for leases. */
  readonly monotonicMs?: () => number;
}

const HOUSEKEEPING_INTERVAL_MS = 60_000; // what it clears away is seen by nobody

/** The job store in a database that ran `mongodbJobsMigration`. Every step of it is one write of one document. */
export function createMongodbJobStore(database: MongodbDatabase, deps: MongodbJobStoreDeps): JobStore {
  const { now, monotonicMs = () => performance.now() } = deps;
  const leases = createLeaseObserver(monotonicMs);
  let nextHousekeepingMs = monotonicMs();
  const { run } = database;

  async function keepHouse(db: Db): Promise<void> {
    await finishBatches(db);
    if (monotonicMs() < nextHousekeepingMs) return;
    nextHousekeepingMs = monotonicMs() + HOUSEKEEPING_INTERVAL_MS;
    await dropStaleStages(db, now());
  }

  return {
    enqueue: (jobs) => run((db) => enqueueJobs(db, jobs, deps)),
    get: (groupKey, id) => run((db) => getJob(db, groupKey, id, now())),
    find: (id) => run((db) => findJob(db, id, now())),
    list: (query) => run((db) => listJobs(db, query, now())),
    countByStatus: (groupKey) => run((db) => countByStatus(db, groupKey, now())),
    children: (parentId) => run(async (db) => (await childrenOf(db, parentId)).map((child) => summaryOf(child))),

    claim: (request) =>
      run(async (db) => {
        const { kinds, limit } = request;
        if (limit < 1 || limit > CLAIM_BATCH_MAX) throw invalidJob(`a claim takes 1 to ${CLAIM_BATCH_MAX} jobs`);
        await keepHouse(db);
        for (const lease of leases.over(await runningLeases(db, kinds), kinds)) await takeBack(db, lease, now());
        return await claimJobs(db, request, now());
      }),
    heartbeat: (claims) =>
      run(async (db) => {
        const isHeld = await Promise.all(claims.map((claim) => renewClaim(db, claim)));
        return claims.filter((_, index) => !isHeld[index]);
      }),
    setProgress: (claim, progress) => run((db) => setJobProgress(db, claim, progress, now())),
    complete: (claim, result) => run((db) => completeJob(db, claim, result, now())),
    retryAt: (claim, runAtUs, error) => run((db) => retryJob(db, claim, runAtUs, error, now())),
    fail: (claim, error) => run((db) => failJob(db, claim, error, now())),
    release: (claim) => run((db) => releaseJob(db, claim, now())),

    cancel: (groupKey, id) => run((db) => cancelJob(db, groupKey, id, now())),
    requeue: (groupKey, id) => run((db) => requeueJob(db, groupKey, id, now())),
    remove: (groupKey, id) => run((db) => removeJob(db, groupKey, id, now())),
    cancelGroup: (groupKey) => run((db) => cancelGroup(db, groupKey, now())),
    purgeGroup: (groupKey) => run(async (db) => (await jobsOf(db).deleteMany({ groupKey, status: isVisible })).deletedCount),

    nextDueUs: (kinds) =>
      run(async (db) => {
        const filter = { kind: { $in: [...kinds] }, status: "pending", isParent: false } as const;
        const next = await jobsOf(db).findOne(filter, { sort: { runAtUs: 1 }, projection: { runAtUs: 1 } });
        return next?.runAtUs ?? null;
      }),
    reclaimAll: (owner) => run((db) => reclaimAll(db, owner, now())),
  };
}

async function findJob(db: Db, id: string, nowUs: number): Promise<Job | undefined> {
  const document = await jobsOf(db).findOne({ _id: id, status: isVisible });
  if (!document) return undefined;
  if (!document.isParent) return jobOf(document);
  if (!isTerminal(document.status as JobStatus)) await followChildren(db, id, nowUs);
  const parent = await jobsOf(db).findOne({ _id: id });
  return parent ? jobOf(parent, (await familyProgress(db, [parent])).get(id) ?? null) : undefined;
}

async function getJob(db: Db, groupKey: string, id: string, nowUs: number): Promise<Job> {
  const job = await findJob(db, id, nowUs);
  if (job?.groupKey !== groupKey) throw jobNotFound(id);
  return job;
}

async function listJobs(db: Db, query: JobQuery, nowUs: number): Promise<JobPage> {
  const { groupKey, status, kind, excludeParents, limit, offset } = query;
  if (limit < 1 || limit > JOB_PAGE_MAX) throw invalidJob(`a page holds 1 to ${JOB_PAGE_MAX} jobs`);
  await settleParents(db, groupKey, nowUs);
  const filter: Filter<JobDocument> = {
    groupKey,
    status: status ?? isVisible,
    ...(kind === undefined ? {} : { kind }),
    ...(excludeParents ? { isParent: false } : {}),
  };
  const total = await jobsOf(db).countDocuments(filter);
  const documents = await jobsOf(db)
    .find(filter, { projection: withoutPayload, sort: { createdAtUs: -1, _id: -1 } })
    .skip(offset)
    .limit(limit)
    .toArray();
  return { items: await summariesOf(db, documents), total };
}

async function summariesOf(db: Db, documents: readonly SummaryDocument[]): Promise<JobSummary[]> {
  const progress = await familyProgress(
    db,
    documents.filter(({ isParent }) => isParent),
  );
  return documents.map((document) => summaryOf(document, progress.get(document._id) ?? null));
}

async function countByStatus(db: Db, groupKey: string, nowUs: number): Promise<Record<JobStatus, number>> {
  await settleParents(db, groupKey, nowUs);
  const counts: Record<JobStatus, number> = { pending: 0, processing: 0, completed: 0, failed: 0, cancelled: 0 };
  const rows = await jobsOf(db)
    .aggregate<{ _id: JobStatus; n: number }>([
      { $match: { groupKey, status: isVisible } },
      { $group: { _id: "$status", n: { $sum: 1 } } },
    ])
    .toArray();
  for (const { _id, n } of rows) counts[_id] = n;
  return counts;
}

async function childrenOf(db: Db, parentId: string): Promise<SummaryDocument[]> {
  const options = { projection: withoutPayload, sort: { index: 1, seq: 1 } } as const;
  return await jobsOf(db).find({ parentId, status: isVisible }, options).toArray();
}

async function cancelJob(db: Db, groupKey: string, id: string, nowUs: number): Promise<Job> {
  const job = await getJob(db, groupKey, id, nowUs);
  const change = endAs("cancelled", null, nowUs);
  const { matchedCount } = await jobsOf(db).updateOne(
    { _id: id, status: "pending" },
    job.isParent ? { ...change, $set: { ...change.$set, endsChildren: true }, $inc: { revision: 1 } } : change,
  );
  if (matchedCount === 0) throw wrongState("JOB_NOT_PENDING", id, (await getJob(db, groupKey, id, nowUs)).status);
  if (job.isParent) await endPendingChildren(db, id, nowUs);
  await followChildren(db, job.parentId, nowUs);
  return await getJob(db, groupKey, id, nowUs);
}

const FINISHED_BADLY = { $in: ["failed", "cancelled"] } as { $in: JobStatus[] };

async function requeueJob(db: Db, groupKey: string, id: string, nowUs: number): Promise<Job> {
  const job = await getJob(db, groupKey, id, nowUs);
  if (job.status !== "failed" && job.status !== "cancelled") throw wrongState("JOB_NOT_RETRYABLE", id, job.status);
  if (job.isParent) await requeueFamily(db, job, nowUs);
  else await requeueOne(db, job, nowUs);
  await followChildren(db, job.isParent ? id : job.parentId, nowUs);
  return await getJob(db, groupKey, id, nowUs);
}

const asNew = (nowUs: number) =>
  ({
    status: "pending",
    runAtUs: nowUs,
    retryCount: 0,
    error: null,
    completedAtUs: null,
    updatedAtUs: nowUs,
    stage: null,
    stageAtUs: null,
    processed: 0,
  }) as const;

async function requeueOne(db: Db, { id, status, dedupeKey, parentId }: Job, nowUs: number): Promise<void> {
  if (parentId !== null) await reviveParent(db, parentId, nowUs);
  try {
    await jobsOf(db).updateOne(
      { _id: id, status: FINISHED_BADLY },
      { $set: { ...asNew(nowUs), ...(dedupeKey === null ? {} : { pendingKey: dedupeKey }) } },
    );
  } catch (error) {
    if (isDuplicateKey(error)) throw wrongState("JOB_ALREADY_PENDING", id, status);
    throw error;
  }
}

/** The parent first: should the process end in between, its children say that it is finished, and any reader makes it so again. */
async function requeueFamily(db: Db, { id, status }: Job, nowUs: number): Promise<void> {
  const badly = await jobsOf(db).countDocuments({ parentId: id, status: FINISHED_BADLY });
  if (badly === 0) throw wrongState("JOB_NOT_RETRYABLE", id, status);
  await reviveParent(db, id, nowUs);
  await jobsOf(db).updateMany({ parentId: id, status: FINISHED_BADLY }, { $set: asNew(nowUs) });
}

async function reviveParent(db: Db, parentId: string, nowUs: number): Promise<void> {
  const completed = await jobsOf(db).findOne({ parentId, status: "completed" }, { projection: { _id: 1 } });
  const status = completed ? "processing" : "pending";
  await jobsOf(db).updateOne(
    { _id: parentId, isParent: true },
    {
      $set: { status, runAtUs: nowUs, error: null, result: null, completedAtUs: null, updatedAtUs: nowUs },
      $unset: { endsChildren: "" },
      $inc: { revision: 1 },
    },
  );
}

async function removeJob(db: Db, groupKey: string, id: string, nowUs: number): Promise<void> {
  const job = await getJob(db, groupKey, id, nowUs);
  if (!isTerminal(job.status)) throw wrongState("JOB_NOT_FINISHED", id, job.status);
  if (job.isParent) await jobsOf(db).deleteMany({ parentId: id });
  const { deletedCount } = await jobsOf(db).deleteOne({ _id: id, status: job.status });
  if (deletedCount === 0) throw wrongState("JOB_NOT_FINISHED", id, "no longer finished");
  await followChildren(db, job.parentId, nowUs);
}

async function cancelGroup(db: Db, groupKey: string, nowUs: number): Promise<number> {
  const unfinished = { groupKey, status: { $in: ["pending", "processing"] as JobStatus[] }, isParent: false };
  const { modifiedCount } = await jobsOf(db).updateMany(unfinished, endAs("cancelled", null, nowUs));
  await settleParents(db, groupKey, nowUs);
  return modifiedCount;
}

async function reclaimAll(db: Db, owner: string | undefined, nowUs: number): Promise<number> {
  const running = { status: "processing" as const, isParent: false, ...(owner === undefined ? {} : { owner }) };
  const documents = await jobsOf(db)
    .find(running, { projection: { epoch: 1 } })
    .toArray();
  let count = 0;
  for (const { _id, epoch } of documents) {
    const held = { _id, epoch, status: "processing" } as const;
    if (await backToPending(db, held, { runAtUs: nowUs, nowUs })) count += 1;
  }
  return count;
}
