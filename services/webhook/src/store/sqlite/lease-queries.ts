import type { SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import type { Claim, ClaimedDelivery } from "../../domain/delivery.ts";
import { type ClaimRequest, DUE_LANES_MAX, type DueLane, type Owner, type WebhookStore } from "../../webhook-store.ts";
import { claimedColumns, claimedOf, lowerNextDue } from "./webhook-rows.ts";

type LeaseQueries = Pick<
  WebhookStore,
  "dueLanes" | "nextDueUs" | "claim" | "settle" | "release" | "beat" | "listOwners" | "releaseOwner"
>;

/** Taking deliveries, settling them, and taking them back from owners that are gone. */
export function createLeaseQueries(db: SqliteDatabase): LeaseQueries {
  return {
    dueLanes: async (dueUs, after) =>
      db.read((tx) =>
        tx
          .all<{ id: string; next_due_us: number }>(
            `SELECT id, next_due_us FROM webhooks
              WHERE next_due_us <= ? AND is_enabled = 1 AND is_removed = 0 AND (next_due_us, id) > (?, ?)
              ORDER BY next_due_us, id LIMIT ?`,
            [dueUs, after?.dueUs ?? Number.MIN_SAFE_INTEGER, after?.webhookId ?? "", DUE_LANES_MAX],
          )
          .map((row): DueLane => ({ webhookId: row.id, dueUs: row.next_due_us })),
      ),

    nextDueUs: async (dueUs) =>
      db.read(
        (tx) =>
          tx.get<{ next: number | null }>(
            "SELECT min(next_due_us) AS next FROM webhooks WHERE next_due_us > ? AND is_enabled = 1 AND is_removed = 0",
            [dueUs],
          )!.next,
      ),

    claim: (request) =>
      db.write((tx) => {
        const claimed = request.lanes.flatMap((lane) => claimLane(tx, request, lane));
        if (claimed.length > 0) beat(tx, request.owner);
        return claimed;
      }),

    settle: (claim, settlement) =>
      db.write((tx) => {
        const { status, lastResponseStatus, lastResponseBody, lastAttemptAtUs } = settlement;
        const { changes } = tx.run(
          `UPDATE deliveries SET status = ?, owner = NULL, attempts = attempts + 1, round_attempts = round_attempts + 1,
              due_us = coalesce(?, due_us), last_error = ?, last_response_status = ?, last_response_body = ?,
              last_attempt_at_us = ?, updated_at_us = ?
            WHERE ${isHeld}`,
          [
            status,
            status === "pending" ? settlement.dueUs : null,
            status === "completed" ? null : settlement.lastError,
            lastResponseStatus,
            lastResponseBody,
            lastAttemptAtUs,
            lastAttemptAtUs,
            ...holderOf(claim),
          ],
        );
        if (changes > 0 && status === "pending") lowerNextDue(tx, claim.webhookId, settlement.dueUs);
        return changes > 0;
      }),

    release: (claim, dueUs) =>
      db.write((tx) => {
        const { changes } = tx.run(`UPDATE deliveries SET status = 'pending', owner = NULL, due_us = ? WHERE ${isHeld}`, [
          dueUs,
          ...holderOf(claim),
        ]);
        if (changes > 0) lowerNextDue(tx, claim.webhookId, dueUs);
        return changes > 0;
      }),

    beat: (owner) => db.write((tx) => beat(tx, owner)),

    listOwners: async () => db.read((tx) => tx.all<{ owner: string; beat: number }>("SELECT owner, beat FROM owners")),

    releaseOwner: (owner, dueUs) => db.write((tx) => releaseOwner(tx, owner, dueUs)),
  };
}

const isHeld = "id = ? AND status = 'processing' AND owner = ? AND epoch = ?";
const holderOf = ({ deliveryId, owner, epoch }: Claim) => [deliveryId, owner, epoch] as const;

function claimLane(tx: SqliteTx, request: ClaimRequest, lane: ClaimRequest["lanes"][number]): ClaimedDelivery[] {
  const rows = tx.all(
    `SELECT ${claimedColumns} FROM deliveries d JOIN targets t ON t.id = d.target_id
      WHERE d.webhook_id = ? AND d.status = 'pending' AND d.due_us <= ?
        AND EXISTS (SELECT 1 FROM webhooks w WHERE w.id = d.webhook_id AND w.is_enabled = 1 AND w.is_removed = 0)
        AND NOT EXISTS (SELECT 1 FROM fenced_banks f WHERE f.bank_uid = d.bank_uid)
      ORDER BY d.due_us LIMIT ?`,
    [lane.webhookId, request.dueUs, lane.limit],
  );
  for (const row of rows) {
    tx.run("UPDATE deliveries SET status = 'processing', owner = ?, epoch = epoch + 1, updated_at_us = ? WHERE id = ?", [
      request.owner,
      request.nowUs,
      row["id"]!,
    ]);
  }
  tx.run(
    `UPDATE webhooks SET next_due_us = (SELECT min(due_us) FROM deliveries WHERE webhook_id = ? AND status = 'pending') WHERE id = ?`,
    [lane.webhookId, lane.webhookId],
  );
  return rows.map((row) => claimedOf(row, request.owner));
}

function beat(tx: SqliteTx, owner: string): void {
  tx.run("INSERT INTO owners (owner, beat) VALUES (?, 1) ON CONFLICT (owner) DO UPDATE SET beat = beat + 1", [owner]);
}

function releaseOwner(tx: SqliteTx, { owner, beat: seen }: Owner, dueUs: number): number {
  if (tx.run("DELETE FROM owners WHERE owner = ? AND beat = ?", [owner, seen]).changes === 0) return 0;
  const held = tx.all<{ id: string; webhook_id: string }>(
    "SELECT id, webhook_id FROM deliveries WHERE status = 'processing' AND owner = ?",
    [owner],
  );
  for (const { id } of held) {
    tx.run("UPDATE deliveries SET status = 'pending', owner = NULL, due_us = ? WHERE id = ?", [dueUs, id]);
  }
  for (const webhookId of new Set(held.map((row) => row.webhook_id))) lowerNextDue(tx, webhookId, dueUs);
  return held.length;
}
