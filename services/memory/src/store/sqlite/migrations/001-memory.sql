-- Everything is keyed by bank_no, a number for one incarnation of a bank (bank_uid). Instants are microseconds.

CREATE TABLE banks (
  bank_no INTEGER PRIMARY KEY,
  bank_uid TEXT NOT NULL UNIQUE,
  tenant_id TEXT NOT NULL,
  bank_id TEXT NOT NULL,
  seq INTEGER NOT NULL DEFAULT 0,
  fenced INTEGER NOT NULL DEFAULT 0,
  -- Removals up to this commit are no longer listed in removed_units.
  removals_forgotten_seq INTEGER NOT NULL DEFAULT 0,
  last_write_us INTEGER,
  last_document_us INTEGER
);
CREATE INDEX banks_by_tenant ON banks (tenant_id, bank_id);

-- node:<fact type>, link:<fact type of the source>:<link type, entity included>, documents.
CREATE TABLE counters (
  bank_no INTEGER NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (bank_no, name)
) WITHOUT ROWID;

CREATE TABLE documents (
  doc_no INTEGER PRIMARY KEY,
  bank_no INTEGER NOT NULL,
  document_id TEXT NOT NULL,
  original_text TEXT,
  text_length INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  tags TEXT NOT NULL,
  metadata TEXT NOT NULL,
  retain_params TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL,
  UNIQUE (bank_no, document_id)
);
CREATE INDEX documents_by_age ON documents (bank_no, created_us DESC, document_id DESC);

CREATE TABLE chunks (
  chunk_no INTEGER PRIMARY KEY,
  chunk_id TEXT NOT NULL UNIQUE,
  doc_no INTEGER NOT NULL,
  bank_no INTEGER NOT NULL,
  chunk_index INTEGER NOT NULL,
  text TEXT NOT NULL,
  created_us INTEGER NOT NULL
);
CREATE INDEX chunks_by_document ON chunks (doc_no, chunk_index);
CREATE INDEX chunks_by_bank ON chunks (bank_no);

CREATE TABLE units (
  unit_no INTEGER PRIMARY KEY,
  unit_id TEXT NOT NULL UNIQUE,
  bank_no INTEGER NOT NULL,
  type TEXT NOT NULL,
  family TEXT NOT NULL,
  live INTEGER NOT NULL DEFAULT 1,
  text TEXT NOT NULL,
  context TEXT NOT NULL,
  document_id TEXT,
  doc_no INTEGER,
  chunk_id TEXT,
  session_id TEXT NOT NULL,
  passage INTEGER NOT NULL,
  sentence_index INTEGER NOT NULL,
  author TEXT,
  subject TEXT,
  mentioned_us INTEGER,
  occurred_start_us INTEGER,
  occurred_end_us INTEGER,
  event_us INTEGER,
  tags TEXT NOT NULL,
  metadata TEXT NOT NULL,
  observation_scopes TEXT,
  features TEXT NOT NULL,
  token_count INTEGER NOT NULL,
  proof_count INTEGER NOT NULL,
  consolidated_us INTEGER,
  consolidation_failed_us INTEGER,
  invalidation_reason TEXT,
  invalidated_us INTEGER,
  edited_us INTEGER,
  created_us INTEGER NOT NULL,
  updated_us INTEGER NOT NULL,
  changed_seq INTEGER NOT NULL
);
CREATE INDEX units_by_mention ON units (bank_no, live, mentioned_us DESC, created_us DESC, unit_id DESC);
CREATE INDEX units_by_change ON units (bank_no, changed_seq);
CREATE INDEX units_by_event ON units (bank_no, family, event_us) WHERE live = 1 AND event_us IS NOT NULL;
CREATE INDEX units_by_document ON units (doc_no) WHERE doc_no IS NOT NULL;
CREATE INDEX units_pending ON units (bank_no, created_us, unit_no)
  WHERE live = 1 AND type <> 'observation' AND consolidated_us IS NULL AND consolidation_failed_us IS NULL;
