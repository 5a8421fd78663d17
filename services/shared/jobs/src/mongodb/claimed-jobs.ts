import { isDuplicateKey } from "@memory-bank/storage";
import type { Db, Filter, UpdateFilter } from "mongodb";
import type { Claim, JsonObject } from "../job.ts";
import { cutError, leaseLost } from "../job-errors.ts";
import type { BackToPending, ClaimedJob, ClaimRequest } from "../job-store.ts";
import type { ObservedLease } from "../lease-observer.ts";
import { type JobDocument, jobOf, jobsOf } from "./job-documents.ts";
import { endPendingChildren, followChildren } from "./job-family.ts";

const CANDIDATES_PER_LOOK = 128; // twice the largest claim, so that jobs lost to others do not cost another look
const TWIN_TRIES_MAX = 20; // each lost try means that the pending twin was taken up just then

type Candidate = Pick<JobDocument, "_id" | "serialKey" | "parentId" | "epoch">;

/** Takes up to `limit` due jobs. Each is taken by one write that only succeeds while the job is as it was seen. */
export async function claimJobs(
  db: Db,
  { kinds, limit, owner, leaseMs, nowUs }: ClaimRequest,
  atUs: number,
): Promise<ClaimedJob[]> {
  const jobs = jobsOf(db);
  const claimed: ClaimedJob[] = [];
  const busyKeys = new Set<string>();
  while (claimed.length < limit) {
    const due: Filter<JobDocument> = { kind: { $in: [...kinds] }, status: "pending", isParent: false, runAtUs: { $lte: nowUs } };
    const free = busyKeys.size === 0 ? due : { ...due, serialKey: { $nin: [...busyKeys] } };
    const candidates = await jobs
      .find(free, { projection: { serialKey: 1, parentId: 1, epoch: 1 }, sort: { priority: -1, runAtUs: 1, seq: 1 } })
      .limit(CANDIDATES_PER_LOOK)
      .toArray();
    if (candidates.length === 0) return claimed;
    for (const key of await runningKeys(db, candidates)) busyKeys.add(key);
    for (const candidate of candidates) {
      if (claimed.length === limit) break;
      if (candidate.serialKey !== null && busyKeys.has(candidate.serialKey)) continue;
      if (candidate.serialKey !== null) busyKeys.add(candidate.serialKey);
      const document = await take(db, candidate, { owner, leaseMs }, atUs);
      if (document) claimed.push({ job: jobOf(document), claim: { jobId: document._id, epoch: document.epoch, owner } });
    }
  }
  return claimed;
}

async function take(
  db: Db,
  { _id, serialKey, parentId, epoch }: Candidate,
  holder: { owner: string; leaseMs: number },
  atUs: number,
): Promise<JobDocument | null> {
  if (parentId !== null && !(await startParent(db, parentId, atUs))) return null;
  const running = serialKey === null ? {} : { runningKey: serialKey };
  try {
    return await jobsOf(db).findOneAndUpdate(
      { _id, status: "pending", epoch },
      {
        $set: { status: "processing", ...holder, ...running, heartbeat: 0, updatedAtUs: atUs },
        $inc: { epoch: 1 },
        $unset: { pendingKey: "" },
      },
      { returnDocument: "after" },
    );
  } catch (error) {
    if (isDuplicateKey(error)) return null; // another job of the serial key was quicker
    throw error;
  }
}

/**
 * Marks the parent as started before its child is, so that this and a cancelling of the whole family exclude each other. False
 * when it was cancelled; then the child is as well.
 */
async function startParent(db: Db, parentId: string, atUs: number): Promise<boolean> {
  const started = { status: "processing", error: null, result: null, completedAtUs: null, updatedAtUs: atUs } as const;
  const parent = await jobsOf(db).findOne({ _id: parentId }, { projection: { status: 1, endsChildren: 1 } });
  if (parent?.status === "processing") return true;
  const { matchedCount } = await jobsOf(db).updateOne(
    { _id: parentId, isParent: true, endsChildren: { $ne: true } },
    { $set: started, $inc: { revision: 1 } },
  );
  if (matchedCount > 0) return true;
  await endPendingChildren(db, parentId, atUs);
  return false;
}

async function runningKeys(db: Db, candidates: readonly Candidate[]): Promise<string[]> {
  const keys = candidates.flatMap(({ serialKey }) => serialKey ?? []);
  if (keys.length === 0) return [];
  const running = await jobsOf(db)
    .find({ runningKey: { $in: keys } }, { projection: { runningKey: 1 } })
    .toArray();
  return running.flatMap(({ runningKey }) => runningKey ?? []);
}

/** All running jobs of these kinds, for the observer of leases. */
export async function runningLeases(db: Db, kinds: readonly string[]): Promise<ObservedLease[]> {
  const documents = await jobsOf(db)
    .find(
      { kind: { $in: [...kinds] }, status: "processing", isParent: false },
      { projection: { kind: 1, epoch: 1, heartbeat: 1, leaseMs: 1 } },
    )
    .toArray();
  return documents.map(({ _id, kind, epoch, heartbeat, leaseMs }) => ({
    jobId: _id,
    kind,
    epoch,
    heartbeat,
    leaseMs: leaseMs ?? 0,
  }));
}

