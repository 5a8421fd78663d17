import { AppError } from "@memory-bank/errors";
import { isDuplicateKey, type MongodbDatabase, type MongodbPlace, openMongodb } from "@memory-bank/storage";
import { Binary, type Db } from "mongodb";
import { SERVER_BANK_UID, SERVER_WEBHOOK_ID, WEBHOOKS_PER_BANK_MAX, type Webhook } from "../../domain/webhook.ts";
import { CHANGES_PER_TRANSACTION_MAX, type WebhookStore } from "../../webhook-store.ts";
import { createCleaning } from "./cleaning.ts";
import { createDeliveryQueries } from "./delivery-queries.ts";
import { createLeaseQueries } from "./lease-queries.ts";
import {
  fencedAmong,
  getWebhook,
  targetDocumentOf,
  targetOf,
  targetsById,
  targetsOf,
  type WebhookDocument,
  webhookMigration,
  webhookOf,
  webhooksOf,
} from "./webhook-documents.ts";

export const webhookMigrations = [webhookMigration];

/** Any number of processes share the database; what an ended one held is given back by `releaseOwner`. */
export async function openMongodbWebhookStore(place: MongodbPlace): Promise<WebhookStore & AsyncDisposable> {
  return createMongodbWebhookStore(await openMongodb({ ...place, migrations: webhookMigrations }));
}

const CHANGE_TRIES_MAX = 200; // each lost try means that somebody else changed the same webhook just then

function createMongodbWebhookStore(database: MongodbDatabase): WebhookStore & AsyncDisposable {
  const { run } = database;
  return {
    ...createDeliveryQueries(database),
    ...createLeaseQueries(database),
    ...createCleaning(database),

    insert: (webhook) => run((db) => insertBounded(db, webhook)),

    find: (bankUid, webhookId) =>
      run(async (db) => {
        const document = await webhooksOf(db).findOne({ _id: webhookId, bankUid, isRemoved: false });
        return document ? (await withTargets(db, [document]))[0] : undefined;
      }),

    list: (bankUid) =>
      run(async (db) => {
        const documents = await webhooksOf(db)
          .find({ bankUid, isRemoved: false }, { sort: { createdAtUs: 1, _id: 1 } })
          .toArray();
        return await withTargets(db, documents);
      }),

    update: (bankUid, webhookId, change) =>
      run(async (db) => {
        for (let tries = 0; tries < CHANGE_TRIES_MAX; tries += 1) {
          const document = await getWebhook(db, bankUid, webhookId);
          const [current] = await withTargets(db, [document]);
          const next = change(current!);
          if (await replace(db, document, next)) return next;
        }
        throw webhookBusy();
      }),

    remove: (bankUid, webhookId) =>
      run(async (db) => {
        const { _id } = await getWebhook(db, bankUid, webhookId);
        const { matchedCount } = await webhooksOf(db).updateOne(
          { _id, isRemoved: false },
          { $set: { isRemoved: true }, $inc: { revision: 1 } },
        );
        if (matchedCount === 0) await getWebhook(db, bankUid, webhookId);
      }),

    setServerWebhook: (change) =>
      run(async (db) => {
        for (let tries = 0; tries < CHANGE_TRIES_MAX; tries += 1) {
          const document = await webhooksOf(db).findOne({ _id: SERVER_WEBHOOK_ID, bankUid: SERVER_BANK_UID });
          const current = document ? (await withTargets(db, [document]))[0] : undefined;
          const next = change(current);
          if (!next || (await (document ? replace(db, document, next) : insertServer(db, next)))) return;
        }
        throw webhookBusy();
      }),

    targetsNotUnder: (keyId) =>
      run(async (db) => {
        const others = targetsOf(db).find({ keyId: { $ne: keyId } }, { limit: CHANGES_PER_TRANSACTION_MAX });
        return (await others.toArray()).map(targetOf);
      }),

    reseal: ({ id, keyId, sealed }) =>
      run(async (db) => {
        await targetsOf(db).updateOne({ _id: id }, { $set: { keyId, sealed: new Binary(sealed) } });
      }),

    ping: () => database.ping(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function withTargets(db: Db, documents: readonly WebhookDocument[]): Promise<Webhook[]> {
  const target = await targetsById(
    db,
    documents.map(({ targetId }) => targetId),
  );
  return documents.map((document) => webhookOf(document, target(document.targetId)));
}

/** Judged after the write: of two that were the last at once none gets in, and none stays in a bank that was fenced meanwhile. */
async function insertBounded(db: Db, webhook: Webhook): Promise<void> {
  const { bankUid } = webhook;
  await insert(db, webhook);
  const isFenced = (await fencedAmong(db, [bankUid])).size > 0;
  const count = await webhooksOf(db).countDocuments({ bankUid, isRemoved: false });
  if (!isFenced && count <= WEBHOOKS_PER_BANK_MAX) return;
  await forget(db, webhook);
  throw isFenced ? bankNotFound() : tooManyWebhooks();
}

/** The target goes first, so that a webhook always has one. */
async function insert(db: Db, webhook: Webhook): Promise<void> {
  await targetsOf(db).insertOne(targetDocumentOf(webhook.id, webhook.target));
  await webhooksOf(db).insertOne({
    _id: webhook.id,
    bankUid: webhook.bankUid,
    bankId: webhook.bankId,
    ...changeableOf(webhook),
    isRemoved: false,
    createdAtUs: webhook.createdAtUs,
    revision: 0,
    lastDeliveryUs: 0,
    nextDueUs: null,
    dueRevision: 0,
  });
}

async function forget(db: Db, { id, target }: Webhook): Promise<void> {
  await webhooksOf(db).deleteOne({ _id: id });
  await targetsOf(db).deleteOne({ _id: target.id });
}

/** False when another process was quicker. */
async function insertServer(db: Db, webhook: Webhook): Promise<boolean> {
  try {
    await insert(db, webhook);
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    await targetsOf(db).deleteOne({ _id: webhook.target.id });
    return false;
  }
}

/** False when somebody else changed it meanwhile. */
async function replace(db: Db, { _id, revision, targetId }: WebhookDocument, next: Webhook): Promise<boolean> {
  const hasNewTarget = next.target.id !== targetId;
  if (hasNewTarget) await targetsOf(db).insertOne(targetDocumentOf(_id, next.target));
  const { matchedCount } = await webhooksOf(db).updateOne(
    { _id, revision, isRemoved: false },
    { $set: changeableOf(next), $inc: { revision: 1 } },
  );
  const isReplaced = matchedCount > 0;
  if (hasNewTarget && isReplaced) {
    await targetsOf(db).updateOne({ _id: targetId }, { $set: { supersededAtUs: next.updatedAtUs } });
  } else if (hasNewTarget) await targetsOf(db).deleteOne({ _id: next.target.id });
  return isReplaced;
}

function changeableOf({ eventTypes, isEnabled, target, updatedAtUs }: Webhook) {
  return { eventTypes: [...eventTypes], isEnabled, targetId: target.id, updatedAtUs };
}

const bankNotFound = () => new AppError("not_found", "BANK_NOT_FOUND", "The bank is being deleted");
const tooManyWebhooks = () =>
  new AppError("resource_exhausted", "TOO_MANY_WEBHOOKS", `A bank holds at most ${WEBHOOKS_PER_BANK_MAX} webhooks`);
const webhookBusy = () => new AppError("conflict", "WEBHOOK_BUSY", "The webhook is changed by too many callers at once");
