import { AppError } from "@memory-bank/errors";
import type { SqliteDatabase } from "@memory-bank/storage";
import {
  ANSWER_BYTES_MAX,
  ANSWER_US,
  CLAIM_US,
  IDEMPOTENCY_SWEEP_MAX,
  type IdempotencyStore,
  type IdempotentStanding,
} from "../../idempotency-store.ts";

export function createSqliteIdempotencyStore(db: SqliteDatabase): IdempotencyStore {
  return {
    begin({ tenantId, keyHash, requestHash, holder, nowUs }) {
      const key = { tenantId, keyHash };
      const claim = { ...key, requestHash, holder, nowUs, endsAtUs: nowUs + CLAIM_US };
      return db.write((tx) => {
        if (tx.run(CLAIM, claim).changes > 0) return { outcome: "claimed" };
        return standingOf(requestHash, tx.get<StoredRow>(FIND, key)!);
      });
    },
    async finish({ tenantId, keyHash, holder, nowUs, answer }) {
      const claim = { tenantId, keyHash, holder };
      if (answer === null) return db.write((tx) => tx.run(FORGET, claim).changes > 0);
      if (answer.byteLength > ANSWER_BYTES_MAX) {
        throw new AppError("invalid_argument", "ANSWER_TOO_LARGE", `An answer has at most ${ANSWER_BYTES_MAX} bytes`);
      }
      return db.write((tx) => tx.run(KEEP, { ...claim, answer, endsAtUs: nowUs + ANSWER_US }).changes > 0);
    },
    deleteEnded(nowUs) {
      return db.write((tx) => tx.run(DELETE_ENDED, [nowUs, IDEMPOTENCY_SWEEP_MAX]).changes);
    },
  };
}

// Takes the place of a row that has ended or is the holder's own for the same request; leaves any other as it is.
const CLAIM = `INSERT INTO idempotent_requests (tenant_id, key_hash, request_hash, holder, answer, ends_at_us)
  VALUES (:tenantId, :keyHash, :requestHash, :holder, NULL, :endsAtUs)
  ON CONFLICT (tenant_id, key_hash) DO UPDATE SET
    request_hash = excluded.request_hash, holder = excluded.holder, answer = NULL, ends_at_us = excluded.ends_at_us
  WHERE idempotent_requests.ends_at_us <= :nowUs
    OR (idempotent_requests.holder = excluded.holder AND idempotent_requests.request_hash = excluded.request_hash)`;
const FIND = "SELECT request_hash, answer FROM idempotent_requests WHERE tenant_id = :tenantId AND key_hash = :keyHash";
const WHERE_HELD = "WHERE tenant_id = :tenantId AND key_hash = :keyHash AND holder = :holder";
const KEEP = `UPDATE idempotent_requests SET holder = NULL, answer = :answer, ends_at_us = :endsAtUs ${WHERE_HELD}`;
const FORGET = `DELETE FROM idempotent_requests ${WHERE_HELD}`;
const DELETE_ENDED = `DELETE FROM idempotent_requests WHERE (tenant_id, key_hash) IN
  (SELECT tenant_id, key_hash FROM idempotent_requests WHERE ends_at_us <= ? ORDER BY ends_at_us LIMIT ?)`;

type StoredRow = {
  request_hash: string;
  /** Null while the request is being carried out. */
  answer: Uint8Array<ArrayBuffer> | null;
};

function standingOf(requestHash: string, row: StoredRow): IdempotentStanding {
  if (row.request_hash !== requestHash) return { outcome: "other_request" };
  return row.answer === null ? { outcome: "running" } : { outcome: "replay", answer: row.answer };
}