/** False when the claim is lost. */
export async function renewClaim(db: Db, claim: Claim): Promise<boolean> {
  const { matchedCount } = await jobsOf(db).updateOne(heldBy(claim), { $inc: { heartbeat: 1 } });
  return matchedCount > 0;
}

export async function setJobProgress(
  db: Db,
  claim: Claim,
  { stage, processed, total }: { stage: string; processed: number; total: number },
  nowUs: number,
): Promise<void> {
  await writeHeld(db, claim, { $set: { stage, stageAtUs: nowUs, processed, total, updatedAtUs: nowUs } });
}

export async function completeJob(db: Db, claim: Claim, result: JsonObject | null, nowUs: number): Promise<void> {
  const held = await jobsOf(db).findOne(heldBy(claim), { projection: { total: 1, parentId: 1 } });
  if (!held) throw leaseLost(claim.jobId);
  const end = { status: "completed", stage: "completed", stageAtUs: nowUs, processed: held.total, error: null } as const;
  const text = result === null ? null : JSON.stringify(result);
  await writeHeld(db, claim, {
    $set: { ...end, result: text, completedAtUs: nowUs, updatedAtUs: nowUs },
    $unset: { runningKey: "" },
  });
  await followChildren(db, held.parentId, nowUs);
}

export async function failJob(db: Db, claim: Claim, error: string, nowUs: number): Promise<void> {
  const held = await jobsOf(db).findOne(heldBy(claim), { projection: { parentId: 1 } });
  if (!held) throw leaseLost(claim.jobId);
  await writeHeld(db, claim, endAs("failed", cutError(error), nowUs));
  await followChildren(db, held.parentId, nowUs);
}

/** Queues a failed try again, counted as one. */
export async function retryJob(db: Db, claim: Claim, runAtUs: number, error: string, nowUs: number): Promise<BackToPending> {
  const outcome = await backToPending(db, heldBy(claim), { runAtUs, nowUs, failure: cutError(error) });
  if (outcome === undefined) throw leaseLost(claim.jobId);
  return outcome;
}

export async function releaseJob(db: Db, claim: Claim, nowUs: number): Promise<BackToPending> {
  const outcome = await backToPending(db, heldBy(claim), { runAtUs: nowUs, nowUs });
  if (outcome === undefined) throw leaseLost(claim.jobId);
  return outcome;
}

/** Gives a job back whose lease is over, unless its holder has renewed it since. */
export async function takeBack(db: Db, { jobId, epoch, heartbeat }: ObservedLease, nowUs: number): Promise<void> {
  await backToPending(db, { _id: jobId, epoch, heartbeat, status: "processing" }, { runAtUs: nowUs, nowUs });
}

interface Return {
  readonly runAtUs: number;
  readonly nowUs: number;
  /** Of a try that counts. */
  readonly failure?: string;
}

/** Queues a running job again, or ends it when another pending one has its dedupe key. `undefined`: nothing matches any more. */
export async function backToPending(
  db: Db,
  held: Filter<JobDocument>,
  { runAtUs, nowUs, failure }: Return,
): Promise<BackToPending | undefined> {
  const jobs = jobsOf(db);
  const counted = failure === undefined ? {} : { $inc: { retryCount: 1 } };
  for (let tries = 0; tries < TWIN_TRIES_MAX; tries += 1) {
    const document = await jobs.findOne(held, { projection: { dedupeKey: 1, parentId: 1, serialKey: 1 } });
    if (!document) return undefined;
    const { dedupeKey, parentId } = document;
    const twin = dedupeKey === null ? null : await jobs.findOne({ pendingKey: dedupeKey }, { projection: { _id: 1 } });
    const pending = { status: "pending", runAtUs, updatedAtUs: nowUs } as const;
    const change: UpdateFilter<JobDocument> = twin
      ? endAs("cancelled", `Superseded by '${twin._id}'`, nowUs)
      : {
          $set: {
            ...pending,
            ...(failure === undefined ? {} : { error: failure }),
            ...(dedupeKey === null ? {} : { pendingKey: dedupeKey }),
          },
          $unset: { runningKey: "" },
        };
    try {
      const { matchedCount } = await jobs.updateOne(held, { ...change, ...counted });
      if (matchedCount === 0) return undefined;
      await followChildren(db, parentId, nowUs);
      return twin ? "superseded" : "pending";
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }
  throw new Error("jobs of one dedupe key come and go faster than one of them can be given back");
}

/** The change that ends a job which did not complete. */
export function endAs(status: "failed" | "cancelled", error: string | null, nowUs: number): UpdateFilter<JobDocument> {
  return {
    $set: { status, error, completedAtUs: nowUs, updatedAtUs: nowUs },
    $unset: { runningKey: "", pendingKey: "" },
  };
}

function heldBy({ jobId, epoch }: Claim): Filter<JobDocument> {
  return { _id: jobId, epoch, status: "processing" };
}

async function writeHeld(db: Db, claim: Claim, change: UpdateFilter<JobDocument>): Promise<void> {
  const { matchedCount } = await jobsOf(db).updateOne(heldBy(claim), change);
  if (matchedCount === 0) throw leaseLost(claim.jobId);
}