CREATE INDEX units_failed ON units (bank_no) WHERE live = 1 AND consolidation_failed_us IS NOT NULL;
CREATE INDEX units_consolidated ON units (bank_no, consolidated_us) WHERE consolidated_us IS NOT NULL;
CREATE INDEX observations ON units (bank_no) WHERE type = 'observation';

-- Removals that a recall index may still have to learn of.
CREATE TABLE removed_units (
  bank_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  unit_id TEXT NOT NULL,
  PRIMARY KEY (bank_no, seq, unit_id)
) WITHOUT ROWID;

CREATE TABLE tag_counts (
  bank_no INTEGER NOT NULL,
  tag TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (bank_no, tag)
) WITHOUT ROWID;

CREATE TABLE entities (
  entity_no INTEGER PRIMARY KEY,
  entity_id TEXT NOT NULL UNIQUE,
  bank_no INTEGER NOT NULL,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  kind TEXT NOT NULL,
  mention_count INTEGER NOT NULL DEFAULT 0,
  first_seen_us INTEGER,
  last_seen_us INTEGER,
  -- Derived entity links by fact type (JSON), as they are included in the counters.
  links TEXT NOT NULL DEFAULT '{}',
  UNIQUE (bank_no, folded)
);
CREATE INDEX entities_by_mentions ON entities (bank_no, mention_count DESC, name, entity_id);

-- Ordered as derived entity links are counted: live units of an entity by (created_us, unit_id).
CREATE TABLE unit_entities (
  entity_no INTEGER NOT NULL,
  live INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  unit_id TEXT NOT NULL,
  unit_no INTEGER NOT NULL,
  type TEXT NOT NULL,
  event_us INTEGER,
  PRIMARY KEY (entity_no, live, created_us, unit_id)
) WITHOUT ROWID;
CREATE INDEX unit_entities_by_unit ON unit_entities (unit_no, entity_no);

CREATE TABLE cooccurrences (
  low_no INTEGER NOT NULL,
  high_no INTEGER NOT NULL,
  bank_no INTEGER NOT NULL,
  count INTEGER NOT NULL,
  last_us INTEGER,
  PRIMARY KEY (low_no, high_no)
) WITHOUT ROWID;
CREATE INDEX cooccurrences_by_high ON cooccurrences (high_no);
CREATE INDEX cooccurrences_by_weight ON cooccurrences (bank_no, count DESC);

CREATE TABLE links (
  from_no INTEGER NOT NULL,
  type TEXT NOT NULL,
  to_no INTEGER NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY (from_no, type, to_no)
) WITHOUT ROWID;
CREATE INDEX links_by_target ON links (to_no, type, from_no);

CREATE TABLE observation_sources (
  observation_no INTEGER NOT NULL,
  source_no INTEGER NOT NULL,
  PRIMARY KEY (observation_no, source_no)
) WITHOUT ROWID;
CREATE INDEX observation_sources_by_source ON observation_sources (source_no, observation_no);

CREATE TABLE observation_history (
  history_no INTEGER PRIMARY KEY,
  unit_no INTEGER NOT NULL,
  change TEXT NOT NULL
);
CREATE INDEX observation_history_by_unit ON observation_history (unit_no, history_no);

CREATE TABLE supersessions (
  unit_no INTEGER NOT NULL,
  by_no INTEGER NOT NULL,
  PRIMARY KEY (unit_no, by_no)
) WITHOUT ROWID;
CREATE INDEX supersessions_by_winner ON supersessions (by_no);

-- Full-text search of lists. The bank is one opaque word, so that no bank's name is ever tokenised; words come analysed,
-- and only white space separates them.
CREATE VIRTUAL TABLE unit_words USING fts5(
  bank, words, content = '', contentless_delete = 1, detail = full,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn'"
);
