import type { SQLInputValue } from "node:sqlite";
import type { SqliteTx } from "@memory-bank/storage";
import { isOpenFilter, matchesTags, type TagFilter } from "../../domain/tags.ts";
import type { Unit } from "../../domain/unit.ts";
import type { Document, Entity, Page, PageRequest, UnitQuery } from "../../memory-store.ts";
import { hydrateUnits, type UnitDbRow } from "./unit-reads.ts";
import { bankWord } from "./unit-writes.ts";

/** A WHERE clause in the making: texts are constant, values are bound. */
interface Condition {
  readonly clauses: string[];
  readonly params: SQLInputValue[];
}

const where = ({ clauses }: Condition) => clauses.join(" AND ");

/** The units that a query selects, last said first. */
export function listUnits(tx: SqliteTx, bankNo: number, query: UnitQuery): Page<Unit> {
  const condition = unitCondition(bankNo, query);
  const order = "ORDER BY mentioned_us DESC NULLS LAST, created_us DESC, unit_id DESC";
  if (query.tags && !isOpenFilter(query.tags)) return listByTags(tx, condition, order, query.tags, query);
  const total = tx.get<{ n: number }>(`SELECT count(*) AS n FROM units WHERE ${where(condition)}`, condition.params)!.n;
  const rows =
    query.limit === 0
      ? []
      : tx.all(`SELECT * FROM units WHERE ${where(condition)} ${order} LIMIT ? OFFSET ?`, [
          ...condition.params,
          query.limit,
          query.offset,
        ]);
  return { items: hydrateUnits(tx, rows as unknown as UnitDbRow[]), total };
}

/** Tag expressions nest at will, so they are judged here and not in SQL: ids and tags first, then the rows of the page. */
function listByTags(tx: SqliteTx, condition: Condition, order: string, filter: TagFilter, page: PageRequest): Page<Unit> {
  const candidates = tx.all<{ unit_no: number; tags: string }>(
    `SELECT unit_no, tags FROM units WHERE ${where(condition)} ${order}`,
    condition.params,
  );
  const matching = candidates.filter((row) => matchesTags(JSON.parse(row.tags), filter));
  const wanted = matching.slice(page.offset, page.offset + page.limit).map((row) => row.unit_no);
  const rows = tx.all(`SELECT * FROM units WHERE unit_no IN (SELECT value FROM json_each(?)) ${order}`, [JSON.stringify(wanted)]);
  return { items: hydrateUnits(tx, rows as unknown as UnitDbRow[]), total: matching.length };
}

function unitCondition(bankNo: number, query: UnitQuery): Condition {
  const condition: Condition = { clauses: ["bank_no = ?", "live = ?"], params: [bankNo, query.state === "valid" ? 1 : 0] };
  const add = (clause: string, ...params: SQLInputValue[]) => {
    condition.clauses.push(clause);
    condition.params.push(...params);
  };
  if (query.type !== undefined) add("type = ?", query.type);
  if (query.documentId !== undefined) add("document_id = ?", query.documentId);
  if (query.chunkId !== undefined) add("chunk_id = ?", query.chunkId);
  if (query.entityId !== undefined) {
    add(
      "unit_no IN (SELECT ue.unit_no FROM unit_entities ue JOIN entities e USING (entity_no) WHERE e.entity_id = ? AND e.bank_no = ?)",
      query.entityId,
      bankNo,
    );
  }
  if (query.words)
    add("unit_no IN (SELECT rowid FROM unit_words WHERE unit_words MATCH ?)", matchExpression(bankNo, query.words));
  if (query.substring !== undefined) add("(instr(text, ?) > 0 OR instr(context, ?) > 0)", query.substring, query.substring);
  if (query.consolidationState === "pending")
    add("type <> 'observation' AND consolidated_us IS NULL AND consolidation_failed_us IS NULL");
  if (query.consolidationState === "done") add("type <> 'observation' AND consolidated_us IS NOT NULL");
  if (query.consolidationState === "failed") add("type <> 'observation' AND consolidation_failed_us IS NOT NULL");
  return condition;
}

