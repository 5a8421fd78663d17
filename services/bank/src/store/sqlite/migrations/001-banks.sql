-- A row is live while deleted_at_us is null, afterwards a tombstone.
CREATE TABLE banks (
  bank_uid TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  bank_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- What a search for a part of the id or the name looks into: both in lower case.
  folded_id TEXT NOT NULL,
  folded_name TEXT NOT NULL,
  overrides TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  deleted_at_us INTEGER,
  is_purged INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX banks_live ON banks (tenant_id, bank_id) WHERE deleted_at_us IS NULL;
CREATE INDEX banks_dead ON banks (tenant_id, bank_id, deleted_at_us) WHERE deleted_at_us IS NOT NULL;
CREATE INDEX banks_purged ON banks (deleted_at_us) WHERE is_purged = 1;

CREATE TABLE tenant_configs (
  tenant_id TEXT PRIMARY KEY,
  config TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE directives (
  bank_uid TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  priority INTEGER NOT NULL,
  is_active INTEGER NOT NULL,
  -- A JSON list without repeats.
  tags TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  PRIMARY KEY (bank_uid, id)
) STRICT;
CREATE INDEX directives_order ON directives (bank_uid, priority DESC, created_at_us DESC, id DESC);

CREATE TABLE audit_entries (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  -- Null: the entry belongs to the tenant.
  bank_uid TEXT,
  bank_id TEXT,
  action TEXT NOT NULL,
  transport TEXT NOT NULL,
  started_at_us INTEGER NOT NULL,
  ended_at_us INTEGER NOT NULL,
  request TEXT NOT NULL,
  response TEXT NOT NULL,
  metadata TEXT NOT NULL
) STRICT;
-- Holds what filters and counts look at, so that a total does not read the bodies.
CREATE INDEX audit_entries_order ON audit_entries (tenant_id, bank_uid, started_at_us DESC, id DESC, action, transport);
CREATE INDEX audit_entries_age ON audit_entries (started_at_us);
CREATE INDEX audit_entries_bank ON audit_entries (bank_uid) WHERE bank_uid IS NOT NULL;
