import { AppError } from "@memory-bank/errors";
import { type FactType, familyOf } from "../../domain/fact.ts";
import { eventUsOf, type Link, type NewUnit } from "../../domain/unit.ts";
import type { BankCommit } from "./bank-rows.ts";
import { type EntityBearer, type EntityLedger, openEntityLedger } from "./entity-rows.ts";

/** The columns that bookkeeping needs of a stored unit. */
export interface UnitRow extends EntityBearer {
  readonly live: boolean;
  readonly tags: readonly string[];
}

const unitColumns = "unit_no, unit_id, type, live, tags, event_us, created_us";

export function readUnitRow(row: Record<string, unknown>): UnitRow {
  return {
    unitNo: row["unit_no"] as number,
    unitId: row["unit_id"] as string,
    type: row["type"] as FactType,
    live: row["live"] === 1,
    tags: JSON.parse(row["tags"] as string),
    eventUs: row["event_us"] as number | null,
    createdUs: row["created_us"] as number,
  };
}

/**
 * The writes on units inside one commit. Every method keeps counters, tag counts, entities, links, full-text rows and the
 * list of removals in step; `finish` completes what is cheaper to do once.
 */
export interface UnitLedger {
  readonly entities: EntityLedger;
  readonly removedUnitIds: readonly string[];
  readonly requeuedCount: number;
  insert(unit: NewUnit, docNo: number | undefined): number;
  link(links: readonly Link[]): void;
  /** Deletes units for good, with the observations drawn from them; the other sources of those become pending. */
  remove(rows: readonly UnitRow[]): void;
  /** Deletes the observations drawn from units that stay; all their sources become pending. Answers how many went. */
  removeObservationsOf(unitNos: readonly number[]): number;
  /** Takes a live unit out of every count and index but keeps its row, mentions and causal links. */
  deactivate(row: UnitRow): void;
  /** Brings a deactivated unit back. */
  activate(row: UnitRow, searchTokens: readonly string[]): void;
  unlink(row: UnitRow, types: readonly string[]): void;
  row(unitId: string): UnitRow | undefined;
  rows(where: string, params: readonly (string | number)[]): UnitRow[];
  finish(): void;
}

