import { AppError } from "@memory-bank/errors";
import { migrationsFrom, openSqlite, type SqliteDatabase, type SqliteTx } from "@memory-bank/storage";
import {
  SERVER_BANK_UID,
  SERVER_WEBHOOK_ID,
  type SealedTarget,
  WEBHOOKS_PER_BANK_MAX,
  type Webhook,
} from "../../domain/webhook.ts";
import { CHANGES_PER_TRANSACTION_MAX, type WebhookStore } from "../../webhook-store.ts";
import { createDeliveryQueries } from "./delivery-queries.ts";
import { createLeaseQueries } from "./lease-queries.ts";
import {
  findWebhook,
  getWebhook,
  insertTarget,
  isFenced,
  targetOf,
  webhookColumns,
  webhookOf,
  webhooksWithTarget,
} from "./webhook-rows.ts";

const migrations = migrationsFrom(new URL("./migrations/", import.meta.url));

/**
 * Opens the file of the webhook service. One process has it open at a time, so what it finds claimed was claimed by a
 * process that is gone, and becomes pending again.
 */
export async function openSqliteWebhookStore(options: { readonly file: string }): Promise<WebhookStore & AsyncDisposable> {
  const db = openSqlite({ file: options.file, migrations });
  db.writeNow(takeBackEverything);
  return createSqliteWebhookStore(db);
}

function takeBackEverything(tx: SqliteTx): void {
  tx.run(`UPDATE webhooks SET next_due_us = min(coalesce(next_due_us, d.due_us), d.due_us)
    FROM (SELECT webhook_id, min(due_us) AS due_us FROM deliveries WHERE status = 'processing' GROUP BY webhook_id) d
    WHERE d.webhook_id = webhooks.id`);
  tx.run("UPDATE deliveries SET status = 'pending', owner = NULL, epoch = epoch + 1 WHERE status = 'processing'");
  tx.run("DELETE FROM owners");
}

