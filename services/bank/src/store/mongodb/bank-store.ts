import { AppError, isAppError } from "@memory-bank/errors";
import { pendingEvents } from "@memory-bank/events";
import type { JobStore, NewJob } from "@memory-bank/jobs";
import { isDuplicateKey, type MongodbDatabase } from "@memory-bank/storage";
import type { Collection, Db, Filter } from "mongodb";
import { type BankQuery, type BankStore, type Burial, PURGE_ROWS_MAX, TOMBSTONES_MAX } from "../../bank-store.ts";
import { type Bank, remainsOf } from "../../domain/bank.ts";
import type { ConfigValues } from "../../domain/bank-config.ts";
import { auditOf, type BankDocument, banksOf, directivesOf, tenantConfigsOf } from "./bank-documents.ts";

const CHANGE_TRIES_MAX = 200; // each lost try means that somebody else changed the same bank just then

export function createMongodbBankStore({ run }: MongodbDatabase, jobs: JobStore): BankStore {
  return {
    findById: (tenantId, bankId) => run((db) => findLive(db, tenantId, bankId)),
    findByUid: (bankUid) => run(async (db) => bankFrom(await banksOf(db).findOne({ _id: bankUid, deletedAtUs: null }))),
    list: (query) => run((db) => listBanks(db, query)),
    put: (seed, change) =>
      run((db) =>
        repeatedly(async () => {
          const document = await findLiveDocument(db, seed.tenantId, seed.bankId);
          return document ? await save(db, document, change) : await insert(db, change(seed));
        }),
      ),
    update: (tenantId, bankId, change) =>
      run((db) =>
        repeatedly<Bank | undefined>(async () => {
          const document = await findLiveDocument(db, tenantId, bankId);
          return document ? await save(db, document, change) : { done: undefined };
        }),
      ),
    bury: (burial) =>
      run(async (db) => {
        const bank = await repeatedly(() => bury(db, burial));
        if (bank) await finishBurials(db, jobs, { _id: bank.bankUid });
        return bank;
      }),
    findTombstone: (tenantId, bankId) =>
      run(async (db) => {
        const dead = { tenantId, bankId, deletedAtUs: { $ne: null } };
        const document = await banksOf(db).findOne(dead, { sort: { deletedAtUs: -1 } });
        const bank = bankFrom(document);
        return bank && { bank, deletedAtUs: document?.deletedAtUs ?? 0 };
      }),
    purge: (bankUid) => run((db) => purge(db, bankUid)),
    forgetTombstones: (beforeUs) => run((db) => forgetTombstones(db, beforeUs)),
    findTenantConfig: (tenantId) =>
      run(async (db) => {
        const document = await tenantConfigsOf(db).findOne({ _id: tenantId });
        return document ? (JSON.parse(document.config) as ConfigValues) : undefined;
      }),
    setTenantConfig: (tenantId, values) =>
      run(async (db) => {
        const config = JSON.stringify(values);
        await tenantConfigsOf(db).updateOne({ _id: tenantId }, { $set: { config } }, { upsert: true });
      }),
  };
}

/** Brings the jobs of burials into the job store: their own process does so, or whoever looks for work next. */
export async function finishBurials(db: Db, jobs: JobStore, which: Filter<BankDocument> = {}): Promise<void> {
  const unfinished = await banksOf(db)
    .find({ ...which, pendingJobs: { $exists: true } })
    .toArray();
  for (const { _id, pendingJobs = [] } of unfinished) {
    for (const text of pendingJobs) await enqueueOnce(jobs, JSON.parse(text) as NewJob);
    await banksOf(db).updateOne({ _id }, { $unset: { pendingJobs: "" } });
  }
}

async function enqueueOnce(jobs: JobStore, job: NewJob): Promise<void> {
  try {
    await jobs.enqueue([job]);
  } catch (error) {
    if (!isAppError(error) || error.code !== "already_exists") throw error;
  }
}

/** A step that may find that somebody else was quicker. */
type Outcome<T> = { readonly done: T } | "again";

async function repeatedly<T>(step: () => Promise<Outcome<T>>): Promise<T> {
  for (let tries = 0; tries < CHANGE_TRIES_MAX; tries += 1) {
    const outcome = await step();
    if (outcome !== "again") return outcome.done;
  }
  throw new AppError("conflict", "BANK_BUSY", "The bank is changed by too many callers at once");
}

const liveKeyOf = (tenantId: string, bankId: string) => JSON.stringify([tenantId, bankId]);

async function findLiveDocument(db: Db, tenantId: string, bankId: string): Promise<BankDocument | null> {
  return await banksOf(db).findOne({ liveKey: liveKeyOf(tenantId, bankId) });
}

async function findLive(db: Db, tenantId: string, bankId: string): Promise<Bank | undefined> {
  return bankFrom(await findLiveDocument(db, tenantId, bankId));
}

