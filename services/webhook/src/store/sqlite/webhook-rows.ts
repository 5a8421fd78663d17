import { AppError } from "@memory-bank/errors";
import type { Row, SqliteTx } from "@memory-bank/storage";
import type { ClaimedDelivery, Delivery, DeliveryStatus } from "../../domain/delivery.ts";
import type { SealedTarget, Webhook } from "../../domain/webhook.ts";

/** Columns of a webhook with its current target; `webhooks` is `w` and `targets` is `t`. */
export const webhookColumns =
  "w.id, w.bank_uid, w.bank_id, w.event_types, w.is_enabled, w.created_at_us, w.updated_at_us, t.id AS target_id, t.key_id, t.sealed";
export const webhooksWithTarget = "webhooks w JOIN targets t ON t.id = w.target_id";

export function webhookOf(row: Row): Webhook {
  return {
    id: String(row["id"]),
    bankUid: String(row["bank_uid"]),
    bankId: String(row["bank_id"]),
    eventTypes: JSON.parse(String(row["event_types"])) as string[],
    isEnabled: row["is_enabled"] === 1,
    target: targetOf(row),
    createdAtUs: Number(row["created_at_us"]),
    updatedAtUs: Number(row["updated_at_us"]),
  };
}

export function targetOf(row: Row): SealedTarget {
  return { id: String(row["target_id"]), keyId: String(row["key_id"]), sealed: row["sealed"] as Uint8Array };
}

export const deliveryColumns = `d.id, d.webhook_id, d.event_type, d.status, d.attempts, d.round_attempts, d.due_us, d.last_error,
  d.last_response_status, d.last_response_body, d.last_attempt_at_us, d.created_at_us, d.updated_at_us, t.id AS target_id, t.key_id, t.sealed`;

export function deliveryOf(row: Row, isEnabled: boolean): Delivery {
  const isWaiting = row["status"] === "pending" && Number(row["round_attempts"]) > 0 && isEnabled;
  return {
    id: String(row["id"]),
    webhookId: String(row["webhook_id"]),
    target: targetOf(row),
    eventType: String(row["event_type"]),
    status: row["status"] as DeliveryStatus,
    attempts: Number(row["attempts"]),
    nextRetryAtUs: isWaiting ? Number(row["due_us"]) : null,
    lastError: row["last_error"] as string | null,
    lastResponseStatus: row["last_response_status"] as number | null,
    lastResponseBody: row["last_response_body"] as string | null,
    lastAttemptAtUs: row["last_attempt_at_us"] as number | null,
    createdAtUs: Number(row["created_at_us"]),
    updatedAtUs: Number(row["updated_at_us"]),
  };
}

export const claimedColumns =
  "d.id, d.webhook_id, d.event_type, d.body, d.traceparent, d.round_attempts, d.epoch, t.id AS target_id, t.key_id, t.sealed";

/** The claim that the row's next epoch gives to `owner`. */
export function claimedOf(row: Row, owner: string): ClaimedDelivery {
  return {
    claim: {
      deliveryId: String(row["id"]),
      webhookId: String(row["webhook_id"]),
      owner,
      epoch: Number(row["epoch"]) + 1,
    },
    target: targetOf(row),
    eventType: String(row["event_type"]),
    body: row["body"] as Uint8Array,
    traceparent: row["traceparent"] as string | null,
    roundAttempts: Number(row["round_attempts"]),
  };
}

/** The webhook if it is live and of this bank. */
export function findWebhook(tx: SqliteTx, bankUid: string, webhookId: string): Webhook | undefined {
  const row = tx.get(
    `SELECT ${webhookColumns} FROM ${webhooksWithTarget} WHERE w.id = ? AND w.bank_uid = ? AND w.is_removed = 0`,
    [webhookId, bankUid],
  );
  return row && webhookOf(row);
}

export function getWebhook(tx: SqliteTx, bankUid: string, webhookId: string): Webhook {
  const webhook = findWebhook(tx, bankUid, webhookId);
  if (!webhook) throw new AppError("not_found", "WEBHOOK_NOT_FOUND", "Webhook not found");
  return webhook;
}

export function isFenced(tx: SqliteTx, bankUid: string): boolean {
  return tx.get("SELECT 1 AS found FROM fenced_banks WHERE bank_uid = ?", [bankUid]) !== undefined;
}

export function insertTarget(tx: SqliteTx, webhookId: string, target: SealedTarget): void {
  tx.run("INSERT INTO targets (id, webhook_id, key_id, sealed) VALUES (?, ?, ?, ?)", [
    target.id,
    webhookId,
    target.keyId,
    target.sealed,
  ]);
}

/** Keeps `next_due_us` true after a delivery became pending. */
export function lowerNextDue(tx: SqliteTx, webhookId: string, dueUs: number): void {
  tx.run("UPDATE webhooks SET next_due_us = ? WHERE id = ? AND (next_due_us IS NULL OR next_due_us > ?)", [
    dueUs,
    webhookId,
    dueUs,
  ]);
}
