import type { MongodbDatabase } from "@memory-bank/storage";
import type { Collection, Db, Filter } from "mongodb";
import { SERVER_WEBHOOK_ID } from "../../domain/webhook.ts";
import { CHANGES_PER_TRANSACTION_MAX, type WebhookStore } from "../../webhook-store.ts";
import { deliveriesOf, fencedOf, lowerNextDue, targetsOf, webhooksOf } from "./webhook-documents.ts";

type Cleaning = Pick<WebhookStore, "fence" | "purge" | "sweep">;

/** Taking dead banks and old documents away. */
export function createCleaning({ run }: MongodbDatabase): Cleaning {
  return {
    fence: (bankUid, nowUs) =>
      run(async (db) => {
        await fencedOf(db).updateOne({ _id: bankUid }, { $setOnInsert: { fencedAtUs: nowUs } }, { upsert: true });
        const removed = { $set: { isRemoved: true }, $inc: { revision: 1 } };
        const { modifiedCount } = await webhooksOf(db).updateMany({ bankUid, isRemoved: false }, removed);
        await deliveriesOf(db).updateMany({ bankUid, webhookId: SERVER_WEBHOOK_ID }, { $set: { isFenced: true } });
        return modifiedCount;
      }),

    purge: (bankUid) =>
      run(async (db) => {
        let left = CHANGES_PER_TRANSACTION_MAX;
        left -= await deleteSome(deliveriesOf(db), { bankUid, webhookId: SERVER_WEBHOOK_ID }, left);
        left -= await deleteRemoved(db, { bankUid }, left);
        return left > 0;
      }),

    sweep: (finishedBeforeUs) =>
      run(async (db) => {
        await repairNextDue(db);
        let left = CHANGES_PER_TRANSACTION_MAX;
        left -= await deleteRemoved(db, {}, left);
        for (const status of ["completed", "failed"] as const) {
          left -= await deleteSome(deliveriesOf(db), { status, updatedAtUs: { $lt: finishedBeforeUs } }, left);
        }
        left -= await deleteUnnamedTargets(db, finishedBeforeUs, left);
        return CHANGES_PER_TRANSACTION_MAX - left;
      }),
  };
}

async function deleteSome<T extends { _id: string }>(
  collection: Collection<T>,
  filter: Filter<T>,
  limit: number,
): Promise<number> {
  if (limit <= 0) return 0;
  const found = await collection.find(filter, { projection: { _id: 1 }, limit }).toArray();
  if (found.length === 0) return 0;
  const ids = { _id: { $in: found.map(({ _id }) => _id) } } as unknown as Filter<T>;
  return (await collection.deleteMany(ids)).deletedCount;
}

/** Deletes at most `limit` documents of removed webhooks, each webhook after what hangs on it. */
async function deleteRemoved(db: Db, which: { readonly bankUid?: string }, limit: number): Promise<number> {
  if (limit <= 0) return 0;
  let left = limit;
  const removed = await webhooksOf(db)
    .find({ ...which, isRemoved: true }, { projection: { _id: 1 }, limit })
    .toArray();
  for (const { _id } of removed) {
    left -= await deleteSome(deliveriesOf(db), { webhookId: _id }, left);
    if (left <= 0) return limit;
    await targetsOf(db).deleteMany({ webhookId: _id });
    await webhooksOf(db).deleteOne({ _id });
    left -= 1;
  }
  return limit - left;
}

async function deleteUnnamedTargets(db: Db, supersededBeforeUs: number, limit: number): Promise<number> {
  let deleted = 0;
  for await (const { _id } of targetsOf(db).find({ supersededAtUs: { $lt: supersededBeforeUs } }, { projection: { _id: 1 } })) {
    if (deleted >= limit) break;
    if (await deliveriesOf(db).findOne({ targetId: _id }, { projection: { _id: 1 } })) continue;
    deleted += (await targetsOf(db).deleteOne({ _id })).deletedCount;
  }
  return deleted;
}

/** Makes webhooks due again whose process ended after it wrote a delivery and before it said so. */
async function repairNextDue(db: Db): Promise<void> {
  const waiting = await deliveriesOf(db)
    .aggregate<{ _id: string; dueUs: number }>([
      { $match: { status: "pending", isFenced: { $ne: true } } },
      { $group: { _id: "$webhookId", dueUs: { $min: "$dueUs" } } },
    ])
    .toArray();
  for (const { _id, dueUs } of waiting) {
    const isForgotten = await webhooksOf(db).findOne(
      { _id, $or: [{ nextDueUs: null }, { nextDueUs: { $gt: dueUs } }] },
      { projection: { _id: 1 } },
    );
    if (isForgotten) await lowerNextDue(db, _id, dueUs);
  }
}
