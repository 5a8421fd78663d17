import { AppError } from "@memory-bank/errors";
import { isDuplicateKey, type MongodbDatabase } from "@memory-bank/storage";
import { Binary, type Db, MongoBulkWriteError } from "mongodb";
import type { Notification } from "../../domain/delivery.ts";
import { deliveryId } from "../../domain/delivery-id.ts";
import { SERVER_BANK_UID } from "../../domain/webhook.ts";
import {
  CHANGES_PER_TRANSACTION_MAX,
  DELIVERY_PAGE_MAX,
  type EnqueueTime,
  type Redelivery,
  type WebhookStore,
} from "../../webhook-store.ts";
import {
  type DeliveryDocument,
  deliveriesOf,
  deliveryOf,
  fencedAmong,
  getWebhook,
  lowerNextDue,
  targetsById,
  type WebhookDocument,
  webhooksOf,
} from "./webhook-documents.ts";

type DeliveryQueries = Pick<WebhookStore, "enqueue" | "enqueueFor" | "listDeliveries" | "redeliver" | "redeliverFailed">;

const NOTIFICATIONS_PER_STEP = 100; // times the webhooks of a bank: what is in memory at once
const INSTANT_TRIES_MAX = 200; // each lost try means that somebody else queued for the same webhook just then

/** Queueing deliveries, showing them and starting them anew. */
export function createDeliveryQueries({ run }: MongodbDatabase): DeliveryQueries {
  return {
    enqueue: (notifications, time) =>
      run(async (db) => {
        const webhookIds = new Set<string>();
        let created = 0;
        for (let start = 0; start < notifications.length; start += NOTIFICATIONS_PER_STEP) {
          const step = notifications.slice(start, start + NOTIFICATIONS_PER_STEP);
          for (const [webhook, heard] of await subscriptions(db, step)) {
            const added = await addDeliveries(db, webhook, heard, time);
            created += added;
            if (added > 0) webhookIds.add(webhook._id);
          }
          await dropOfFenced(db, step);
        }
        return { created, webhookIds: [...webhookIds] };
      }),

    enqueueFor: (bankUid, webhookId, notification, time) =>
      run(async (db) => {
        const webhook = await getWebhook(db, bankUid, webhookId);
        return webhook.isEnabled ? await addDeliveries(db, webhook, [notification], time) : 0;
      }),

    listDeliveries: ({ bankUid, webhookId, limit, beforeUs }) =>
      run(async (db) => {
        const { isEnabled } = await getWebhook(db, bankUid, webhookId);
        const size = Math.min(Math.max(limit, 1), DELIVERY_PAGE_MAX);
        const documents = await deliveriesOf(db)
          .find({ webhookId, createdAtUs: { $lt: beforeUs ?? Number.MAX_SAFE_INTEGER } }, { projection: { body: 0 } })
          .sort({ createdAtUs: -1 })
          .limit(size + 1)
          .toArray();
        const page = documents.slice(0, size);
        const target = await targetsById(
          db,
          page.map(({ targetId }) => targetId),
        );
        const deliveries = page.map((document) => deliveryOf(document, target(document.targetId), isEnabled));
        return { deliveries, nextBeforeUs: documents.length > size ? deliveries.at(-1)!.createdAtUs : null };
      }),

    redeliver: (redelivery) =>
      run(async (db) => {
        const webhook = await getWebhook(db, redelivery.bankUid, redelivery.webhookId);
        const filter = { _id: redelivery.deliveryId, webhookId: redelivery.webhookId };
        const found = await deliveriesOf(db).findOne(filter, { projection: { _id: 1 } });
        if (!found) throw new AppError("not_found", "DELIVERY_NOT_FOUND", "Webhook delivery not found");
        return await startRound(db, webhook, [found._id], redelivery);
      }),

    redeliverFailed: (redelivery) =>
      run(async (db) => {
        const webhook = await getWebhook(db, redelivery.bankUid, redelivery.webhookId);
        const failed = await deliveriesOf(db)
          .find({ webhookId: webhook._id, status: "failed", createdAtUs: { $gte: redelivery.sinceUs } })
          .project<{ _id: string }>({ _id: 1 })
          .sort({ createdAtUs: 1 })
          .limit(CHANGES_PER_TRANSACTION_MAX)
          .toArray();
        const ids = failed.map(({ _id }) => _id);
        return await startRound(db, webhook, ids, redelivery);
      }),
  };
}

