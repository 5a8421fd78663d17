import type { Migration } from "@memory-bank/storage";

/**
 * The table behind `createSqliteJobStore`. The large columns come last, so that scans over statuses do not read their pages.
 * The two unique indexes hold what `serialKey` and `dedupeKey` promise, whatever the code above them does.
 */
export const jobsMigration: Migration = {
  id: "jobs-001",
  sql: `
    CREATE TABLE jobs (
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      group_key TEXT NOT NULL,
      tenant_key TEXT NOT NULL,
      serial_key TEXT,
      dedupe_key TEXT,
      priority INTEGER NOT NULL,
      is_parent INTEGER NOT NULL,
      parent_id TEXT,
      child_index INTEGER,
      created_at_us INTEGER NOT NULL,
      status TEXT NOT NULL,
      retry_count INTEGER NOT NULL DEFAULT 0,
      run_at_us INTEGER NOT NULL,
      epoch INTEGER NOT NULL DEFAULT 0,
      owner TEXT,
      lease_ms INTEGER,
      heartbeat INTEGER NOT NULL DEFAULT 0,
      stage TEXT,
      stage_at_us INTEGER,
      processed INTEGER NOT NULL DEFAULT 0,
      total INTEGER NOT NULL DEFAULT 0,
      updated_at_us INTEGER NOT NULL,
      completed_at_us INTEGER,
      error TEXT,
      result TEXT,
      details TEXT NOT NULL,
      payload TEXT NOT NULL
    ) STRICT;
    CREATE INDEX jobs_listed ON jobs (group_key, created_at_us DESC, id DESC);
    CREATE INDEX jobs_counted ON jobs (group_key, status);
    CREATE INDEX jobs_of_parent ON jobs (parent_id, status) WHERE parent_id IS NOT NULL;
    CREATE INDEX jobs_due ON jobs (kind, priority DESC, run_at_us, seq) WHERE status = 'pending' AND is_parent = 0;
    CREATE INDEX jobs_next ON jobs (kind, run_at_us) WHERE status = 'pending' AND is_parent = 0;
    CREATE INDEX jobs_running ON jobs (kind) WHERE status = 'processing' AND is_parent = 0;
    CREATE UNIQUE INDEX jobs_one_running ON jobs (serial_key) WHERE status = 'processing' AND serial_key IS NOT NULL;
    CREATE UNIQUE INDEX jobs_one_pending ON jobs (dedupe_key) WHERE status = 'pending' AND dedupe_key IS NOT NULL;
  `,
};
