import { AppError } from "@memory-bank/errors";
import { isDuplicateKey } from "@memory-bank/storage";
import type { Db } from "mongodb";
import type { NewJob } from "../job.ts";
import { invalidJob } from "../job-errors.ts";
import type { Enqueued } from "../job-store.ts";
import { asEnqueued, refuseOddFamilies } from "../new-job-rules.ts";
import { batchesOf, documentOf, type JobDocument, jobOf, jobsOf } from "./job-documents.ts";
import { followChildren } from "./job-family.ts";

export interface EnqueueDeps {
  readonly now: () => number;
  readonly newId: () => string;
}

const STAGE_AGE_US = 600_000_000; // a call gives up after seconds
const STALE_STAGES_MAX = 1_000; // per look; the rest follows with the next ones
const TWIN_TRIES_MAX = 20; // each lost try means that the pending twin was taken up just then

/**
 * Adds all jobs or none. One alone is one write. Several are staged unseen, committed by the one write of their batch, and then
 * made pending; whoever looks for work finishes that for a process that ended in between (`finishBatches`).
 */
export async function enqueueJobs(db: Db, jobs: readonly NewJob[], { now, newId }: EnqueueDeps): Promise<Enqueued[]> {
  refuseOddFamilies(jobs);
  const strangers = await requireParents(db, jobs);
  const nowUs = now();
  const firstSeq = await takeSequence(db, jobs.length);
  const documents = jobs.map((job, index) => documentOf(job, firstSeq + index, nowUs));
  const [only] = documents;
  const answers = new Map<string, Enqueued>();
  if (only && documents.length === 1) answers.set(only._id, await addOne(db, only, jobs[0]!, nowUs));
  else if (only) await addAll(db, documents, newId(), answers);
  for (const parentId of strangers) await followChildren(db, parentId, nowUs);
  return jobs.map((job) => answers.get(job.id) ?? { job: asEnqueued(job, nowUs), deduplicated: false });
}

/** Does what is left of batches that committed. */
export async function finishBatches(db: Db): Promise<void> {
  for (const { _id } of await batchesOf(db).find({ state: "committed" }).toArray()) await publish(db, _id, new Map());
}

/**
 * Forgets what calls staged that never committed. The marker makes sure that one which is merely slow cannot commit any more, so a
 * clock that is wrong costs such a call, not a job.
 */
export async function dropStaleStages(db: Db, nowUs: number): Promise<void> {
  const stale = { status: "staged", updatedAtUs: { $lt: nowUs - STAGE_AGE_US } } as const;
  const staged = await jobsOf(db)
    .find(stale, { projection: { batchId: 1 }, limit: STALE_STAGES_MAX })
    .toArray();
  for (const batchId of new Set(staged.flatMap((document) => document.batchId ?? []))) {
    await batchesOf(db).updateOne({ _id: batchId }, { $setOnInsert: { state: "aborted" } }, { upsert: true });
    if (await batchesOf(db).findOne({ _id: batchId, state: "aborted" }))
      await jobsOf(db).deleteMany({ batchId, status: "staged" });
  }
}

async function addOne(db: Db, document: JobDocument, job: NewJob, nowUs: number): Promise<Enqueued> {
  for (let tries = 0; tries < TWIN_TRIES_MAX; tries += 1) {
    const twin = await joinTwin(db, document);
    if (twin) return twin;
    try {
      await jobsOf(db).insertOne(pendingForm(document));
      return { job: asEnqueued(job, nowUs), deduplicated: false };
    } catch (error) {
      if (!isDuplicateKey(error) || document.dedupeKey === null) throw error;
      if (await jobsOf(db).findOne({ _id: document._id, pendingKey: { $ne: document.dedupeKey } })) throw error;
    }
  }
  throw busyKey(document.dedupeKey);
}

