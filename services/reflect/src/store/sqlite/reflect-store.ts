import { AppError } from "@memory-bank/errors";
import { cancelPendingJob, completeJob, enqueueJobs, failJob, jobsMigration, setJobDetails } from "@memory-bank/jobs";
import { type Migration, migrationsFrom, type SqliteDatabase, type SqliteTx } from "@memory-bank/storage";
import {
  isWorthKeeping,
  type MentalModel,
  MODELS_PER_BANK_MAX,
  modelNotFound,
  nextCron,
  REFRESH_KIND,
  refreshedModel,
  refreshKey,
  VERSIONS_KEPT,
} from "../../domain/mental-model.ts";
import { failureOutcomes, failureTexts } from "../../domain/refresh-outcome.ts";
import { matchesTags } from "../../domain/tags.ts";
import type { ReflectStore } from "../../reflect-store.ts";
import { findModel, modelOf, selectModels, versionOf, writeModel } from "./model-rows.ts";

export const reflectMigrations: readonly Migration[] = [
  ...migrationsFrom(new URL("./migrations/", import.meta.url)),
  jobsMigration,
];

/** Rows of one table that a call of `purge` deletes: a few milliseconds, so that a large bank does not hold up others. */
const PURGED_ROWS_MAX = 500;

/** The store in a database that ran `reflectMigrations`. `nowUs` stamps the jobs that it touches. */
export function createSqliteReflectStore(db: SqliteDatabase, { nowUs }: { readonly nowUs: () => number }): ReflectStore {
  return {
    insert: (model, refresh) =>
      db.write((tx) => {
        requireLive(tx, model.bankUid);
        if (findModel(tx, model.bankUid, model.id)) throw taken(model.id);
        if (countModels(tx, model.bankUid) >= MODELS_PER_BANK_MAX) throw tooMany();
        writeModel(tx, model);
        return enqueueJobs(tx, [refresh], nowUs())[0]!;
      }),

    find: async (bankUid, id) => db.read((tx) => (isFenced(tx, bankUid) ? undefined : findModel(tx, bankUid, id))),

    list: async ({ bankUid, tags, limit, offset }) =>
      db.read((tx) => {
        if (isFenced(tx, bankUid)) return { models: [], total: 0 };
        const heads = tx.all<{ id: string; tags: string }>(LIST_HEADS, [bankUid]);
        const matches = heads.filter((head) => matchesTags(JSON.parse(head.tags) as string[], tags));
        const page = matches.slice(offset, offset + limit);
        return { models: page.map(({ id }) => findModel(tx, bankUid, id)!), total: matches.length };
      }),

    countTags: async (bankUid) =>
      db.read((tx) => (isFenced(tx, bankUid) ? [] : tx.all<{ tag: string; count: number }>(COUNT_TAGS, [bankUid]))),

    listRefreshedAfterConsolidation: async (bankUid) =>
      db.read((tx) => (isFenced(tx, bankUid) ? [] : tx.all(AUTOMATIC, [bankUid]).map(modelOf))),

    update: (bankUid, id, change, atUs) =>
      db.write((tx) => {
        if (isFenced(tx, bankUid)) return undefined;
        const model = findModel(tx, bankUid, id);
        if (!model) return undefined;
        const changed = change(model);
        replaceModel(tx, model, changed, atUs);
        return changed;
      }),

    delete: (bankUid, id) =>
      db.write((tx) => {
        if (isFenced(tx, bankUid) || tx.run(DELETE_MODEL, [bankUid, id]).changes === 0) return false;
        tx.run(DELETE_VERSIONS, [bankUid, id]);
        cancelPendingJob(tx, refreshKey(bankUid, id), nowUs());
        return true;
      }),

    listVersions: async (bankUid, id) =>
      db.read((tx) => (isFenced(tx, bankUid) ? [] : tx.all(VERSIONS, [bankUid, id, VERSIONS_KEPT]).map(versionOf))),

    enqueueRefresh: (modelId, refresh) =>
      db.write((tx) => {
        if (isFenced(tx, refresh.groupKey) || !findModel(tx, refresh.groupKey, modelId)) return undefined;
        return enqueueJobs(tx, [refresh], nowUs())[0]!;
      }),

    commitRefresh: (claim, model, refreshed, outcome) =>
      db.write((tx) => {
        const { bankUid, id } = model;
        requireLive(tx, bankUid);
        const present = findModel(tx, bankUid, id);
        if (!present) throw modelNotFound(id);
        if (present.createdAtUs !== model.createdAtUs || present.revision !== model.revision) throw changedMeanwhile(id);
        replaceModel(tx, present, refreshedModel(present, refreshed), refreshed.atUs);
        setJobDetails(tx, claim, detailsOf(id, outcome, null));
        completeJob(tx, claim, { mental_model_id: id, outcome }, nowUs());
      }),

    failRefresh: (claim, reason) =>
      db.write((tx) => {
        setJobDetails(tx, claim, { outcome: failureOutcomes[reason], failure_reason: reason });
        failJob(tx, claim, failureTexts[reason], nowUs());
      }),

    listDue: async (atUs, limit) =>
      db.read((tx) =>
        tx.all<{ bank_uid: string; id: string }>(DUE, [atUs, limit]).map(({ bank_uid, id }) => ({ bankUid: bank_uid, id })),
      ),

    enqueueDue: ({ bankUid, id }, refresh, atUs) =>
      db.write((tx) => {
        const model = findModel(tx, bankUid, id);
        if (isFenced(tx, bankUid) || !model || model.nextCronAtUs === null || model.nextCronAtUs > atUs) return undefined;
        writeModel(tx, { ...model, nextCronAtUs: nextCron(model.trigger, atUs) });
        return enqueueJobs(tx, [refresh], nowUs())[0]!;
      }),

    fence: (bankUid) =>
      db.write((tx) => {
        if (isFenced(tx, bankUid)) return 0;
        tx.run("INSERT INTO fenced_banks (bank_uid) VALUES (?)", [bankUid]);
        return countModels(tx, bankUid);
      }),

    purge: (bankUid) =>
      db.write((tx) => {
        if (!isFenced(tx, bankUid)) return true;
        const isLeft = ["mental_model_versions", "mental_models"].map((table) => {
          const sql = `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE bank_uid = ? LIMIT ?)`;
          return tx.run(sql, [bankUid, PURGED_ROWS_MAX]).changes === PURGED_ROWS_MAX;
        });
        return !isLeft.includes(true);
      }),

    ping: async () => db.ping(),
  };
}

