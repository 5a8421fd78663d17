import { outboxMigration } from "@memory-bank/events";
import { jobsMigration } from "@memory-bank/jobs";
import { migrationsFrom, type SqliteDatabase, type SqliteTx } from "@memory-bank/storage";
import type { FactFamily, FactType } from "../../domain/fact.ts";
import { matchesTags } from "../../domain/tags.ts";
import type { LinkType } from "../../domain/unit.ts";
import type { Chunk, MemoryStore, ObservationChange, Stats } from "../../memory-store.ts";
import { type BankRow, findBank } from "./bank-rows.ts";
import { createWrites } from "./commits.ts";
import {
  entityColumns,
  entityFromRow,
  entityGraph,
  findDocument,
  listDocuments,
  listEntities,
  listTags,
  listUnits,
} from "./lists.ts";
import { purgeBank } from "./purge.ts";
import { changesSince, hydrateUnits, liveUnits, summaries, type UnitDbRow } from "./unit-reads.ts";

/** What a file must have gone through before it can hold memories, jobs and outgoing events. */
export const memoryMigrations = [...migrationsFrom(new URL("./migrations/", import.meta.url)), jobsMigration, outboxMigration];

/** The store over an open SQLite file, which stays the caller's to close. */
export function createSqliteMemoryStore(db: SqliteDatabase): MemoryStore {
  /** Reads one snapshot of a bank; a bank that was never written, or is fenced, answers `empty`. */
  const readBank = async <T>(bankUid: string, empty: T, read: (tx: SqliteTx, bank: BankRow) => T): Promise<T> =>
    db.read((tx) => {
      const bank = findBank(tx, bankUid);
      return bank ? read(tx, bank) : empty;
    });
  const emptyPage = { items: [], total: 0 };

  return {
    ...createWrites(db),
    seq: (bankUid) => readBank(bankUid, 0, (_, bank) => bank.seq),
    findUnit: (bankUid, unitId) =>
      readBank(bankUid, undefined, (tx, { bankNo }) => {
        const row = tx.get("SELECT * FROM units WHERE unit_id = ? AND bank_no = ?", [unitId, bankNo]);
        return row && hydrateUnits(tx, [row as unknown as UnitDbRow])[0];
      }),
    getUnits: (bankUid, unitIds) => readBank(bankUid, [], (tx, { bankNo }) => liveUnits(tx, bankNo, unitIds)),
    listUnits: (bankUid, query) => readBank(bankUid, emptyPage, (tx, { bankNo }) => listUnits(tx, bankNo, query)),
    history: (bankUid, unitId) =>
      readBank(bankUid, [], (tx, { bankNo }) =>
        tx
          .all<{ change: string }>(
            "SELECT h.change FROM observation_history h JOIN units u USING (unit_no) WHERE u.unit_id = ? AND u.bank_no = ? ORDER BY h.history_no",
            [unitId, bankNo],
          )
          .map((row) => JSON.parse(row.change) as ObservationChange),
      ),
    listTags: (bankUid, pattern, page) => readBank(bankUid, emptyPage, (tx, { bankNo }) => listTags(tx, bankNo, pattern, page)),
    listEntities: (bankUid, page) => readBank(bankUid, emptyPage, (tx, { bankNo }) => listEntities(tx, bankNo, page)),
    findEntity: (bankUid, entityId) =>
      readBank(bankUid, undefined, (tx, { bankNo }) => {
        const row = tx.get(`SELECT ${entityColumns} FROM entities WHERE entity_id = ? AND bank_no = ? AND mention_count > 0`, [
          entityId,
          bankNo,
        ]);
        return row && entityFromRow(row);
      }),
    entityGraph: (bankUid, limit, minCount) =>
      readBank(bankUid, { nodes: [], edges: [] }, (tx, { bankNo }) => entityGraph(tx, bankNo, limit, minCount)),
    stats: (bankUid) => readBank(bankUid, emptyStats, readStats),
    instants: (bankUid, field, sinceUs) =>
      readBank(bankUid, [], (tx, { bankNo }) => {
        const column = { created_at: "created_us", mentioned_at: "mentioned_us", occurred_start: "occurred_start_us" }[field];
        return tx
          .all<{ at_us: number; family: string }>(
            `SELECT ${column} AS at_us, family FROM units WHERE bank_no = ? AND live = 1 AND ${column} >= ? ORDER BY 1`,
            [bankNo, sinceUs],
          )
          .map((row) => ({ atUs: row.at_us, family: row.family as FactFamily }));
      }),
    listDocuments: (bankUid, query) => readBank(bankUid, emptyPage, (tx, { bankNo }) => listDocuments(tx, bankNo, query)),
    findDocument: (bankUid, documentId) => readBank(bankUid, undefined, (tx, { bankNo }) => findDocument(tx, bankNo, documentId)),
    listChunks: (bankUid, documentId, { limit, offset }) =>
      readBank(bankUid, emptyPage, (tx, { bankNo }) => {
        const document = "bank_no = ? AND doc_no = (SELECT doc_no FROM documents WHERE bank_no = ? AND document_id = ?)";
        const params = [bankNo, bankNo, documentId];
        const total = tx.get<{ n: number }>(`SELECT count(*) AS n FROM chunks WHERE ${document}`, params)!.n;
        const rows = tx.all(`${selectChunks} WHERE c.${document} ORDER BY chunk_index LIMIT ? OFFSET ?`, [
          ...params,
          limit,
          offset,
        ]);
        return { items: rows.map(chunkFromRow), total };
      }),
    getChunks: (bankUid, chunkIds) =>
      readBank(bankUid, [], (tx, { bankNo }) =>
        tx
          .all(`${selectChunks} WHERE c.chunk_id IN (SELECT value FROM json_each(?)) AND c.bank_no = ?`, [
            JSON.stringify(chunkIds),
            bankNo,
          ])
          .map(chunkFromRow),
      ),
    findChunk: async (tenantId, chunkId) =>
      db.read((tx) => {
        const row = tx.get(
          "SELECT c.*, d.document_id, b.bank_id FROM chunks c JOIN documents d USING (doc_no) JOIN banks b ON b.bank_no = c.bank_no WHERE c.chunk_id = ? AND b.tenant_id = ? AND b.fenced = 0",
          [chunkId, tenantId],
        );
        return row && { ...chunkFromRow(row), bankId: row["bank_id"] as string };
      }),
    linksOf: (bankUid, unitIds, types) => readBank(bankUid, [], (tx, { bankNo }) => linksOf(tx, bankNo, unitIds, types)),
    neighboursOf: (bankUid, unitIds, limitPerUnit) =>
      readBank(bankUid, new Map(), (tx, { bankNo }) => neighboursOf(tx, bankNo, unitIds, limitPerUnit)),
    activity: async (tenantId, bankIds) =>
      db.read((tx) =>
        tx
          .all<{
            bank_id: string;
            bank_uid: string;
            facts: number;
            last_document_us: number | null;
            last_write_us: number | null;
          }>(
            `SELECT bank_id, bank_uid, last_document_us, last_write_us,
               (SELECT coalesce(sum(value), 0) FROM counters c WHERE c.bank_no = b.bank_no AND c.name GLOB 'node:*') AS facts
             FROM banks b WHERE tenant_id = ?1 AND fenced = 0 AND (?2 IS NULL OR bank_id IN (SELECT value FROM json_each(?2)))`,
            [tenantId, bankIds === undefined ? null : JSON.stringify(bankIds)],
          )
          .map((row) => ({
            tenantId,
            bankId: row.bank_id,
            bankUid: row.bank_uid,
            factCount: row.facts,
            lastDocumentAtUs: row.last_document_us ?? undefined,
            lastWriteAtUs: row.last_write_us ?? undefined,
          })),
      ),
    observationScopes: (bankUid) =>
      readBank(bankUid, [], (tx, { bankNo }) => {
        const rows = tx.all<{ tags: string }>("SELECT tags FROM units WHERE bank_no = ? AND type = 'observation'", [bankNo]);
        const counts = new Map<string, number>();
        for (const { tags } of rows) {
          const scope = JSON.stringify((JSON.parse(tags) as string[]).sort());
          counts.set(scope, (counts.get(scope) ?? 0) + 1);
        }
        return [...counts]
          .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
          .map(([scope, count]) => ({ tags: JSON.parse(scope) as string[], count }));
      }),
    entityNames: (bankUid) =>
      readBank(bankUid, [], (tx, { bankNo }) =>
        tx.all(`SELECT ${entityColumns} FROM entities WHERE bank_no = ? ORDER BY entity_no`, [bankNo]).map(entityFromRow),
      ),
    cooccurringIds: (bankUid, entityId) =>
      readBank(bankUid, new Set<string>(), (tx, { bankNo }) => {
        const entity = tx.get<{ entity_no: number }>("SELECT entity_no FROM entities WHERE entity_id = ? AND bank_no = ?", [
          entityId,
          bankNo,
        ]);
        if (!entity) return new Set<string>();
        const rows = tx.all<{ entity_id: string }>(
          `SELECT e.entity_id FROM cooccurrences c JOIN entities e ON e.entity_no = c.high_no WHERE c.low_no = ?1
           UNION SELECT e.entity_id FROM cooccurrences c JOIN entities e ON e.entity_no = c.low_no WHERE c.high_no = ?1`,
          [entity.entity_no],
        );
        return new Set(rows.map((row) => row.entity_id));
      }),
    summaries: (bankUid, unitIds) => readBank(bankUid, [], (tx, { bankNo }) => summaries(tx, bankNo, unitIds)),
    nearestInTime: (bankUid, family, eventUs, withinUs, limit) =>
      readBank(bankUid, [], (tx, { bankNo }) => {
        const side = (comparison: string, order: string) =>
          tx.all<{ unit_id: string; event_us: number }>(
            `SELECT unit_id, event_us FROM units WHERE bank_no = ? AND family = ? AND live = 1 AND event_us IS NOT NULL
               AND ${comparison} ORDER BY event_us ${order} LIMIT ?`,
            [bankNo, family, eventUs, eventUs + (order === "DESC" ? -withinUs : withinUs), limit],
          );
        const near = [...side("event_us <= ? AND event_us >= ?", "DESC"), ...side("event_us > ? AND event_us <= ?", "ASC")];
        return near
          .map((row) => ({ unitId: row.unit_id, eventUs: row.event_us }))
          .sort((a, b) => Math.abs(a.eventUs - eventUs) - Math.abs(b.eventUs - eventUs));
      }),
    pendingUnits: (bankUid, limit, exceptIds) =>
      readBank(bankUid, [], (tx, { bankNo }) => {
        const rows = tx.all(
          `SELECT * FROM units WHERE bank_no = ?1 AND live = 1 AND type <> 'observation' AND consolidated_us IS NULL AND consolidation_failed_us IS NULL
             AND unit_id NOT IN (SELECT value FROM json_each(?2)) ORDER BY created_us, unit_no LIMIT ?3`,
          [bankNo, JSON.stringify([...exceptIds]), limit],
        );
        return hydrateUnits(tx, rows as unknown as UnitDbRow[]);
      }),
    banksWithPending: async (limit) =>
      db.read((tx) =>
        tx
          .all<{ tenant_id: string; bank_id: string; bank_uid: string }>(
            `SELECT tenant_id, bank_id, bank_uid FROM banks b WHERE fenced = 0 AND EXISTS (SELECT 1 FROM units u WHERE u.bank_no = b.bank_no
               AND u.live = 1 AND u.type <> 'observation' AND u.consolidated_us IS NULL AND u.consolidation_failed_us IS NULL) LIMIT ?`,
            [limit],
          )
          .map((row) => ({ tenantId: row.tenant_id, bankId: row.bank_id, bankUid: row.bank_uid })),
      ),
    lacksVectors: async (bankUid) =>
      db.read((tx) => tx.get("SELECT 1 FROM banks WHERE bank_uid = ? AND lacks_vectors = 1", [bankUid]) !== undefined),
    changesSince: async (bankUid, sinceSeq) => db.read((tx) => changesSince(tx, bankUid, sinceSeq)),
    scopeChanges: (bankUid, scope) =>
      readBank(bankUid, { changedCount: 0, newestUpdatedAtUs: undefined, missingIds: [...scope.citedIds] }, (tx, { bankNo }) => {
        const rows = tx
          .all<{ type: string; tags: string; changed_seq: number; updated_us: number }>(
            "SELECT type, tags, changed_seq, updated_us FROM units WHERE bank_no = ? AND live = 1",
            [bankNo],
          )
          .filter(
            (row) =>
              (!scope.types || scope.types.includes(row.type as FactType)) && matchesTags(JSON.parse(row.tags), scope.tags),
          );
        const cited = tx.all<{ unit_id: string }>(
          "SELECT unit_id FROM units WHERE unit_id IN (SELECT value FROM json_each(?)) AND bank_no = ? AND live = 1",
          [JSON.stringify(scope.citedIds), bankNo],
        );
        const live = new Set(cited.map((row) => row.unit_id));
        const newest = rows.reduce((latest, row) => Math.max(latest, row.updated_us), Number.NEGATIVE_INFINITY);
        return {
          changedCount: rows.filter((row) => row.changed_seq > scope.sinceSeq).length,
          newestUpdatedAtUs: Number.isFinite(newest) ? newest : undefined,
          missingIds: scope.citedIds.filter((unitId) => !live.has(unitId)),
        };
      }),
    fence: (bankUid) =>
      db.write((tx) => {
        const bank = findBank(tx, bankUid);
        tx.run(
          "INSERT INTO banks (bank_uid, tenant_id, bank_id, fenced) VALUES (?, '', '', 1) ON CONFLICT (bank_uid) DO UPDATE SET fenced = 1",
          [bankUid],
        );
        if (!bank) return 0;
        return tx.get<{ n: number }>(
          "SELECT coalesce(sum(value), 0) AS n FROM counters WHERE bank_no = ? AND name GLOB 'node:*'",
          [bank.bankNo],
        )!.n;
      }),
    purge: (bankUid) => purgeBank(db, bankUid),
    [Symbol.asyncDispose]: async () => {},
  };
}

