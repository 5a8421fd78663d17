import { AppError } from "@memory-bank/errors";
import { type PendingEvent, pendingEvents } from "@memory-bank/events";
import { isDuplicateKey } from "@memory-bank/storage";
import type { Db } from "mongodb";
import { type Revocation, revokedIdsMax } from "../../auth-store.ts";
import { type KeyLineage, statusOf } from "../../domain/api-key.ts";
import { keyNotFound } from "../../domain/key-management.ts";
import { keysOf, type OwnerTurnDocument, ownerTurnsOf } from "./key-documents.ts";
import { counts, findKeyIds, lineagesOf } from "./key-page.ts";

const TURN_TRIES_MAX = 100; // each lost try means that another owner key of the tenant was revoked just then

/** Ends a key. The write that ends it carries the event. */
export async function revokeKey(db: Db, revocation: Revocation): Promise<string[]> {
  const { tenantId, keyId, atUs, event } = revocation;
  const [pending] = await pendingEvents(db, [event]);
  if (!pending) throw new Error("one event makes one entry");
  for (let tries = 0; tries < TURN_TRIES_MAX; tries += 1) {
    const lineage = await requireRevocable(db, revocation);
    const visibility = { kind: "children", keyId } as const;
    const children = { tenantId, visibility, status: "active", nowUs: atUs, limit: revokedIdsMax - 1, offset: 0 } as const;
    const childKeyIds = await findKeyIds(db, children);
    const isLiveOwner = lineage.key.role === "owner" && statusOf(lineage, atUs) === "active";
    if (!isLiveOwner) {
      if (!(await endKey(db, { keyId, atUs, event: pending }))) throw keyNotFound();
      return [keyId, ...childKeyIds];
    }
    if (await endOwner(db, tenantId, { keyId, atUs, event: pending })) return [keyId, ...childKeyIds];
  }
  throw new AppError("conflict", "OWNERS_BUSY", "Too many owner keys of the tenant are being revoked at once");
}

/** Another owner key of the tenant that works. Owner keys have no parent, so their own life is all that counts. */
export async function hasLiveOwner(db: Db, tenantId: string, exceptKeyId: string, nowUs: number): Promise<boolean> {
  const live = { revokedAtUs: null, $or: [{ expiresAtUs: null }, { expiresAtUs: { $gt: nowUs } }] };
  const filter = { tenantId, role: "owner", _id: { $ne: exceptKeyId }, ...counts, ...live };
  return (await keysOf(db).findOne(filter, { projection: { _id: 1 } })) !== null;
}

async function requireRevocable(db: Db, { tenantId, keyId, atUs }: Revocation): Promise<KeyLineage> {
  const document = await keysOf(db).findOne({ _id: keyId, tenantId, ...counts });
  const [lineage] = document ? await lineagesOf(db, [document]) : [];
  if (!lineage || statusOf(lineage, atUs) === "revoked") throw keyNotFound();
  return lineage;
}

type Ending = NonNullable<OwnerTurnDocument["ending"]>;

async function endKey(db: Db, { keyId, atUs, event }: Ending): Promise<boolean> {
  const change = { $set: { revokedAtUs: atUs }, $push: { pendingEvents: event satisfies PendingEvent } };
  const { matchedCount } = await keysOf(db).updateOne({ _id: keyId, revokedAtUs: null }, change);
  return matchedCount > 0;
}

/**
 * Ends an owner key unless it is the last live one. The tenant's turn is taken with what shall be ended, and whoever finds a taken
 * turn carries that out before looking who is left, so nobody counts on an owner that is about to go. False when somebody else
 * took the turn first: look again.
 */
async function endOwner(db: Db, tenantId: string, ending: Ending): Promise<boolean> {
  const turns = ownerTurnsOf(db);
  const current = await currentTurn(db, tenantId);
  if (current.ending) {
    await carryOut(db, current, current.ending);
    return false;
  }
  if (!(await hasLiveOwner(db, tenantId, ending.keyId, ending.atUs))) {
    throw new AppError("failed_precondition", "LAST_OWNER", "The last live owner key of a tenant cannot be revoked");
  }
  const turn = current.turn + 1;
  const { matchedCount } = await turns.updateOne({ _id: tenantId, turn: current.turn }, { $set: { turn, ending } });
  if (matchedCount === 0) return false;
  await carryOut(db, { ...current, turn }, ending);
  return true;
}

async function carryOut(db: Db, { _id, turn }: OwnerTurnDocument, ending: Ending): Promise<void> {
  await endKey(db, ending);
  await ownerTurnsOf(db).updateOne({ _id, turn, ending: { $exists: true } }, { $inc: { turn: 1 }, $unset: { ending: "" } });
}

async function currentTurn(db: Db, tenantId: string): Promise<OwnerTurnDocument> {
  const found = await ownerTurnsOf(db).findOne({ _id: tenantId });
  if (found) return found;
  const first = { _id: tenantId, turn: 0 };
  try {
    await ownerTurnsOf(db).insertOne(first);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  return (await ownerTurnsOf(db).findOne({ _id: tenantId })) ?? first;
}
