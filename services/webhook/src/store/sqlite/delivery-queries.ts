import { AppError } from "@memory-bank/errors";
import type { SqliteDatabase, SqliteTx } from "@memory-bank/storage";
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
import { deliveryColumns, deliveryOf, getWebhook, isFenced, lowerNextDue } from "./webhook-rows.ts";

type DeliveryQueries = Pick<WebhookStore, "enqueue" | "enqueueFor" | "listDeliveries" | "redeliver" | "redeliverFailed">;

/** Queueing deliveries, showing them and starting them anew. */
export function createDeliveryQueries(db: SqliteDatabase): DeliveryQueries {
  return {
    async enqueue(notifications, time) {
      const webhookIds = new Set<string>();
      let created = 0;
      for (let next = 0; next < notifications.length; ) {
        const added = await db.write((tx) => enqueueSome(tx, notifications, next, time));
        created += added.created;
        next = added.next;
        for (const id of added.webhookIds) webhookIds.add(id);
      }
      return { created, webhookIds: [...webhookIds] };
    },

    enqueueFor: (bankUid, webhookId, notification, time) =>
      db.write((tx) => {
        const webhook = getWebhook(tx, bankUid, webhookId);
        return webhook.isEnabled ? enqueueOne(tx, { id: webhookId, target_id: webhook.target.id }, notification, time) : 0;
      }),

    listDeliveries: async ({ bankUid, webhookId, limit, beforeUs }) =>
      db.read((tx) => {
        const { isEnabled } = getWebhook(tx, bankUid, webhookId);
        const size = Math.min(Math.max(limit, 1), DELIVERY_PAGE_MAX);
        const rows = tx.all(
          `SELECT ${deliveryColumns} FROM deliveries d JOIN targets t ON t.id = d.target_id
            WHERE d.webhook_id = ? AND d.created_at_us < ? ORDER BY d.created_at_us DESC LIMIT ?`,
          [webhookId, beforeUs ?? Number.MAX_SAFE_INTEGER, size + 1],
        );
        const deliveries = rows.slice(0, size).map((row) => deliveryOf(row, isEnabled));
        return { deliveries, nextBeforeUs: rows.length > size ? deliveries.at(-1)!.createdAtUs : null };
      }),

    redeliver: (redelivery) =>
      db.write((tx) => {
        getWebhook(tx, redelivery.bankUid, redelivery.webhookId);
        const found = tx.get("SELECT 1 AS found FROM deliveries WHERE id = ? AND webhook_id = ?", [
          redelivery.deliveryId,
          redelivery.webhookId,
        ]);
        if (!found) throw new AppError("not_found", "DELIVERY_NOT_FOUND", "Webhook delivery not found");
        return startRound(tx, [redelivery.deliveryId], redelivery);
      }),

    redeliverFailed: (redelivery) =>
      db.write((tx) => {
        getWebhook(tx, redelivery.bankUid, redelivery.webhookId);
        const failed = tx.all<{ id: string }>(
          "SELECT id FROM deliveries WHERE webhook_id = ? AND status = 'failed' AND created_at_us >= ? ORDER BY created_at_us LIMIT ?",
          [redelivery.webhookId, redelivery.sinceUs, CHANGES_PER_TRANSACTION_MAX],
        );
        return startRound(
          tx,
          failed.map(({ id }) => id),
          redelivery,
        );
      }),
  };
}

interface Subscriber extends Record<string, string> {
  readonly id: string;
  readonly target_id: string;
}

/** Adds deliveries of whole notifications from `start` on until a transaction's worth is reached. */
function enqueueSome(tx: SqliteTx, notifications: readonly Notification[], start: number, time: EnqueueTime) {
  const webhookIds = new Set<string>();
  let created = 0;
  let changes = 0;
  let next = start;
  while (next < notifications.length && changes < CHANGES_PER_TRANSACTION_MAX) {
    const notification = notifications[next++]!;
    const subscribers = subscribersOf(tx, notification);
    for (const subscriber of subscribers) {
      const added = enqueueOne(tx, subscriber, notification, time);
      created += added;
      if (added > 0) webhookIds.add(subscriber.id);
    }
    changes += 1 + subscribers.length;
  }
  return { created, webhookIds, next };
}

function subscribersOf(tx: SqliteTx, { bankUid, eventType }: Notification): readonly Subscriber[] {
  if (isFenced(tx, bankUid)) return [];
  return tx.all<Subscriber>(
    `SELECT id, target_id FROM webhooks WHERE bank_uid IN (?, '${SERVER_BANK_UID}') AND is_enabled = 1 AND is_removed = 0
      AND EXISTS (SELECT 1 FROM json_each(event_types) WHERE value = ?)`,
    [bankUid, eventType],
  );
}

/** Adds a delivery unless it is there; answers how many were added. */
function enqueueOne(tx: SqliteTx, subscriber: Subscriber, notification: Notification, time: EnqueueTime): number {
  const { last } = tx.get<{ last: number }>("SELECT last_delivery_us AS last FROM webhooks WHERE id = ?", [subscriber.id])!;
  const createdAtUs = Math.max(time.nowUs, last + 1);
  const { changes } = tx.run(
    `INSERT INTO deliveries (id, webhook_id, bank_uid, target_id, event_type, status, due_us, created_at_us, updated_at_us, traceparent, body)
      VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    [
      deliveryId(notification.key, subscriber.id),
      subscriber.id,
      notification.bankUid,
      subscriber.target_id,
      notification.eventType,
      time.dueUs,
      createdAtUs,
      createdAtUs,
      notification.traceparent,
      notification.body,
    ],
  );
  if (changes === 0) return 0;
  tx.run("UPDATE webhooks SET last_delivery_us = ?, next_due_us = min(coalesce(next_due_us, ?), ?) WHERE id = ?", [
    createdAtUs,
    time.dueUs,
    time.dueUs,
    subscriber.id,
  ]);
  return 1;
}

function startRound(tx: SqliteTx, ids: readonly string[], { webhookId, nowUs, dueUs }: Redelivery): number {
  let started = 0;
  for (const id of ids) {
    started += tx.run(
      `UPDATE deliveries SET status = 'pending', round_attempts = 0, due_us = ?, updated_at_us = ?,
          target_id = (SELECT target_id FROM webhooks WHERE id = ?)
        WHERE id = ? AND status <> 'processing'`,
      [dueUs, nowUs, webhookId, id],
    ).changes;
  }
  if (started > 0) lowerNextDue(tx, webhookId, dueUs);
  return started;
}