/** Every word must occur, the prefix as the start of one; words are quoted, so nothing in them is syntax. */
function matchExpression(bankNo: number, { all, prefix }: NonNullable<UnitQuery["words"]>): string {
  const quote = (word: string) => `"${word.replaceAll('"', '""')}"`;
  const terms = [...all.map((word) => `words : ${quote(word)}`), ...(prefix === undefined ? [] : [`words : ${quote(prefix)} *`])];
  return [`bank : ${bankWord(bankNo)}`, ...terms].join(" AND ");
}

export function listTags(tx: SqliteTx, bankNo: number, pattern: string | undefined, page: PageRequest) {
  const order = "ORDER BY count DESC, tag";
  if (!pattern) {
    const total = tx.get<{ n: number }>("SELECT count(*) AS n FROM tag_counts WHERE bank_no = ?", [bankNo])!.n;
    const items = tx.all<{ tag: string; count: number }>(
      `SELECT tag, count FROM tag_counts WHERE bank_no = ? ${order} LIMIT ? OFFSET ?`,
      [bankNo, page.limit, page.offset],
    );
    return { items, total };
  }
  const all = tx.all<{ tag: string; count: number }>(`SELECT tag, count FROM tag_counts WHERE bank_no = ? ${order}`, [bankNo]);
  const isMatch = globMatcher(pattern);
  const matching = all.filter((row) => isMatch(row.tag));
  return { items: matching.slice(page.offset, page.offset + page.limit), total: matching.length };
}

/** `*` is any run of characters, everything else is literal, case is ignored, both ends are anchored. Linear in the text. */
export function globMatcher(pattern: string): (text: string) => boolean {
  const parts = pattern.toLowerCase().split("*");
  return (candidate) => {
    const text = candidate.toLowerCase();
    if (parts.length === 1) return text === parts[0];
    const [first, last] = [parts[0]!, parts.at(-1)!];
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const part of parts.slice(1, -1)) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= text.length - last.length;
  };
}

interface EntityDbRow {
  readonly entity_id: string;
  readonly name: string;
  readonly kind: string;
  readonly mention_count: number;
  readonly first_seen_us: number | null;
  readonly last_seen_us: number | null;
}

export const entityColumns = "entity_id, name, kind, mention_count, first_seen_us, last_seen_us";

export function entityFromRow(row: Record<string, unknown>): Entity {
  const entity = row as unknown as EntityDbRow;
  return {
    entityId: entity.entity_id,
    name: entity.name,
    kind: entity.kind,
    mentionCount: entity.mention_count,
    firstSeenUs: entity.first_seen_us ?? undefined,
    lastSeenUs: entity.last_seen_us ?? undefined,
  };
}

export function listEntities(tx: SqliteTx, bankNo: number, page: PageRequest): Page<Entity> {
  const total = tx.get<{ n: number }>("SELECT count(*) AS n FROM entities WHERE bank_no = ? AND mention_count > 0", [bankNo])!.n;
  const rows = tx.all(
    `SELECT ${entityColumns} FROM entities WHERE bank_no = ? AND mention_count > 0 ORDER BY mention_count DESC, name, entity_id LIMIT ? OFFSET ?`,
    [bankNo, page.limit, page.offset],
  );
  return { items: rows.map(entityFromRow), total };
}

