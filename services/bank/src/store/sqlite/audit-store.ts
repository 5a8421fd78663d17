import { AppError } from "@memory-bank/errors";
import type { SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import { AUDIT_BATCH_MAX, AUDIT_SWEEP_MAX, type AuditStore } from "../../audit-store.ts";
import type { FiledAuditEntry } from "../../domain/audit.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";

export function createSqliteAuditStore(db: SqliteDatabase): AuditStore {
  return {
    async insert(entries) {
      if (entries.length > AUDIT_BATCH_MAX) {
        throw new AppError("invalid_argument", "BATCH_TOO_LARGE", `At most ${AUDIT_BATCH_MAX} audit entries at once`);
      }
      if (entries.length === 0) return;
      await db.write((tx) => {
        for (const entry of entries) tx.run(INSERT, columnsOf(entry));
      });
    },
    async list({ limit, offset, ...query }) {
      const filter = filterOf(query);
      return db.read((tx) => ({
        entries: tx.all(LIST, { ...filter, limit, offset }).map(entryFrom),
        total: Number(tx.get(COUNT, filter)?.["total"]),
      }));
    },
    async count({ tenantId, bankUid, action, period }) {
      const { startUs, bucketUs, bucketCount } = period;
      const endUs = startUs + bucketUs * bucketCount;
      const filter = filterOf({ tenantId, bankUid, action, startUs, endUs });
      return db.read((tx) =>
        tx.all(COUNT_BY_BUCKET, { ...filter, bucketUs }).map((row) => ({
          bucket: Number(row["bucket"]),
          action: String(row["action"]),
          count: Number(row["count"]),
        })),
      );
    },
    deleteBefore(beforeUs) {
      return db.write((tx) => tx.run(DELETE_BEFORE, [beforeUs, AUDIT_SWEEP_MAX]).changes);
    },
  };
}

const IS_FILED = "(:bankUid IS NULL OR EXISTS (SELECT 1 FROM banks WHERE banks.bank_uid = :bankUid AND deleted_at_us IS NULL))";
const COLUMNS = "id, tenant_id, bank_uid, bank_id, action, transport, started_at_us, ended_at_us, request, response, metadata";
const INSERT = `INSERT INTO audit_entries (${COLUMNS})
  SELECT :id, :tenantId, :bankUid, :bankId, :action, :transport, :startedAtUs, :endedAtUs, :request, :response, :metadata
  WHERE ${IS_FILED} ON CONFLICT (id) DO NOTHING`;

// The bounds are always there (the whole range of safe integers unless told), so that one index range serves every query.
const WHERE_LISTED = `WHERE tenant_id = :tenantId AND bank_uid IS :bankUid AND ${IS_FILED}
  AND started_at_us >= :startUs AND started_at_us < :endUs
  AND (:action IS NULL OR action = :action) AND (:transport IS NULL OR transport = :transport)`;
const LIST = `SELECT ${COLUMNS} FROM audit_entries ${WHERE_LISTED}
  ORDER BY started_at_us DESC, id DESC LIMIT :limit OFFSET :offset`;
const COUNT = `SELECT count(*) AS total FROM audit_entries ${WHERE_LISTED}`;
// Numbers are bound as floating point; without the casts the division would not round.
const COUNT_BY_BUCKET = `SELECT (started_at_us - CAST(:startUs AS INTEGER)) / CAST(:bucketUs AS INTEGER) AS bucket, action, count(*) AS count
  FROM audit_entries ${WHERE_LISTED} GROUP BY bucket, action`;
const DELETE_BEFORE = `DELETE FROM audit_entries WHERE rowid IN
  (SELECT rowid FROM audit_entries WHERE started_at_us < ? ORDER BY started_at_us LIMIT ?)`;

interface Filter {
  readonly tenantId: string;
  readonly bankUid: string | null;
  readonly action?: string | undefined;
  readonly transport?: string | undefined;
  readonly startUs?: number | undefined;
  readonly endUs?: number | undefined;
}

function filterOf({ tenantId, bankUid, action, transport, startUs, endUs }: Filter) {
  return {
    tenantId,
    bankUid,
    action: action ?? null,
    transport: transport ?? null,
    startUs: startUs ?? Number.MIN_SAFE_INTEGER,
    endUs: endUs ?? Number.MAX_SAFE_INTEGER,
  };
}

function columnsOf(entry: FiledAuditEntry) {
  const { request, response, metadata, ...columns } = entry;
  return {
    ...columns,
    request: JSON.stringify(request),
    response: JSON.stringify(response),
    metadata: JSON.stringify(metadata),
  };
}

function entryFrom(row: NonNullable<ReturnType<SqliteTx["get"]>>): FiledAuditEntry {
  return {
    id: String(row["id"]),
    tenantId: String(row["tenant_id"]),
    bankUid: row["bank_uid"] === null ? null : String(row["bank_uid"]),
    bankId: row["bank_id"] === null ? null : String(row["bank_id"]),
    action: String(row["action"]),
    transport: String(row["transport"]),
    startedAtUs: Number(row["started_at_us"]),
    endedAtUs: Number(row["ended_at_us"]),
    request: JSON.parse(String(row["request"])) as JsonObject | null,
    response: JSON.parse(String(row["response"])) as JsonValue,
    metadata: JSON.parse(String(row["metadata"])) as JsonObject,
  };
}
