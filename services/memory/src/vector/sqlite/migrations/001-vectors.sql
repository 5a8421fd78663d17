-- Which vector space the file holds: at most one row.
CREATE TABLE space (
  embedder_id TEXT NOT NULL,
  dimensions INTEGER NOT NULL
) STRICT;

-- A short number stands for a bank's incarnation in every row. A number is never given twice.
CREATE TABLE banks (
  bank_no INTEGER PRIMARY KEY AUTOINCREMENT,
  bank_uid TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE vectors (
  vector_no INTEGER PRIMARY KEY,
  bank_no INTEGER NOT NULL,
  unit_id TEXT NOT NULL,
  -- 0 world, 1 experience, 2 observation
  family INTEGER NOT NULL,
  -- f32 numbers, little-endian
  vector BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX vectors_by_unit ON vectors (bank_no, unit_id);
-- Ends in vector_no, as every index does: a bank is read in the order in which it was written, which is that of the pages.
CREATE INDEX vectors_by_bank ON vectors (bank_no);
