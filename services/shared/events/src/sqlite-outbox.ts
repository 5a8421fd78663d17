import type { Migration, Row, SqliteTx } from "@memory-bank/storage";
import type { DomainEvent } from "./event-bus.ts";

/** Events that are true and not yet told. `AUTOINCREMENT`, because a number must not be given out again: the relay remembers the last. */
export const outboxMigration: Migration = {
  id: "events-001",
  sql: `
    CREATE TABLE outbox (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      has_failed INTEGER NOT NULL DEFAULT 0,
      failure TEXT,
      event TEXT NOT NULL
    ) STRICT;
    CREATE INDEX outbox_failed ON outbox (has_failed);
  `,
};

/** Puts events into the outbox, in the transaction that makes them true. Nudge the relay after the commit. */
export function appendEvents(tx: SqliteTx, events: readonly DomainEvent[]): void {
  for (const event of events) tx.run("INSERT INTO outbox (id, event) VALUES (?, ?)", [event.id, JSON.stringify(event)]);
}

export interface OutboxEntry {
  readonly seq: number;
  readonly event: DomainEvent;
}

/** Up to `limit` entries after `afterSeq` that have not failed, in the order in which they were appended. */
export function pendingEntries(tx: SqliteTx, afterSeq: number, limit: number): OutboxEntry[] {
  const sql = "SELECT seq, event FROM outbox WHERE seq > ? AND has_failed = 0 ORDER BY seq LIMIT ?";
  const rows = tx.all<Row & { seq: number; event: string }>(sql, [afterSeq, limit]);
  return rows.map(({ seq, event }) => ({ seq, event: JSON.parse(event) as DomainEvent }));
}

export function removeEntry(tx: SqliteTx, seq: number): void {
  tx.run("DELETE FROM outbox WHERE seq = ?", [seq]);
}

export function markFailed(tx: SqliteTx, seq: number, failure: string): void {
  tx.run("UPDATE outbox SET has_failed = 1, failure = ? WHERE seq = ?", [failure, seq]);
}

/** Makes failed entries pending again; answers how many. */
export function reviveFailed(tx: SqliteTx): number {
  return tx.run("UPDATE outbox SET has_failed = 0, failure = NULL WHERE has_failed = 1").changes;
}

export function countEntries(tx: SqliteTx): { pending: number; failed: number } {
  const sql = "SELECT count(*) AS total, ifnull(sum(has_failed), 0) AS failed FROM outbox";
  const { total = 0, failed = 0 } = tx.get<{ total: number; failed: number }>(sql) ?? {};
  return { pending: total - failed, failed };
}