const selectChunks = "SELECT c.*, d.document_id FROM chunks c JOIN documents d USING (doc_no)";

function chunkFromRow(row: Record<string, unknown>): Chunk {
  return {
    chunkId: row["chunk_id"] as string,
    documentId: row["document_id"] as string,
    chunkIndex: row["chunk_index"] as number,
    text: row["text"] as string,
    createdAtUs: row["created_us"] as number,
  };
}

function linksOf(tx: SqliteTx, bankNo: number, unitIds: readonly string[], types: readonly LinkType[]) {
  const select = (mine: string, other: string) =>
    `SELECT f.unit_id AS from_id, t.unit_id AS to_id, l.type, l.weight FROM units ${mine}
       JOIN links l ON l.${mine === "f" ? "from_no" : "to_no"} = ${mine}.unit_no
       JOIN units ${other} ON ${other}.unit_no = l.${mine === "f" ? "to_no" : "from_no"}
       WHERE ${mine}.unit_id IN (SELECT value FROM json_each(?1)) AND ${mine}.bank_no = ?2 AND f.live = 1 AND t.live = 1
         AND l.type IN (SELECT value FROM json_each(?3))`;
  return tx
    .all<{ from_id: string; to_id: string; type: string; weight: number }>(`${select("f", "t")} UNION ${select("t", "f")}`, [
      JSON.stringify(unitIds),
      bankNo,
      JSON.stringify(types),
    ])
    .map((row) => ({ fromId: row.from_id, toId: row.to_id, type: row.type as LinkType, weight: row.weight }));
}