async function listBanks(db: Db, { tenantId, contains = "", allowedBankIds, limit, offset }: BankQuery) {
  const part = { $regex: literally(contains.toLowerCase()) };
  const filter: Filter<BankDocument> = {
    tenantId,
    deletedAtUs: null,
    ...(contains === "" ? {} : { $or: [{ foldedId: part }, { foldedName: part }] }),
    ...(allowedBankIds === null ? {} : { bankId: { $in: [...allowedBankIds] } }),
  };
  const total = await banksOf(db).countDocuments(filter);
  if (limit === 0) return { banks: [], total };
  const documents = await banksOf(db)
    .find(filter, { sort: { bankId: 1 } })
    .skip(offset)
    .limit(limit)
    .toArray();
  return { banks: documents.flatMap((document) => bankFrom(document) ?? []), total };
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

async function insert(db: Db, bank: Bank): Promise<Outcome<Bank>> {
  try {
    await banksOf(db).insertOne({
      _id: bank.bankUid,
      tenantId: bank.tenantId,
      bankId: bank.bankId,
      foldedId: bank.bankId.toLowerCase(),
      ...changeableOf(bank),
      createdAtUs: bank.createdAtUs,
      deletedAtUs: null,
      revision: 0,
      liveKey: liveKeyOf(bank.tenantId, bank.bankId),
    });
    return { done: bank };
  } catch (error) {
    if (isDuplicateKey(error)) return "again";
    throw error;
  }
}

async function save(db: Db, document: BankDocument, change: (bank: Bank) => Bank): Promise<Outcome<Bank>> {
  const existing = bankOf(document);
  const changed = change(existing);
  if (changed === existing) return { done: existing };
  const { matchedCount } = await banksOf(db).updateOne(unchanged(document), {
    $set: changeableOf(changed),
    $inc: { revision: 1 },
  });
  return matchedCount > 0 ? { done: changed } : "again";
}

async function bury(db: Db, { tenantId, bankId, deletedAtUs, jobs, events }: Burial): Promise<Outcome<Bank | undefined>> {
  const document = await findLiveDocument(db, tenantId, bankId);
  if (!document) return { done: undefined };
  const bank = bankOf(document);
  const pendingJobs = jobs(bank).map((job) => JSON.stringify(job));
  const told = await pendingEvents(db, events(bank));
  const { matchedCount } = await banksOf(db).updateOne(unchanged(document), {
    $set: { deletedAtUs, ...(pendingJobs.length === 0 ? {} : { pendingJobs }) },
    $push: { pendingEvents: { $each: told } },
    $unset: { liveKey: "" },
    $inc: { revision: 1 },
  });
  return matchedCount > 0 ? { done: bank } : "again";
}

const unchanged = ({ _id, revision }: BankDocument) => ({ _id, revision, deletedAtUs: null });

async function purge(db: Db, bankUid: string): Promise<boolean> {
  const document = await banksOf(db).findOne({ _id: bankUid });
  if (!document) return true;
  if (document.deletedAtUs === null) throw new AppError("failed_precondition", "BANK_ALIVE", "The bank is not deleted");
  let left = PURGE_ROWS_MAX;
  left -= await deleteSome(directivesOf(db), { bankUid }, left);
  if (left > 0) left -= await deleteSome(auditOf(db), { bankUid }, left);
  if (left === 0) return false; // perhaps nothing is left all the same; the next call finds out
  const remains = changeableOf(remainsOf(bankOf(document)));
  await banksOf(db).updateOne({ _id: bankUid }, { $set: { ...remains, isPurged: true }, $inc: { revision: 1 } });
  return true;
}

/** Deletes at most `limit` documents, in the order of `sort`; answers how many. */
export async function deleteSome<T extends { _id: string }>(
  collection: Collection<T>,
  filter: Filter<T>,
  limit: number,
  sort: Readonly<Record<string, 1 | -1>> = {},
): Promise<number> {
  const found = await collection.find(filter, { projection: { _id: 1 }, sort: { ...sort }, limit }).toArray();
  if (found.length === 0) return 0;
  const ids = { _id: { $in: found.map(({ _id }) => _id) } } as unknown as Filter<T>;
  return (await collection.deleteMany(ids)).deletedCount;
}

async function forgetTombstones(db: Db, beforeUs: number): Promise<string[]> {
  const old = { isPurged: true, deletedAtUs: { $lt: beforeUs } };
  const options = { projection: { _id: 1 }, sort: { deletedAtUs: 1 }, limit: TOMBSTONES_MAX } as const;
  const forgotten: string[] = [];
  for (const { _id } of await banksOf(db).find(old, options).toArray()) {
    // One by one, so that of two sweeps at once only one answers it.
    if ((await banksOf(db).deleteOne({ _id })).deletedCount > 0) forgotten.push(_id);
  }
  return forgotten;
}

function changeableOf(bank: Bank) {
  const { name, updatedAtUs } = bank;
  return { name, foldedName: name.toLowerCase(), overrides: JSON.stringify(bank.overrides), updatedAtUs };
}

function bankFrom(document: BankDocument | null): Bank | undefined {
  return document ? bankOf(document) : undefined;
}

function bankOf(document: BankDocument): Bank {
  const { _id: bankUid, tenantId, bankId, name, createdAtUs, updatedAtUs } = document;
  return { tenantId, bankId, bankUid, name, overrides: JSON.parse(document.overrides) as ConfigValues, createdAtUs, updatedAtUs };
}