async function addAll(db: Db, documents: readonly JobDocument[], batchId: string, answers: Map<string, Enqueued>): Promise<void> {
  const jobs = jobsOf(db);
  const staged: JobDocument[] = [];
  for (const document of documents) {
    const twin = await joinTwin(db, document);
    if (twin) answers.set(document._id, twin);
    else staged.push({ ...document, status: "staged", batchId });
  }
  if (staged.length === 0) return;
  try {
    await jobs.insertMany(staged);
  } catch (error) {
    if (isDuplicateKey(error)) await jobs.deleteMany({ batchId });
    throw error;
  }
  await batchesOf(db).insertOne({ _id: batchId, state: "committed" });
  await publish(db, batchId, answers);
}

/** Makes what a batch staged pending, parents before their children. May run again, and in several processes at once. */
async function publish(db: Db, batchId: string, answers: Map<string, Enqueued>): Promise<void> {
  const jobs = jobsOf(db);
  const toPending = { $set: { status: "pending" }, $unset: { batchId: "" } } as const;
  await jobs.updateMany({ batchId, isParent: true }, toPending);
  const withKey = await jobs.find({ batchId, dedupeKey: { $ne: null } }, { sort: { seq: 1 } }).toArray();
  for (const document of withKey) {
    const twin = await publishOne(db, document);
    if (twin) answers.set(document._id, twin);
  }
  await jobs.updateMany({ batchId }, toPending);
  await batchesOf(db).deleteOne({ _id: batchId });
}

/** Answers the twin when the job joined one, and was dropped. */
async function publishOne(db: Db, document: JobDocument): Promise<Enqueued | undefined> {
  const jobs = jobsOf(db);
  for (let tries = 0; tries < TWIN_TRIES_MAX; tries += 1) {
    try {
      const pending = { status: "pending", pendingKey: document.dedupeKey! } as const;
      await jobs.updateOne({ _id: document._id, status: "staged" }, { $set: pending, $unset: { batchId: "" } });
      return undefined;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const twin = await joinTwin(db, document);
      if (!twin) continue;
      await jobs.deleteOne({ _id: document._id, status: "staged" });
      return twin;
    }
  }
  throw busyKey(document.dedupeKey);
}

/** The pending job with the same dedupe key, which now starts at the earlier of the two times. */
async function joinTwin(db: Db, { dedupeKey, runAtUs }: JobDocument): Promise<Enqueued | undefined> {
  if (dedupeKey === null) return undefined;
  const twin = await jobsOf(db).findOneAndUpdate({ pendingKey: dedupeKey }, { $min: { runAtUs } }, { returnDocument: "after" });
  return twin ? { job: jobOf(twin), deduplicated: true } : undefined;
}

function pendingForm(document: JobDocument): JobDocument {
  return document.dedupeKey === null ? document : { ...document, pendingKey: document.dedupeKey };
}

/** The parents that are not in the call themselves. */
async function requireParents(db: Db, jobs: readonly NewJob[]): Promise<string[]> {
  const groupOf = new Map(jobs.filter(({ isParent }) => isParent).map(({ id, groupKey }) => [id, groupKey]));
  const strangers = new Set<string>();
  for (const { parentId, groupKey } of jobs) {
    if (parentId === undefined || groupOf.get(parentId) === groupKey) continue;
    if (!strangers.has(parentId) && !(await jobsOf(db).findOne({ _id: parentId, isParent: true, groupKey })))
      throw invalidJob(`there is no parent '${parentId}' in this group`);
    strangers.add(parentId);
  }
  return [...strangers];
}

/** The first of `count` numbers that nobody else gets. */
async function takeSequence(db: Db, count: number): Promise<number> {
  const counter = await db
    .collection<{ _id: string; last: number }>("job_counters")
    .findOneAndUpdate({ _id: "seq" }, { $inc: { last: count } }, { upsert: true, returnDocument: "after" });
  return (counter?.last ?? count) - count + 1;
}

function busyKey(dedupeKey: string | null): AppError {
  return new AppError("conflict", "DEDUPE_KEY_BUSY", `Jobs with the key '${dedupeKey}' come and go too fast`);
}
