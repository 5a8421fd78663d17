CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  bank_uid TEXT NOT NULL,
  bank_id TEXT NOT NULL,
  event_types TEXT NOT NULL,
  is_enabled INTEGER NOT NULL,
  -- Out of sight; its rows wait for the sweep.
  is_removed INTEGER NOT NULL DEFAULT 0,
  target_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  -- created_at_us of its newest delivery; the next one is later by at least a microsecond.
  last_delivery_us INTEGER NOT NULL DEFAULT 0,
  -- Earliest due_us among its pending deliveries, or NULL.
  next_due_us INTEGER
) STRICT;
CREATE INDEX webhooks_by_bank ON webhooks (bank_uid, created_at_us, id);
CREATE INDEX webhooks_due ON webhooks (next_due_us, id) WHERE next_due_us IS NOT NULL AND is_enabled = 1 AND is_removed = 0;
CREATE INDEX webhooks_removed ON webhooks (id) WHERE is_removed = 1;

-- Immutable snapshots of where and how a webhook is called. `sealed` is ciphertext.
CREATE TABLE targets (
  id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sealed BLOB NOT NULL,
  -- When it stopped being its webhook's current target, or NULL.
  superseded_at_us INTEGER
) STRICT;
CREATE INDEX targets_by_webhook ON targets (webhook_id);
CREATE INDEX targets_by_key ON targets (key_id);
CREATE INDEX targets_superseded ON targets (superseded_at_us) WHERE superseded_at_us IS NOT NULL;

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL,
  bank_uid TEXT NOT NULL,
  target_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Attempts since it was queued or redelivered; decides the next wait.
  round_attempts INTEGER NOT NULL DEFAULT 0,
  due_us INTEGER NOT NULL,
  owner TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  last_response_status INTEGER,
  last_response_body TEXT,
  last_attempt_at_us INTEGER,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  traceparent TEXT,
  body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX deliveries_history ON deliveries (webhook_id, created_at_us);
CREATE INDEX deliveries_pending ON deliveries (webhook_id, due_us) WHERE status = 'pending';
CREATE INDEX deliveries_processing ON deliveries (owner) WHERE status = 'processing';
CREATE INDEX deliveries_failed ON deliveries (webhook_id, created_at_us) WHERE status = 'failed';
CREATE INDEX deliveries_finished ON deliveries (updated_at_us) WHERE status IN ('completed', 'failed');
-- A bank's own webhooks lead to its deliveries; only those of the operator's webhook need a way of their own.
CREATE INDEX deliveries_of_server ON deliveries (bank_uid) WHERE webhook_id = 'server';

CREATE TABLE owners (
  owner TEXT PRIMARY KEY,
  beat INTEGER NOT NULL
) STRICT;

-- Remembered for ever: a late event of a dead bank must not bring anything back.
CREATE TABLE fenced_banks (
  bank_uid TEXT PRIMARY KEY,
  fenced_at_us INTEGER NOT NULL
) STRICT;