/** Which webhook hears which of the notifications. */
async function subscriptions(db: Db, notifications: readonly Notification[]): Promise<[WebhookDocument, Notification[]][]> {
  const bankUids = [...new Set(notifications.map(({ bankUid }) => bankUid))];
  const fenced = await fencedAmong(db, bankUids);
  const live = notifications.filter(({ bankUid }) => !fenced.has(bankUid));
  const webhooks = await webhooksOf(db)
    .find({ bankUid: { $in: [...bankUids, SERVER_BANK_UID] }, isEnabled: true, isRemoved: false })
    .toArray();
  return webhooks.flatMap((webhook): [WebhookDocument, Notification[]][] => {
    const { bankUid, eventTypes } = webhook;
    const heard = live.filter((one) => eventTypes.includes(one.eventType) && [one.bankUid, SERVER_BANK_UID].includes(bankUid));
    return heard.length === 0 ? [] : [[webhook, heard]];
  });
}

/** Adds those that are not there yet; answers how many. Ids derive from the notification, so two calls at once add each once. */
async function addDeliveries(
  db: Db,
  webhook: WebhookDocument,
  notifications: readonly Notification[],
  time: EnqueueTime,
): Promise<number> {
  const byId = new Map(notifications.map((notification) => [deliveryId(notification.key, webhook._id), notification]));
  const known = await deliveriesOf(db)
    .find({ _id: { $in: [...byId.keys()] } })
    .project<{ _id: string }>({ _id: 1 })
    .toArray();
  for (const { _id } of known) byId.delete(_id);
  // Also when nothing is new: the call that added it may have ended before it came to this.
  if (byId.size === 0) {
    await lowerNextDue(db, webhook._id, time.dueUs);
    return 0;
  }
  const firstUs = await takeInstants(db, webhook._id, byId.size, time.nowUs);
  const documents = [...byId].map(([id, notification], index) =>
    newDelivery(id, webhook, notification, firstUs + index, time.dueUs),
  );
  const added = await insertMissing(db, documents);
  await lowerNextDue(db, webhook._id, time.dueUs);
  return added;
}

async function insertMissing(db: Db, documents: readonly DeliveryDocument[]): Promise<number> {
  try {
    return (await deliveriesOf(db).insertMany([...documents], { ordered: false })).insertedCount;
  } catch (error) {
    if (!isDuplicateKey(error) || !(error instanceof MongoBulkWriteError)) throw error;
    return error.insertedCount;
  }
}

/** The first of `count` instants in a row that no other delivery of the webhook gets. */
async function takeInstants(db: Db, webhookId: string, count: number, nowUs: number): Promise<number> {
  for (let tries = 0; tries < INSTANT_TRIES_MAX; tries += 1) {
    const webhook = await webhooksOf(db).findOne({ _id: webhookId }, { projection: { lastDeliveryUs: 1 } });
    const lastDeliveryUs = webhook?.lastDeliveryUs ?? 0;
    const firstUs = Math.max(nowUs, lastDeliveryUs + 1);
    const { matchedCount } = await webhooksOf(db).updateOne(
      { _id: webhookId, lastDeliveryUs },
      { $set: { lastDeliveryUs: firstUs + count - 1 } },
    );
    if (matchedCount > 0 || !webhook) return firstUs;
  }
  throw new AppError("conflict", "WEBHOOK_BUSY", "Too many callers queue for one webhook at once");
}

function newDelivery(
  id: string,
  webhook: WebhookDocument,
  { bankUid, eventType, body, traceparent }: Notification,
  createdAtUs: number,
  dueUs: number,
): DeliveryDocument {
  return {
    _id: id,
    webhookId: webhook._id,
    bankUid,
    targetId: webhook.targetId,
    eventType,
    status: "pending",
    attempts: 0,
    roundAttempts: 0,
    dueUs,
    owner: null,
    epoch: 0,
    lastError: null,
    lastResponseStatus: null,
    lastResponseBody: null,
    lastAttemptAtUs: null,
    createdAtUs,
    updatedAtUs: createdAtUs,
    traceparent,
    body: new Binary(body),
  };
}

/** A bank that was fenced meanwhile may have been purged already; nothing may be left behind. */
async function dropOfFenced(db: Db, notifications: readonly Notification[]): Promise<void> {
  const fenced = await fencedAmong(
    db,
    notifications.map(({ bankUid }) => bankUid),
  );
  if (fenced.size > 0) await deliveriesOf(db).deleteMany({ bankUid: { $in: [...fenced] }, status: "pending", attempts: 0 });
}

async function startRound(
  db: Db,
  webhook: WebhookDocument,
  ids: readonly string[],
  { nowUs, dueUs }: Redelivery,
): Promise<number> {
  if (ids.length === 0) return 0;
  const { modifiedCount } = await deliveriesOf(db).updateMany(
    { _id: { $in: [...ids] }, status: { $ne: "processing" } },
    { $set: { status: "pending", roundAttempts: 0, dueUs, updatedAtUs: nowUs, targetId: webhook.targetId } },
  );
  if (modifiedCount > 0) await lowerNextDue(db, webhook._id, dueUs);
  return modifiedCount;
}
