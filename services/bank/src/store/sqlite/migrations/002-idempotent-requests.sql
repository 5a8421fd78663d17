CREATE TABLE idempotent_requests (
  tenant_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  -- Null once the request is answered.
  holder TEXT,
  answer BLOB,
  ends_at_us INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotent_requests_age ON idempotent_requests (ends_at_us);
