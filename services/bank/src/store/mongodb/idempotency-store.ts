import { AppError } from "@memory-bank/errors";
import { isDuplicateKey, type MongodbDatabase } from "@memory-bank/storage";
import { Binary, type Db } from "mongodb";
import {
  ANSWER_BYTES_MAX,
  ANSWER_US,
  CLAIM_US,
  IDEMPOTENCY_SWEEP_MAX,
  type IdempotencyStore,
  type IdempotentClaim,
  type IdempotentStanding,
} from "../../idempotency-store.ts";
import { idempotentOf } from "./bank-documents.ts";
import { deleteSome } from "./bank-store.ts";

const CLAIM_TRIES_MAX = 20; // each lost try means that somebody else's claim came and went just then

export function createMongodbIdempotencyStore({ run }: MongodbDatabase): IdempotencyStore {
  return {
    begin: (claim) => run((db) => begin(db, claim)),
    async finish({ tenantId, keyHash, holder, nowUs, answer }) {
      const held = { _id: keyOf(tenantId, keyHash), holder };
      if (answer === null) return await run(async (db) => (await idempotentOf(db).deleteOne(held)).deletedCount > 0);
      if (answer.byteLength > ANSWER_BYTES_MAX) {
        throw new AppError("invalid_argument", "ANSWER_TOO_LARGE", `An answer has at most ${ANSWER_BYTES_MAX} bytes`);
      }
      const kept = { holder: null, answer: new Binary(answer), endsAtUs: nowUs + ANSWER_US };
      return await run(async (db) => (await idempotentOf(db).updateOne(held, { $set: kept })).matchedCount > 0);
    },
    deleteEnded: (nowUs) =>
      run((db) => deleteSome(idempotentOf(db), { endsAtUs: { $lte: nowUs } }, IDEMPOTENCY_SWEEP_MAX, { endsAtUs: 1 })),
  };
}

/** Takes the place of a document that has ended or is the holder's own for the same request; any other makes the insert fail. */
async function begin(db: Db, claim: IdempotentClaim): Promise<IdempotentStanding> {
  const { tenantId, keyHash, requestHash, holder, nowUs } = claim;
  const _id = keyOf(tenantId, keyHash);
  for (let tries = 0; tries < CLAIM_TRIES_MAX; tries += 1) {
    try {
      await idempotentOf(db).updateOne(
        { _id, $or: [{ endsAtUs: { $lte: nowUs } }, { holder, requestHash }] },
        { $set: { requestHash, holder, answer: null, endsAtUs: nowUs + CLAIM_US } },
        { upsert: true },
      );
      return { outcome: "claimed" };
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const found = await idempotentOf(db).findOne({ _id });
      if (found && found.requestHash !== requestHash) return { outcome: "other_request" };
      if (found?.answer) return { outcome: "replay", answer: new Uint8Array(found.answer.value()) };
      if (found) return { outcome: "running" };
    }
  }
  throw new AppError("conflict", "IDEMPOTENCY_KEY_BUSY", "The key is claimed and given up too fast");
}

const keyOf = (tenantId: string, keyHash: string) => JSON.stringify([tenantId, keyHash]);
