import type { MongodbDatabase } from "@memory-bank/storage";
import type { Db, Filter, UpdateFilter } from "mongodb";
import type { Claim, ClaimedDelivery } from "../../domain/delivery.ts";
import { type ClaimRequest, DUE_LANES_MAX, type Owner, type WebhookStore } from "../../webhook-store.ts";
import {
  claimedOf,
  type DeliveryDocument,
  deliveriesOf,
  lowerNextDue,
  ownersOf,
  targetsById,
  type WebhookDocument,
  webhooksOf,
} from "./webhook-documents.ts";

type LeaseQueries = Pick<
  WebhookStore,
  "dueLanes" | "nextDueUs" | "claim" | "settle" | "release" | "beat" | "listOwners" | "releaseOwner"
>;

const RAISE_TRIES_MAX = 5; // then the time stays too early, which costs one look in vain

/** Taking deliveries, settling them, and taking them back from owners that are gone. */
export function createLeaseQueries({ run }: MongodbDatabase): LeaseQueries {
  return {
    dueLanes: (dueUs, after) =>
      run(async (db) => {
        const later = after && {
          $or: [{ nextDueUs: { $gt: after.dueUs } }, { nextDueUs: after.dueUs, _id: { $gt: after.webhookId } }],
        };
        const filter: Filter<WebhookDocument> = { $and: [{ ...sendable, nextDueUs: { $lte: dueUs } }, later ?? {}] };
        const lanes = await webhooksOf(db)
          .find(filter, { projection: { nextDueUs: 1 }, sort: { nextDueUs: 1, _id: 1 }, limit: DUE_LANES_MAX })
          .toArray();
        return lanes.map(({ _id, nextDueUs }) => ({ webhookId: _id, dueUs: nextDueUs ?? 0 }));
      }),

    nextDueUs: (dueUs) =>
      run(async (db) => {
        const next = await webhooksOf(db).findOne({ ...sendable, nextDueUs: { $gt: dueUs } }, { sort: { nextDueUs: 1 } });
        return next?.nextDueUs ?? null;
      }),

    claim: (request) =>
      run(async (db) => {
        const claimed: ClaimedDelivery[] = [];
        for (const lane of request.lanes) claimed.push(...(await claimLane(db, request, lane)));
        return claimed;
      }),

    settle: (claim, settlement) =>
      run(async (db) => {
        const { lastResponseStatus, lastResponseBody, lastAttemptAtUs, status } = settlement;
        const isSettled = await writeHeld(db, claim, {
          $set: {
            ...{ status, owner: null, lastResponseStatus, lastResponseBody, lastAttemptAtUs, updatedAtUs: lastAttemptAtUs },
            lastError: settlement.status === "completed" ? null : settlement.lastError,
            ...(settlement.status === "pending" ? { dueUs: settlement.dueUs } : {}),
          },
          $inc: { attempts: 1, roundAttempts: 1 },
        });
        if (isSettled && settlement.status === "pending") await lowerNextDue(db, claim.webhookId, settlement.dueUs);
        return isSettled;
      }),

    release: (claim, dueUs) =>
      run(async (db) => {
        const isReleased = await writeHeld(db, claim, { $set: { status: "pending", owner: null, dueUs } });
        if (isReleased) await lowerNextDue(db, claim.webhookId, dueUs);
        return isReleased;
      }),

    beat: (owner) => run((db) => beat(db, owner)),
    listOwners: () => run(async (db) => (await ownersOf(db).find().toArray()).map((one) => ({ owner: one._id, beat: one.beat }))),
    releaseOwner: (owner, dueUs) => run((db) => releaseOwner(db, owner, dueUs)),
  };
}

const sendable = { isEnabled: true, isRemoved: false };

/** The owner is registered before it holds anything, so that what it holds is given back whenever it ends. */
async function claimLane(db: Db, request: ClaimRequest, { webhookId, limit }: ClaimRequest["lanes"][number]) {
  const webhook = await webhooksOf(db).findOne({ _id: webhookId, ...sendable });
  if (!webhook) return [];
  const due = await deliveriesOf(db)
    .find({ webhookId, status: "pending", dueUs: { $lte: request.dueUs }, isFenced: { $ne: true } })
    .sort({ dueUs: 1, createdAtUs: 1 })
    .limit(limit)
    .toArray();
  if (due.length > 0) await beat(db, request.owner);
  const taken: DeliveryDocument[] = [];
  for (const { _id, epoch } of due) {
    const document = await deliveriesOf(db).findOneAndUpdate(
      { _id, status: "pending", epoch },
      { $set: { status: "processing", owner: request.owner, updatedAtUs: request.nowUs }, $inc: { epoch: 1 } },
      { returnDocument: "after" },
    );
    if (document) taken.push(document);
  }
  await raiseNextDue(db, webhookId);
  const target = await targetsById(
    db,
    taken.map(({ targetId }) => targetId),
  );
  return taken.map((document) => claimedOf(document, target(document.targetId), request.owner));
}

/** Sets the next due time to what is pending now, unless something became pending while that was looked up. */
async function raiseNextDue(db: Db, webhookId: string): Promise<void> {
  for (let tries = 0; tries < RAISE_TRIES_MAX; tries += 1) {
    const webhook = await webhooksOf(db).findOne({ _id: webhookId }, { projection: { dueRevision: 1 } });
    if (!webhook) return;
    const pending = { webhookId, status: "pending" as const, isFenced: { $ne: true } };
    const next = await deliveriesOf(db).findOne(pending, { sort: { dueUs: 1 }, projection: { dueUs: 1 } });
    const { matchedCount } = await webhooksOf(db).updateOne(
      { _id: webhookId, dueRevision: webhook.dueRevision },
      { $set: { nextDueUs: next?.dueUs ?? null } },
    );
    if (matchedCount > 0) return;
  }
}

async function writeHeld(db: Db, { deliveryId, owner, epoch }: Claim, change: UpdateFilter<DeliveryDocument>): Promise<boolean> {
  const held = { _id: deliveryId, status: "processing" as const, owner, epoch };
  return (await deliveriesOf(db).updateOne(held, change)).matchedCount > 0;
}

async function beat(db: Db, owner: string): Promise<void> {
  await ownersOf(db).updateOne({ _id: owner }, { $inc: { beat: 1 }, $unset: { isGone: "" } }, { upsert: true });
}

/** The owner is forgotten last, so that a process which ends in between leaves the rest to the next one. */
async function releaseOwner(db: Db, { owner, beat: seen }: Owner, dueUs: number): Promise<number> {
  const { matchedCount } = await ownersOf(db).updateOne({ _id: owner, beat: seen }, { $set: { isGone: true } });
  if (matchedCount === 0) return 0;
  const held = { status: "processing" as const, owner };
  const webhookIds = await deliveriesOf(db).distinct("webhookId", held);
  const { modifiedCount } = await deliveriesOf(db).updateMany(held, { $set: { status: "pending", owner: null, dueUs } });
  for (const webhookId of webhookIds) await lowerNextDue(db, webhookId, dueUs);
  await ownersOf(db).deleteOne({ _id: owner, beat: seen });
  return modifiedCount;
}
