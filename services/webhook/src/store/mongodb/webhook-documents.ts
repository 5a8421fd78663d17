import { AppError } from "@memory-bank/errors";
import type { MongodbMigration } from "@memory-bank/storage";
import { Binary, type Collection, type Db } from "mongodb";
import type { ClaimedDelivery, Delivery, DeliveryStatus } from "../../domain/delivery.ts";
import type { SealedTarget, Webhook } from "../../domain/webhook.ts";

export interface WebhookDocument {
  _id: string;
  bankUid: string;
  bankId: string;
  eventTypes: string[];
  isEnabled: boolean;
  /** Out of sight; its documents wait for the sweep. */
  isRemoved: boolean;
  targetId: string;
  createdAtUs: number;
  updatedAtUs: number;
  /** Counts the changes of the members above, so that one computed from an older state is not written. */
  revision: number;
  /** `createdAtUs` of its newest delivery; the next one is later by at least a microsecond. */
  lastDeliveryUs: number;
  /** Not later than the earliest due time among its pending deliveries; null when it has none. */
  nextDueUs: number | null;
  /** Counts the lowerings of it, so that none is undone by a claim that raises it. */
  dueRevision: number;
}

export interface TargetDocument {
  _id: string;
  webhookId: string;
  keyId: string;
  sealed: Binary;
  supersededAtUs: number | null;
}

export interface DeliveryDocument {
  _id: string;
  webhookId: string;
  bankUid: string;
  targetId: string;
  eventType: string;
  status: DeliveryStatus;
  attempts: number;
  /** Attempts since it was queued or redelivered; decides the next wait. */
  roundAttempts: number;
  dueUs: number;
  owner: string | null;
  epoch: number;
  lastError: string | null;
  lastResponseStatus: number | null;
  lastResponseBody: string | null;
  lastAttemptAtUs: number | null;
  createdAtUs: number;
  updatedAtUs: number;
  traceparent: string | null;
  body: Binary;
  /** Of the operator's webhook: its bank is dead, so it waits for the purge. */
  isFenced?: boolean;
}

export interface OwnerDocument {
  _id: string;
  beat: number;
  /** Its claims are being given back. */
  isGone?: boolean;
}

export const webhooksOf = (db: Db): Collection<WebhookDocument> => db.collection<WebhookDocument>("webhooks");
export const targetsOf = (db: Db): Collection<TargetDocument> => db.collection<TargetDocument>("targets");
export const deliveriesOf = (db: Db): Collection<DeliveryDocument> => db.collection<DeliveryDocument>("deliveries");
export const ownersOf = (db: Db): Collection<OwnerDocument> => db.collection<OwnerDocument>("owners");
/** Remembered for ever: a late event of a dead bank must not bring anything back. */
export const fencedOf = (db: Db): Collection<{ _id: string; fencedAtUs: number }> => db.collection("fenced_banks");

export const webhookMigration: MongodbMigration = {
  id: "001-webhooks",
  collections: {
    webhooks: [
      { name: "by_bank", key: { bankUid: 1, createdAtUs: 1, _id: 1 } },
      { name: "due", key: { nextDueUs: 1, _id: 1 } },
      { name: "removed", key: { isRemoved: 1 } },
    ],
    targets: [
      { name: "by_webhook", key: { webhookId: 1 } },
      { name: "by_key", key: { keyId: 1 } },
      { name: "superseded", key: { supersededAtUs: 1 } },
    ],
    deliveries: [
      { name: "history", key: { webhookId: 1, createdAtUs: -1 } },
      { name: "waiting", key: { webhookId: 1, status: 1, dueUs: 1 } },
      { name: "held", key: { owner: 1, status: 1 } },
      { name: "finished", key: { status: 1, updatedAtUs: 1 } },
      { name: "by_bank", key: { bankUid: 1, webhookId: 1 } },
      { name: "by_target", key: { targetId: 1 } },
    ],
    owners: [],
    fenced_banks: [],
  },
};

