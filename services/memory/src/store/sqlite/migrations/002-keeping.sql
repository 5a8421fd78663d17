-- Whose vectors the units of this file have: at most one row.
CREATE TABLE embedder (id TEXT NOT NULL) STRICT;
-- 1 while units of the bank still wait for a vector of that embedder.
ALTER TABLE banks ADD COLUMN lacks_vectors INTEGER NOT NULL DEFAULT 0;
CREATE INDEX banks_without_vectors ON banks (bank_no) WHERE lacks_vectors = 1;