export function entityGraph(tx: SqliteTx, bankNo: number, limit: number, minCount: number) {
  const edges = tx
    .all<{ source_id: string; target_id: string; count: number; last_us: number | null }>(
      `SELECT min(a.entity_id, b.entity_id) AS source_id, max(a.entity_id, b.entity_id) AS target_id, c.count, c.last_us
         FROM cooccurrences c JOIN entities a ON a.entity_no = c.low_no JOIN entities b ON b.entity_no = c.high_no
         WHERE c.bank_no = ? AND c.count >= ? ORDER BY c.count DESC, c.last_us DESC NULLS LAST, source_id, target_id LIMIT ?`,
      [bankNo, minCount, limit],
    )
    .map((row) => ({ sourceId: row.source_id, targetId: row.target_id, weight: row.count, lastUs: row.last_us ?? undefined }));
  const ids = [...new Set(edges.flatMap((edge) => [edge.sourceId, edge.targetId]))];
  const nodes = tx
    .all(
      `SELECT ${entityColumns} FROM entities WHERE entity_id IN (SELECT value FROM json_each(?)) ORDER BY mention_count DESC, name, entity_id`,
      [JSON.stringify(ids)],
    )
    .map(entityFromRow);
  return { nodes, edges };
}

interface DocumentDbRow {
  readonly document_id: string;
  readonly original_text: string | null;
  readonly text_length: number;
  readonly content_hash: string;
  readonly tags: string;
  readonly metadata: string;
  readonly retain_params: string;
  readonly unit_count: number;
  readonly created_us: number;
  readonly updated_us: number;
}

const documentColumns = `document_id, text_length, content_hash, tags, metadata, retain_params, created_us, updated_us,
  (SELECT count(*) FROM units u WHERE u.doc_no = d.doc_no AND u.live = 1) AS unit_count`;

export function documentFromRow(row: Record<string, unknown>): Document {
  const document = row as unknown as DocumentDbRow;
  return {
    documentId: document.document_id,
    originalText: document.original_text ?? undefined,
    textLength: document.text_length,
    contentHash: document.content_hash,
    tags: JSON.parse(document.tags),
    metadata: JSON.parse(document.metadata),
    retainParams: JSON.parse(document.retain_params),
    unitCount: document.unit_count,
    createdAtUs: document.created_us,
    updatedAtUs: document.updated_us,
  };
}

export function findDocument(tx: SqliteTx, bankNo: number, documentId: string): Document | undefined {
  const row = tx.get(`SELECT original_text, ${documentColumns} FROM documents d WHERE bank_no = ? AND document_id = ?`, [
    bankNo,
    documentId,
  ]);
  return row && documentFromRow(row);
}

/** Lists leave the texts out: a page of long documents would not fit one message. */
export function listDocuments(
  tx: SqliteTx,
  bankNo: number,
  query: { readonly idPart?: string; readonly tags?: TagFilter } & PageRequest,
): Page<Document> {
  const order = "ORDER BY created_us DESC, document_id DESC";
  const filter = query.tags;
  if (query.idPart === undefined && (!filter || isOpenFilter(filter))) {
    const total = tx.get<{ n: number }>("SELECT count(*) AS n FROM documents WHERE bank_no = ?", [bankNo])!.n;
    const rows = tx.all(`SELECT ${documentColumns} FROM documents d WHERE bank_no = ? ${order} LIMIT ? OFFSET ?`, [
      bankNo,
      query.limit,
      query.offset,
    ]);
    return { items: rows.map(documentFromRow), total };
  }
  const part = query.idPart?.toLowerCase() ?? "";
  const matching = tx
    .all<{ doc_no: number; document_id: string; tags: string }>(
      `SELECT doc_no, document_id, tags FROM documents WHERE bank_no = ? ${order}`,
      [bankNo],
    )
    .filter((row) => row.document_id.toLowerCase().includes(part) && (!filter || matchesTags(JSON.parse(row.tags), filter)));
  const wanted = matching.slice(query.offset, query.offset + query.limit).map((row) => row.doc_no);
  const rows = tx.all(`SELECT ${documentColumns} FROM documents d WHERE doc_no IN (SELECT value FROM json_each(?)) ${order}`, [
    JSON.stringify(wanted),
  ]);
  return { items: rows.map(documentFromRow), total: matching.length };
}