const LIST_HEADS = `SELECT id, tags FROM mental_models WHERE bank_uid = ?
  ORDER BY last_refreshed_at_us DESC NULLS LAST, id DESC`;
const COUNT_TAGS = `SELECT value AS tag, count(*) AS count FROM mental_models, json_each(mental_models.tags)
  WHERE bank_uid = ? GROUP BY value`;
const AUTOMATIC = selectModels("bank_uid = ? AND refreshes_after_consolidation = 1 ORDER BY id");
const DUE = `SELECT bank_uid, id FROM mental_models WHERE next_cron_at_us <= ?
  AND bank_uid NOT IN (SELECT bank_uid FROM fenced_banks) ORDER BY next_cron_at_us, bank_uid, id LIMIT ?`;
const VERSIONS = `SELECT content, reflect_response, changed_at_us FROM mental_model_versions
  WHERE bank_uid = ? AND model_id = ? ORDER BY seq DESC LIMIT ?`;
const DELETE_MODEL = "DELETE FROM mental_models WHERE bank_uid = ? AND id = ?";
const DELETE_VERSIONS = "DELETE FROM mental_model_versions WHERE bank_uid = ? AND model_id = ?";

/** Writes the later state of a model; the earlier content goes into the history, from which the oldest drops out. */
function replaceModel(tx: SqliteTx, before: MentalModel, after: MentalModel, atUs: number): void {
  writeModel(tx, after);
  if (!isWorthKeeping(before, after)) return;
  const { bankUid, id } = before;
  tx.run(
    "INSERT INTO mental_model_versions (bank_uid, model_id, changed_at_us, content, reflect_response) VALUES (?, ?, ?, ?, ?)",
    [bankUid, id, atUs, before.content, before.reflectResponse && JSON.stringify(before.reflectResponse)],
  );
  tx.run(
    `DELETE FROM mental_model_versions WHERE seq IN (SELECT seq FROM mental_model_versions
       WHERE bank_uid = ? AND model_id = ? ORDER BY seq DESC LIMIT -1 OFFSET ?)`,
    [bankUid, id, VERSIONS_KEPT],
  );
}

function detailsOf(modelId: string, outcome: string, failureReason: string | null) {
  return { operation_type: REFRESH_KIND, mental_model_id: modelId, outcome, failure_reason: failureReason };
}

function isFenced(tx: SqliteTx, bankUid: string): boolean {
  return tx.get("SELECT 1 FROM fenced_banks WHERE bank_uid = ?", [bankUid]) !== undefined;
}

function requireLive(tx: SqliteTx, bankUid: string): void {
  if (isFenced(tx, bankUid)) throw new AppError("not_found", "BANK_NOT_FOUND", "The bank was deleted");
}

function countModels(tx: SqliteTx, bankUid: string): number {
  return tx.get<{ n: number }>("SELECT count(*) AS n FROM mental_models WHERE bank_uid = ?", [bankUid])!.n;
}

const taken = (id: string): AppError =>
  new AppError("already_exists", "MENTAL_MODEL_EXISTS", `Mental model '${id}' already exists`);
const tooMany = (): AppError =>
  new AppError("resource_exhausted", "TOO_MANY_MENTAL_MODELS", `A bank holds at most ${MODELS_PER_BANK_MAX} mental models`);
const changedMeanwhile = (id: string): AppError =>
  new AppError("conflict", "MODEL_CHANGED", `Mental model '${id}' was changed during its refresh`);