export function targetDocumentOf(webhookId: string, { id, keyId, sealed }: SealedTarget): TargetDocument {
  return { _id: id, webhookId, keyId, sealed: new Binary(sealed), supersededAtUs: null };
}

export function targetOf({ _id, keyId, sealed }: TargetDocument): SealedTarget {
  return { id: _id, keyId, sealed: bytesOf(sealed) };
}

function bytesOf(binary: Binary): Uint8Array {
  return new Uint8Array(binary.value());
}

/** The targets by id; each is there, since what names it goes first. */
export async function targetsById(db: Db, ids: readonly string[]): Promise<(id: string) => SealedTarget> {
  const documents =
    ids.length === 0
      ? []
      : await targetsOf(db)
          .find({ _id: { $in: [...new Set(ids)] } })
          .toArray();
  const byId = new Map(documents.map((document) => [document._id, targetOf(document)]));
  return (id) => {
    const target = byId.get(id);
    if (!target) throw new AppError("internal", "TARGET_MISSING", `There is no target '${id}'`);
    return target;
  };
}

export function webhookOf(document: WebhookDocument, target: SealedTarget): Webhook {
  const { _id, bankUid, bankId, eventTypes, isEnabled, createdAtUs, updatedAtUs } = document;
  return { id: _id, bankUid, bankId, eventTypes, isEnabled, target, createdAtUs, updatedAtUs };
}

export function deliveryOf(document: DeliveryDocument, target: SealedTarget, isEnabled: boolean): Delivery {
  const isWaiting = document.status === "pending" && document.roundAttempts > 0 && isEnabled;
  return {
    id: document._id,
    webhookId: document.webhookId,
    target,
    eventType: document.eventType,
    status: document.status,
    attempts: document.attempts,
    nextRetryAtUs: isWaiting ? document.dueUs : null,
    lastError: document.lastError,
    lastResponseStatus: document.lastResponseStatus,
    lastResponseBody: document.lastResponseBody,
    lastAttemptAtUs: document.lastAttemptAtUs,
    createdAtUs: document.createdAtUs,
    updatedAtUs: document.updatedAtUs,
  };
}

export function claimedOf(document: DeliveryDocument, target: SealedTarget, owner: string): ClaimedDelivery {
  const { _id, webhookId, epoch, eventType, traceparent, roundAttempts } = document;
  const claim = { deliveryId: _id, webhookId, owner, epoch };
  return { claim, target, eventType, body: bytesOf(document.body), traceparent, roundAttempts };
}

/** The webhook if it is live and of this bank, otherwise `not_found`. */
export async function getWebhook(db: Db, bankUid: string, webhookId: string): Promise<WebhookDocument> {
  const document = await webhooksOf(db).findOne({ _id: webhookId, bankUid, isRemoved: false });
  if (!document) throw new AppError("not_found", "WEBHOOK_NOT_FOUND", "Webhook not found");
  return document;
}

export async function fencedAmong(db: Db, bankUids: readonly string[]): Promise<Set<string>> {
  if (bankUids.length === 0) return new Set();
  const found = await fencedOf(db)
    .find({ _id: { $in: [...new Set(bankUids)] } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}

/** Keeps `nextDueUs` true after a delivery became pending; what a crash leaves out here a sweep makes good. */
export async function lowerNextDue(db: Db, webhookId: string, dueUs: number): Promise<void> {
  const isLater = { $or: [{ nextDueUs: null }, { nextDueUs: { $gt: dueUs } }] };
  const { matchedCount } = await webhooksOf(db).updateOne(
    { _id: webhookId, ...isLater },
    { $set: { nextDueUs: dueUs }, $inc: { dueRevision: 1 } },
  );
  // Also when nothing is lower: a claim that is just computing the next time has not seen this delivery.
  if (matchedCount === 0) await webhooksOf(db).updateOne({ _id: webhookId }, { $inc: { dueRevision: 1 } });
}