/** One indexed read per unit and direction: far cheaper than one join over all links of all units. */
function neighboursOf(tx: SqliteTx, bankNo: number, unitIds: readonly string[], limit: number) {
  const select = (mine: string, other: string) =>
    `SELECT t.unit_id, l.weight FROM links l JOIN units t ON t.unit_no = l.${other}
       WHERE l.${mine} = ? AND l.type IN ('semantic', 'caused_by') AND t.live = 1 ORDER BY l.weight DESC LIMIT ?`;
  const neighbours = new Map<string, { unitId: string; weight: number }[]>();
  for (const unitId of unitIds) {
    const unit = tx.get<{ unit_no: number }>("SELECT unit_no FROM units WHERE unit_id = ? AND bank_no = ? AND live = 1", [
      unitId,
      bankNo,
    ]);
    if (!unit) continue;
    const rows = [select("from_no", "to_no"), select("to_no", "from_no")].flatMap((sql) =>
      tx.all<{ unit_id: string; weight: number }>(sql, [unit.unit_no, limit]),
    );
    neighbours.set(
      unitId,
      rows
        .sort((a, b) => b.weight - a.weight)
        .slice(0, limit)
        .map((row) => ({ unitId: row.unit_id, weight: row.weight })),
    );
  }
  return neighbours;
}

