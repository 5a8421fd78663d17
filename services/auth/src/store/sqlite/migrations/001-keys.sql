CREATE TABLE tenants (
  tenant_id TEXT PRIMARY KEY,
  created_at_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  key_id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  parent_key_id TEXT,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  capabilities TEXT NOT NULL, -- JSON array
  allowed_bank_ids TEXT, -- JSON array; NULL means every bank
  metadata TEXT NOT NULL, -- JSON object
  key_prefix TEXT NOT NULL,
  lookup TEXT NOT NULL UNIQUE,
  secret_hash BLOB NOT NULL,
  created_at_us INTEGER NOT NULL,
  expires_at_us INTEGER,
  last_used_at_us INTEGER,
  revoked_at_us INTEGER
) STRICT;

CREATE INDEX api_keys_by_age ON api_keys (tenant_id, created_at_us DESC, key_id DESC);
CREATE INDEX api_keys_by_parent ON api_keys (parent_key_id, created_at_us DESC, key_id DESC) WHERE parent_key_id IS NOT NULL;
CREATE INDEX owner_keys ON api_keys (tenant_id) WHERE role = 'owner';
