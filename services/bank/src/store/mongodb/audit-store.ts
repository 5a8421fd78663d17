import { AppError } from "@memory-bank/errors";
import type { MongodbDatabase } from "@memory-bank/storage";
import type { Db, Filter } from "mongodb";
import { AUDIT_BATCH_MAX, AUDIT_SWEEP_MAX, type AuditStore } from "../../audit-store.ts";
import type { AuditCount, FiledAuditEntry } from "../../domain/audit.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { type AuditDocument, auditOf, banksOf } from "./bank-documents.ts";
import { deleteSome } from "./bank-store.ts";

export function createMongodbAuditStore({ run }: MongodbDatabase): AuditStore {
  return {
    async insert(entries) {
      if (entries.length > AUDIT_BATCH_MAX) {
        throw new AppError("invalid_argument", "BATCH_TOO_LARGE", `At most ${AUDIT_BATCH_MAX} audit entries at once`);
      }
      await run((db) => insert(db, entries));
    },
    list: ({ limit, offset, ...query }) =>
      run(async (db) => {
        const { bankUid } = query;
        if (bankUid !== null && (await liveAmong(db, [bankUid])).size === 0) return { entries: [], total: 0 };
        const filter = filterOf(query);
        const total = await auditOf(db).countDocuments(filter);
        const sort = { startedAtUs: -1, _id: -1 } as const;
        const documents = await auditOf(db).find(filter, { sort }).skip(offset).limit(limit).toArray();
        return { entries: documents.map(entryOf), total };
      }),
    count: ({ period, ...query }) =>
      run(async (db) => {
        if ((await liveAmong(db, [query.bankUid])).size === 0) return [];
        const { startUs, bucketUs, bucketCount } = period;
        const filter = filterOf({ ...query, startUs, endUs: startUs + bucketUs * bucketCount });
        const bucket = { $floor: { $divide: [{ $subtract: ["$startedAtUs", startUs] }, bucketUs] } };
        const rows = await auditOf(db)
          .aggregate<{ _id: { bucket: number; action: string }; count: number }>([
            { $match: filter },
            { $group: { _id: { bucket, action: "$action" }, count: { $sum: 1 } } },
          ])
          .toArray();
        return rows.map(({ _id, count }): AuditCount => ({ bucket: _id.bucket, action: _id.action, count }));
      }),
    deleteBefore: (beforeUs) =>
      run((db) => deleteSome(auditOf(db), { startedAtUs: { $lt: beforeUs } }, AUDIT_SWEEP_MAX, { startedAtUs: 1 })),
  };
}

/** Looks again after the write: a purge that ran in between must not leave entries behind. */
async function insert(db: Db, entries: readonly FiledAuditEntry[]): Promise<void> {
  const bankUids = [...new Set(entries.flatMap(({ bankUid }) => bankUid ?? []))];
  const live = await liveAmong(db, bankUids);
  const filed = entries.filter(({ bankUid }) => bankUid === null || live.has(bankUid));
  if (filed.length === 0) return;
  const writes = filed.map((entry) => {
    const { _id, ...members } = documentOf(entry);
    return { updateOne: { filter: { _id }, update: { $setOnInsert: members }, upsert: true } };
  });
  await auditOf(db).bulkWrite(writes, { ordered: false });
  const stillLive = await liveAmong(db, [...live]);
  const buried = [...live].filter((bankUid) => !stillLive.has(bankUid));
  if (buried.length > 0) await auditOf(db).deleteMany({ bankUid: { $in: buried } });
}

async function liveAmong(db: Db, bankUids: readonly string[]): Promise<Set<string>> {
  if (bankUids.length === 0) return new Set();
  const options = { projection: { _id: 1 } } as const;
  const banks = await banksOf(db)
    .find({ _id: { $in: [...bankUids] }, deletedAtUs: null }, options)
    .toArray();
  return new Set(banks.map(({ _id }) => _id));
}

interface EntryFilter {
  readonly tenantId: string;
  readonly bankUid: string | null;
  readonly action?: string | undefined;
  readonly transport?: string | undefined;
  readonly startUs?: number | undefined;
  readonly endUs?: number | undefined;
}

function filterOf({ tenantId, bankUid, action, transport, startUs, endUs }: EntryFilter): Filter<AuditDocument> {
  const startedAtUs = { $gte: startUs ?? Number.MIN_SAFE_INTEGER, $lt: endUs ?? Number.MAX_SAFE_INTEGER };
  return {
    ...{ tenantId, bankUid, startedAtUs },
    ...(action === undefined ? {} : { action }),
    ...(transport === undefined ? {} : { transport }),
  };
}

function documentOf({ id, request, response, metadata, ...members }: FiledAuditEntry): AuditDocument {
  const texts = { request: JSON.stringify(request), response: JSON.stringify(response), metadata: JSON.stringify(metadata) };
  return { _id: id, ...members, ...texts };
}

function entryOf({ _id, request, response, metadata, ...members }: AuditDocument): FiledAuditEntry {
  return {
    id: _id,
    ...members,
    request: JSON.parse(request) as JsonObject | null,
    response: JSON.parse(response) as JsonValue,
    metadata: JSON.parse(metadata) as JsonObject,
  };
}
