import type { FactType } from "../../domain/fact.ts";
import { foldText } from "../../domain/text/analyzer.ts";
import type { NewEntity } from "../../domain/unit.ts";
import type { BankCommit } from "./bank-rows.ts";

/** An entity opens at most this many derived links (contract 3.6): its oldest live unit opens none, the next ten one each. */
const entityLinksMax = 10;

/** What entity bookkeeping needs of a unit. */
export interface EntityBearer {
  readonly unitNo: number;
  readonly unitId: string;
  readonly type: FactType;
  readonly eventUs: number | null;
  readonly createdUs: number;
}

/** Adds and removes mentions, and brings counts, dates, co-occurrences and derived links up to date once at the end. */
export interface EntityLedger {
  create(entities: readonly NewEntity[]): void;
  /** The number of an entity of this bank; throws when there is none. */
  numberOf(entityId: string): number;
  mention(unit: EntityBearer, entityNos: readonly number[]): void;
  /** Takes a live unit's mentions out of the counts and keeps the rows for `remention`. */
  unmention(unit: EntityBearer): void;
  /** Counts the kept mentions of a unit again. */
  remention(unit: EntityBearer): void;
  /** Exchanges the kept mentions of a unit that is not counted at the moment; none forgets them. */
  replaceKept(unit: EntityBearer, entityNos: readonly number[]): void;
  finish(): void;
}

export function openEntityLedger(commit: BankCommit): EntityLedger {
  const { tx, bankNo } = commit;
  const touched = new Set<number>();
  const recount = new Set<number>();
  const brokenPairs = new Map<string, readonly [number, number]>();

  const entityNosOf = (unitNo: number) =>
    tx
      .all<{ entity_no: number }>("SELECT entity_no FROM unit_entities WHERE unit_no = ? ORDER BY entity_no", [unitNo])
      .map((row) => row.entity_no);

  const insertRow = (unit: EntityBearer, entityNo: number, live: 0 | 1) =>
    tx.run(
      "INSERT INTO unit_entities (entity_no, live, created_us, unit_id, unit_no, type, event_us) VALUES (?, ?, ?, ?, ?, ?, ?)",
      [entityNo, live, unit.createdUs, unit.unitId, unit.unitNo, unit.type, unit.eventUs],
    );

  const count = (unit: EntityBearer, entityNos: readonly number[]) => {
    const sorted = [...entityNos].sort((a, b) => a - b);
    for (const entityNo of sorted) {
      touched.add(entityNo);
      tx.run(
        `UPDATE entities SET mention_count = mention_count + 1,
           first_seen_us = min(coalesce(first_seen_us, ?1), coalesce(?1, first_seen_us)),
           last_seen_us = max(coalesce(last_seen_us, ?1), coalesce(?1, last_seen_us)) WHERE entity_no = ?2`,
        [unit.eventUs, entityNo],
      );
    }
    for (const [low, high] of pairs(sorted)) {
      tx.run(
        `INSERT INTO cooccurrences (low_no, high_no, bank_no, count, last_us) VALUES (?1, ?2, ?3, 1, ?4)
         ON CONFLICT (low_no, high_no) DO UPDATE SET count = count + 1, last_us = max(coalesce(last_us, ?4), coalesce(?4, last_us))`,
        [low, high, bankNo, unit.eventUs],
      );
    }
  };

  const setLive = (unit: EntityBearer, entityNo: number, live: 0 | 1) =>
    tx.run(
      "UPDATE unit_entities SET live = ?, type = ?, event_us = ? WHERE entity_no = ? AND live = ? AND created_us = ? AND unit_id = ?",
      [live, unit.type, unit.eventUs, entityNo, 1 - live, unit.createdUs, unit.unitId],
    );

  return {
    create(entities) {
      for (const { entityId, name, kind } of entities) {
        tx.run("INSERT INTO entities (entity_id, bank_no, name, folded, kind) VALUES (?, ?, ?, ?, ?)", [
          entityId,
          bankNo,
          name,
          foldText(name),
          kind,
        ]);
      }
    },
    numberOf(entityId) {
      const row = tx.get<{ entity_no: number }>("SELECT entity_no FROM entities WHERE entity_id = ? AND bank_no = ?", [
        entityId,
        bankNo,
      ]);
      if (!row) throw new Error(`no entity ${entityId} in the bank of this commit`);
      return row.entity_no;
    },
    mention(unit, entityNos) {
      for (const entityNo of entityNos) insertRow(unit, entityNo, 1);
      count(unit, entityNos);
    },
    unmention(unit) {
      const entityNos = entityNosOf(unit.unitNo);
      for (const entityNo of entityNos) {
        recount.add(entityNo);
        setLive(unit, entityNo, 0);
      }
      for (const [low, high] of pairs(entityNos)) {
        tx.run("UPDATE cooccurrences SET count = count - 1 WHERE low_no = ? AND high_no = ?", [low, high]);
        brokenPairs.set(`${low}-${high}`, [low, high]);
      }
    },
    replaceKept(unit, entityNos) {
      for (const entityNo of entityNosOf(unit.unitNo)) recount.add(entityNo);
      tx.run("DELETE FROM unit_entities WHERE unit_no = ?", [unit.unitNo]);
      for (const entityNo of entityNos) insertRow(unit, entityNo, 0);
    },
    remention(unit) {
      const entityNos = entityNosOf(unit.unitNo);
      for (const entityNo of entityNos) setLive(unit, entityNo, 1);
      count(unit, entityNos);
    },
    finish() {
      for (const [low, high] of brokenPairs.values()) refreshPair(commit, low, high);
      for (const entityNo of recount) refreshMentions(commit, entityNo);
      for (const entityNo of new Set([...touched, ...recount])) refreshLinks(commit, entityNo);
    },
  };
}

