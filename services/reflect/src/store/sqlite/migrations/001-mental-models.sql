CREATE TABLE mental_models (
  bank_uid TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  source_query TEXT NOT NULL,
  tags TEXT NOT NULL,
  max_tokens INTEGER NOT NULL,
  -- "trigger" alone is a word of SQL.
  refresh_trigger TEXT NOT NULL,
  refreshes_after_consolidation INTEGER NOT NULL,
  created_at_us INTEGER NOT NULL,
  last_refreshed_at_us INTEGER,
  last_memory_seen_at_us INTEGER,
  watermark_seq INTEGER NOT NULL,
  refreshed_query TEXT,
  next_cron_at_us INTEGER,
  revision INTEGER NOT NULL,
  -- The large ones come last, so that scans over the others do not read their pages.
  content TEXT NOT NULL,
  reflect_response TEXT,
  PRIMARY KEY (bank_uid, id)
) STRICT;
CREATE INDEX mental_models_listed ON mental_models (bank_uid, last_refreshed_at_us DESC, id DESC);
CREATE INDEX mental_models_due ON mental_models (next_cron_at_us, bank_uid, id) WHERE next_cron_at_us IS NOT NULL;

CREATE TABLE mental_model_versions (
  seq INTEGER PRIMARY KEY,
  bank_uid TEXT NOT NULL,
  model_id TEXT NOT NULL,
  changed_at_us INTEGER NOT NULL,
  content TEXT NOT NULL,
  reflect_response TEXT
) STRICT;
CREATE INDEX mental_model_versions_by_model ON mental_model_versions (bank_uid, model_id, seq DESC);

-- Dead incarnations of banks; a row stays, so that late work is refused.
CREATE TABLE fenced_banks (bank_uid TEXT PRIMARY KEY) STRICT;