/** The store over a database that is open and migrated; `openSqliteWebhookStore` is the usual way to one. */
export function createSqliteWebhookStore(db: SqliteDatabase): WebhookStore & AsyncDisposable {
  return {
    ...createDeliveryQueries(db),
    ...createLeaseQueries(db),

    insert: (webhook) =>
      db.write((tx) => {
        if (isFenced(tx, webhook.bankUid)) throw bankNotFound();
        const { count } = tx.get<{ count: number }>(
          "SELECT count(*) AS count FROM webhooks WHERE bank_uid = ? AND is_removed = 0",
          [webhook.bankUid],
        )!;
        if (count >= WEBHOOKS_PER_BANK_MAX) {
          throw new AppError("resource_exhausted", "TOO_MANY_WEBHOOKS", `A bank holds at most ${WEBHOOKS_PER_BANK_MAX} webhooks`);
        }
        insertWebhook(tx, webhook);
      }),

    find: async (bankUid, webhookId) => db.read((tx) => findWebhook(tx, bankUid, webhookId)),

    list: async (bankUid) =>
      db.read((tx) =>
        tx
          .all(
            `SELECT ${webhookColumns} FROM ${webhooksWithTarget} WHERE w.bank_uid = ? AND w.is_removed = 0 ORDER BY w.created_at_us, w.id`,
            [bankUid],
          )
          .map(webhookOf),
      ),

    update: (bankUid, webhookId, change) =>
      db.write((tx) => {
        const current = getWebhook(tx, bankUid, webhookId);
        const next = change(current);
        replaceWebhook(tx, current, next);
        return next;
      }),

    remove: (bankUid, webhookId) =>
      db.write((tx) => {
        getWebhook(tx, bankUid, webhookId);
        tx.run("UPDATE webhooks SET is_removed = 1 WHERE id = ?", [webhookId]);
      }),

    setServerWebhook: (change) =>
      db.write((tx) => {
        const current = findWebhook(tx, SERVER_BANK_UID, SERVER_WEBHOOK_ID);
        const next = change(current);
        if (current && next) replaceWebhook(tx, current, next);
        else if (next) insertWebhook(tx, next);
      }),

    fence: (bankUid, nowUs) =>
      db.write((tx) => {
        tx.run("INSERT INTO fenced_banks (bank_uid, fenced_at_us) VALUES (?, ?) ON CONFLICT DO NOTHING", [bankUid, nowUs]);
        return tx.run("UPDATE webhooks SET is_removed = 1 WHERE bank_uid = ? AND is_removed = 0", [bankUid]).changes;
      }),

    purge: (bankUid) =>
      db.write((tx) => {
        let left = CHANGES_PER_TRANSACTION_MAX;
        left -= tx.run(
          `DELETE FROM deliveries WHERE id IN
            (SELECT id FROM deliveries WHERE bank_uid = ? AND webhook_id = '${SERVER_WEBHOOK_ID}' LIMIT ?)`,
          [bankUid, left],
        ).changes;
        const removed = tx.all<{ id: string }>("SELECT id FROM webhooks WHERE bank_uid = ? AND is_removed = 1 LIMIT ?", [
          bankUid,
          left,
        ]);
        for (const { id } of removed) left -= deleteWebhookRows(tx, id, left);
        return left > 0;
      }),

    sweep: (finishedBeforeUs) =>
      db.write((tx) => {
        let left = CHANGES_PER_TRANSACTION_MAX;
        const removed = tx.all<{ id: string }>("SELECT id FROM webhooks WHERE is_removed = 1 LIMIT ?", [left]);
        for (const { id } of removed) left -= deleteWebhookRows(tx, id, left);
        left -= tx.run(
          `DELETE FROM deliveries WHERE id IN
            (SELECT id FROM deliveries WHERE status IN ('completed', 'failed') AND updated_at_us < ? LIMIT ?)`,
          [finishedBeforeUs, left],
        ).changes;
        left -= deleteUnnamedTargets(tx, finishedBeforeUs, left);
        return CHANGES_PER_TRANSACTION_MAX - left;
      }),

    targetsNotUnder: async (keyId) =>
      db.read((tx) =>
        tx
          .all("SELECT id AS target_id, key_id, sealed FROM targets WHERE key_id <> ? LIMIT ?", [
            keyId,
            CHANGES_PER_TRANSACTION_MAX,
          ])
          .map(targetOf),
      ),

    reseal: ({ id, keyId, sealed }) =>
      db.write((tx) => {
        tx.run("UPDATE targets SET key_id = ?, sealed = ? WHERE id = ?", [keyId, sealed, id]);
      }),

    ping: async () => db.ping(),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

function insertWebhook(tx: SqliteTx, webhook: Webhook): void {
  insertTarget(tx, webhook.id, webhook.target);
  tx.run(
    `INSERT INTO webhooks (id, bank_uid, bank_id, event_types, is_enabled, target_id, created_at_us, updated_at_us)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      webhook.id,
      webhook.bankUid,
      webhook.bankId,
      JSON.stringify(webhook.eventTypes),
      webhook.isEnabled ? 1 : 0,
      webhook.target.id,
      webhook.createdAtUs,
      webhook.updatedAtUs,
    ],
  );
}

function replaceWebhook(tx: SqliteTx, current: Webhook, next: Webhook): void {
  if (next.target.id !== current.target.id) {
    insertTarget(tx, next.id, next.target);
    supersede(tx, current.target, next.updatedAtUs);
  }
  tx.run("UPDATE webhooks SET event_types = ?, is_enabled = ?, target_id = ?, updated_at_us = ? WHERE id = ?", [
    JSON.stringify(next.eventTypes),
    next.isEnabled ? 1 : 0,
    next.target.id,
    next.updatedAtUs,
    next.id,
  ]);
}

function supersede(tx: SqliteTx, target: SealedTarget, nowUs: number): void {
  tx.run("UPDATE targets SET superseded_at_us = ? WHERE id = ?", [nowUs, target.id]);
}

/** Deletes at most `limit` rows of a removed webhook, itself last; answers how many. */
function deleteWebhookRows(tx: SqliteTx, webhookId: string, limit: number): number {
  if (limit <= 0) return 0;
  const deleted = tx.run("DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE webhook_id = ? LIMIT ?)", [
    webhookId,
    limit,
  ]).changes;
  if (deleted === limit) return deleted;
  tx.run("DELETE FROM targets WHERE webhook_id = ?", [webhookId]);
  tx.run("DELETE FROM webhooks WHERE id = ?", [webhookId]);
  return deleted + 1;
}

// A target older than the kept history is named only by deliveries that were queued while it was current, so few are looked at.
function deleteUnnamedTargets(tx: SqliteTx, supersededBeforeUs: number, limit: number): number {
  return tx.run(
    `DELETE FROM targets WHERE id IN (
      SELECT t.id FROM targets t WHERE t.superseded_at_us < ? AND NOT EXISTS (
        SELECT 1 FROM deliveries d WHERE d.webhook_id = t.webhook_id AND d.target_id = t.id) LIMIT ?)`,
    [supersededBeforeUs, Math.max(0, limit)],
  ).changes;
}

const bankNotFound = () => new AppError("not_found", "BANK_NOT_FOUND", "The bank is being deleted");