function* pairs(sorted: readonly number[]): Generator<readonly [number, number]> {
  for (let i = 0; i < sorted.length; i++) for (let j = i + 1; j < sorted.length; j++) yield [sorted[i]!, sorted[j]!];
}

function refreshPair({ tx }: BankCommit, low: number, high: number): void {
  tx.run("DELETE FROM cooccurrences WHERE low_no = ? AND high_no = ? AND count <= 0", [low, high]);
  tx.run(
    `UPDATE cooccurrences SET last_us = (SELECT max(a.event_us) FROM unit_entities a JOIN unit_entities b ON b.unit_no = a.unit_no
       WHERE a.entity_no = ?1 AND a.live = 1 AND b.entity_no = ?2) WHERE low_no = ?1 AND high_no = ?2`,
    [low, high],
  );
}

/** Recounts after removals; an entity that no unit carries any more, live or not, goes away. */
function refreshMentions(commit: BankCommit, entityNo: number): void {
  const { tx } = commit;
  tx.run(
    `UPDATE entities SET (mention_count, first_seen_us, last_seen_us) =
       (SELECT count(*), min(event_us), max(event_us) FROM unit_entities WHERE entity_no = ?1 AND live = 1) WHERE entity_no = ?1`,
    [entityNo],
  );
}

function refreshLinks(commit: BankCommit, entityNo: number): void {
  const { tx } = commit;
  const entity = tx.get<{ links: string }>("SELECT links FROM entities WHERE entity_no = ?", [entityNo]);
  if (!entity) return;
  const types = tx.all<{ type: string }>(
    "SELECT type FROM unit_entities WHERE entity_no = ? AND live = 1 ORDER BY created_us, unit_id LIMIT ?",
    [entityNo, entityLinksMax + 1],
  );
  const after: Record<string, number> = {};
  for (const { type } of types.slice(1)) after[type] = (after[type] ?? 0) + 1;
  const before = JSON.parse(entity.links) as Record<string, number>;
  for (const [type, links] of Object.entries(before)) commit.count(`link:${type}:entity`, -links);
  for (const [type, links] of Object.entries(after)) commit.count(`link:${type}:entity`, links);
  tx.run("UPDATE entities SET links = ? WHERE entity_no = ?", [JSON.stringify(after), entityNo]);
  tx.run(
    "DELETE FROM entities WHERE entity_no = ?1 AND mention_count = 0 AND NOT EXISTS (SELECT 1 FROM unit_entities WHERE entity_no = ?1)",
    [entityNo],
  );
}