export function openUnitLedger(commit: BankCommit): UnitLedger {
  const { tx, bankNo, seq, nowUs } = commit;
  const entities = openEntityLedger(commit);
  const removedUnitIds: string[] = [];
  const known = new Map<string, { unitNo: number; type: FactType; live: boolean }>();
  let requeuedCount = 0;

  const rows = (where: string, params: readonly (string | number)[]) =>
    tx.all(`SELECT ${unitColumns} FROM units WHERE ${where}`, params).map(readUnitRow);

  const lookUp = (unitId: string) => {
    const cached = known.get(unitId);
    if (cached) return cached;
    const row = rows("unit_id = ? AND bank_no = ?", [unitId, bankNo])[0];
    if (row) known.set(unitId, row);
    return row;
  };

  /** Looks up what is not known yet of many units with one query. */
  const learn = (unitIds: readonly string[]) => {
    const unknown = new Set(unitIds.filter((unitId) => !known.has(unitId)));
    if (unknown.size === 0) return;
    const found = tx.all<{ unit_no: number; unit_id: string; type: string; live: number }>(
      "SELECT unit_no, unit_id, type, live FROM units WHERE unit_id IN (SELECT value FROM json_each(?)) AND bank_no = ?",
      [JSON.stringify([...unknown]), bankNo],
    );
    for (const row of found) known.set(row.unit_id, { unitNo: row.unit_no, type: row.type as FactType, live: row.live === 1 });
  };

  const indexWords = (unitNo: number, words: readonly string[]) =>
    tx.run("INSERT INTO unit_words (rowid, bank, words) VALUES (?, ?, ?)", [unitNo, bankWord(bankNo), words.join(" ")]);

  const countIn = (unit: { type: FactType; tags: readonly string[] }, delta: 1 | -1) => {
    commit.count(`node:${unit.type}`, delta);
    for (const tag of unit.tags) commit.countTag(tag, delta);
  };

  /** Live links with this unit at either end, as (type of the source, link type) counts. */
  const countLinks = (unitNo: number, delta: 1 | -1, types: readonly string[]) => {
    const ends = tx.all<{ source_type: string; type: string; n: number }>(
      `SELECT s.type AS source_type, l.type, count(*) AS n FROM links l JOIN units s ON s.unit_no = l.from_no JOIN units t ON t.unit_no = l.to_no
         WHERE l.from_no = ?1 AND (t.live = 1 OR t.unit_no = ?1) GROUP BY 1, 2
       UNION ALL
       SELECT s.type, l.type, count(*) FROM links l JOIN units s ON s.unit_no = l.from_no WHERE l.to_no = ?1 AND s.live = 1 AND s.unit_no <> ?1 GROUP BY 1, 2`,
      [unitNo],
    );
    for (const { source_type, type, n } of ends) if (types.includes(type)) commit.count(`link:${source_type}:${type}`, delta * n);
  };

  const ledger: UnitLedger = {
    entities,
    removedUnitIds,
    get requeuedCount() {
      return requeuedCount;
    },
    rows,
    row: (unitId) => rows("unit_id = ? AND bank_no = ?", [unitId, bankNo])[0],
    insert(unit, docNo) {
      const eventUs = eventUsOf(unit) ?? null;
      const { lastInsertRowid: unitNo } = tx.run(
        `INSERT INTO units (unit_id, bank_no, type, family, text, context, document_id, doc_no, chunk_id, session_id, passage, sentence_index,
           author, subject, mentioned_us, occurred_start_us, occurred_end_us, event_us, tags, metadata, observation_scopes, features,
           token_count, proof_count, created_us, updated_us, changed_seq)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          unit.unitId,
          bankNo,
          unit.type,
          familyOf(unit.type),
          unit.text,
          unit.context,
          unit.documentId ?? null,
          docNo ?? null,
          unit.chunkId ?? null,
          unit.sessionId,
          unit.passage,
          unit.sentenceIndex,
          unit.author ?? null,
          unit.subject ?? null,
          unit.mentionedAtUs ?? null,
          unit.occurredStartUs ?? null,
          unit.occurredEndUs ?? null,
          eventUs,
          JSON.stringify(unit.tags),
          JSON.stringify(unit.metadata),
          unit.observationScopes === undefined ? null : JSON.stringify(unit.observationScopes),
          JSON.stringify(unit.features),
          unit.tokenCount,
          unit.proofCount,
          unit.createdAtUs,
          nowUs,
          seq,
        ],
      );
      known.set(unit.unitId, { unitNo, type: unit.type, live: true });
      countIn(unit, 1);
      indexWords(unitNo, unit.searchTokens);
      const bearer = { unitNo, unitId: unit.unitId, type: unit.type, eventUs, createdUs: unit.createdAtUs };
      entities.mention(bearer, unit.entityIds.map(entities.numberOf));
      for (const sourceId of unit.sourceUnitIds) {
        const source = lookUp(sourceId);
        if (source) tx.run("INSERT INTO observation_sources (observation_no, source_no) VALUES (?, ?)", [unitNo, source.unitNo]);
      }
      return unitNo;
    },
    link(links) {
      learn(links.flatMap(({ fromId, toId }) => [fromId, toId]));
      const ends = links.flatMap(({ fromId, toId, type, weight }) => {
        const [from, to] = [known.get(fromId), known.get(toId)];
        // An end that went away after the plan read it takes the link's meaning with it.
        return from?.live && to?.live ? [[from.unitNo, type, to.unitNo, weight]] : [];
      });
      // One statement for all of them: a unit may bring dozens, and a call per row costs more than the row.
      const added = tx.all<{ from_no: number; type: string }>(
        `INSERT INTO links (from_no, type, to_no, weight)
           SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true
         ON CONFLICT DO NOTHING RETURNING from_no, type`,
        [JSON.stringify(ends)],
      );
      const typeOf = new Map([...known.values()].map((unit) => [unit.unitNo, unit.type]));
      for (const { from_no, type } of added) commit.count(`link:${typeOf.get(from_no)}:${type}`, 1);
    },
    unlink(row, types) {
      if (row.live) countLinks(row.unitNo, -1, types);
      for (const type of types) {
        tx.run("DELETE FROM links WHERE from_no = ? AND type = ?", [row.unitNo, type]);
        tx.run("DELETE FROM links WHERE to_no = ? AND type = ?", [row.unitNo, type]);
      }
    },
    remove(targets) {
      ledger.removeObservationsOf(targets.map((row) => row.unitNo));
      for (const row of targets) {
        ledger.unlink(row, allLinkTypes);
        if (row.live) {
          countIn(row, -1);
          tx.run("DELETE FROM unit_words WHERE rowid = ?", [row.unitNo]);
        }
        if (row.live) entities.unmention(row);
        entities.replaceKept(row, []);
        dropSupersessions(row.unitNo);
        tx.run("DELETE FROM observation_sources WHERE observation_no = ?", [row.unitNo]);
        tx.run("DELETE FROM observation_history WHERE unit_no = ?", [row.unitNo]);
        tx.run("DELETE FROM units WHERE unit_no = ?", [row.unitNo]);
        noteRemoval(row.unitId);
        known.delete(row.unitId);
        removedUnitIds.push(row.unitId);
      }
    },
    removeObservationsOf(unitNos) {
      const observations = new Map<number, UnitRow>();
      for (const unitNo of unitNos) {
        const drawn = rows("unit_no IN (SELECT observation_no FROM observation_sources WHERE source_no = ?)", [unitNo]);
        for (const row of drawn) observations.set(row.unitNo, row);
      }
      for (const row of observations.values()) {
        requeuedCount += tx.run(
          `UPDATE units SET consolidated_us = NULL, consolidation_failed_us = NULL
             WHERE unit_no IN (SELECT source_no FROM observation_sources WHERE observation_no = ?) AND consolidated_us IS NOT NULL`,
          [row.unitNo],
        ).changes;
      }
      if (observations.size > 0) ledger.remove([...observations.values()]);
      return observations.size;
    },
    deactivate(row) {
      ledger.unlink(row, ["temporal", "semantic"]);
      countLinks(row.unitNo, -1, ["caused_by"]);
      countIn(row, -1);
      tx.run("DELETE FROM unit_words WHERE rowid = ?", [row.unitNo]);
      entities.unmention(row);
      tx.run("UPDATE units SET live = 0, changed_seq = ? WHERE unit_no = ?", [seq, row.unitNo]);
      noteRemoval(row.unitId);
      known.delete(row.unitId);
      removedUnitIds.push(row.unitId);
    },
    activate(row, searchTokens) {
      tx.run("UPDATE units SET live = 1, changed_seq = ? WHERE unit_no = ?", [seq, row.unitNo]);
      known.delete(row.unitId);
      countIn(row, 1);
      indexWords(row.unitNo, searchTokens);
      entities.remention(row);
      countLinks(row.unitNo, 1, ["caused_by"]);
    },
    finish() {
      entities.finish();
    },
  };

  const noteRemoval = (unitId: string) =>
    tx.run("INSERT INTO removed_units (bank_no, seq, unit_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", [bankNo, seq, unitId]);

  /** Units that this one superseded rank on their own again, so the recall index must learn of them. */
  const dropSupersessions = (unitNo: number) => {
    tx.run("UPDATE units SET changed_seq = ? WHERE unit_no IN (SELECT unit_no FROM supersessions WHERE by_no = ?)", [
      seq,
      unitNo,
    ]);
    tx.run("DELETE FROM supersessions WHERE by_no = ? OR unit_no = ?", [unitNo, unitNo]);
  };

  return ledger;
}

const allLinkTypes = ["temporal", "semantic", "caused_by"];

/** The word that stands for a bank in the full-text index. */
export const bankWord = (bankNo: number): string => `b${bankNo}`;

export function unitNotFound(unitId: string): AppError {
  return new AppError("not_found", "MEMORY_NOT_FOUND", `Memory unit '${unitId}' not found`);
}