const emptyStats: Stats = {
  nodesByType: new Map(),
  links: new Map(),
  documents: 0,
  pendingConsolidation: 0,
  failedConsolidation: 0,
  lastConsolidatedAtUs: undefined,
  lastWriteAtUs: undefined,
};

/** Counters are kept by every commit; only the consolidation states are counted here, over indexes that hold nothing else. */
function readStats(tx: SqliteTx, { bankNo }: BankRow): Stats {
  const counters = tx.all<{ name: string; value: number }>(
    "SELECT name, value FROM counters WHERE bank_no = ? AND value <> 0 ORDER BY name",
    [bankNo],
  );
  const nodesByType = new Map<FactType, number>();
  const links = new Map<FactType, Map<LinkType | "entity", number>>();
  let documents = 0;
  for (const { name, value } of counters) {
    const [what, type, linkType] = name.split(":") as [string, FactType, LinkType | "entity"];
    if (what === "node") nodesByType.set(type, value);
    else if (what === "link") links.set(type, (links.get(type) ?? new Map<LinkType | "entity", number>()).set(linkType, value));
    else documents = value;
  }
  const one = (sql: string) => tx.get<{ n: number | null }>(sql, [bankNo])!.n ?? undefined;
  return {
    nodesByType,
    links,
    documents,
    pendingConsolidation:
      one(
        "SELECT count(*) AS n FROM units WHERE bank_no = ? AND live = 1 AND type <> 'observation' AND consolidated_us IS NULL AND consolidation_failed_us IS NULL",
      ) ?? 0,
    failedConsolidation:
      one(
        "SELECT count(*) AS n FROM units INDEXED BY units_failed WHERE bank_no = ? AND live = 1 AND consolidation_failed_us IS NOT NULL",
      ) ?? 0,
    lastConsolidatedAtUs: one("SELECT max(consolidated_us) AS n FROM units WHERE bank_no = ? AND consolidated_us IS NOT NULL"),
    lastWriteAtUs: one("SELECT last_write_us AS n FROM banks WHERE bank_no = ?"),
  };
}
