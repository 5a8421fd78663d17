import { setImmediate as nextTurn } from "node:timers/promises";
import type { SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import { analyze } from "../../domain/text/analyzer.ts";
import { DISAGREEMENTS_PER_CHECK, type Disagreement } from "../../memory-keeping.ts";
import { findBank } from "./bank-rows.ts";
import { faultQueries } from "./faults.ts";
import { storedEntityCounts, trueCooccurrences, trueCounters, trueEntityCounts, trueTagCounts } from "./true-counts.ts";
import { bankWord } from "./unit-writes.ts";

type Check = (tx: SqliteTx, bankNo: number) => readonly Disagreement[];

/** Units whose words are looked up in one turn of the event loop: some 20 ms. */
const wordsPerTurn = 200;

/** Every check in turn, each over one snapshot of the bank; others are served in between. */
export async function* checkBank(db: SqliteDatabase, bankUid: string): AsyncIterable<Disagreement> {
  const onBank = <T>(empty: T, read: (tx: SqliteTx, bankNo: number) => T): T =>
    db.read((tx) => {
      const bank = findBank(tx, bankUid);
      return bank ? read(tx, bank.bankNo) : empty;
    });
  for (const check of checks) {
    yield* onBank([], check);
    await nextTurn();
  }
  for (let afterNo = 0; ; await nextTurn()) {
    const page = onBank({ faults: [], lastNo: undefined }, (tx, bankNo) => checkWords(tx, bankNo, afterNo));
    yield* page.faults;
    if (page.lastNo === undefined) return;
    afterNo = page.lastNo;
  }
}

const checkCounters = compareCounts(
  "counters",
  trueCounters,
  "SELECT name, value FROM counters WHERE bank_no = ?1 AND value <> 0",
);
const checkTags = compareCounts("tags", trueTagCounts, "SELECT tag AS name, count AS value FROM tag_counts WHERE bank_no = ?1");

const checks: readonly Check[] = [
  ...faultQueries.map(
    ({ part, sql }): Check =>
      (tx, bankNo) =>
        tx.all<{ text: string }>(sql, [bankNo, DISAGREEMENTS_PER_CHECK]).map(({ text }) => ({ part, text })),
  ),
  checkCounters,
  checkTags,
  checkEntities,
  checkCooccurrences,
  checkIndexedUnits,
];

function compareCounts(part: string, expectedSql: string, storedSql: string): Check {
  return (tx, bankNo) => {
    const read = (sql: string) =>
      new Map(tx.all<{ name: string; value: number }>(sql, [bankNo]).map(({ name, value }) => [name, value]));
    const [stored, expected] = [read(storedSql), read(expectedSql)];
    return [...new Set([...stored.keys(), ...expected.keys()])]
      .filter((name) => (stored.get(name) ?? 0) !== (expected.get(name) ?? 0))
      .slice(0, DISAGREEMENTS_PER_CHECK)
      .map((name) => ({ part, text: `${name} is kept as ${stored.get(name) ?? 0} and counts ${expected.get(name) ?? 0}` }));
  };
}

function checkEntities(tx: SqliteTx, bankNo: number): Disagreement[] {
  const stored = storedEntityCounts(tx, bankNo);
  const expected = trueEntityCounts(tx, bankNo, stored);
  return stored
    .map((kept, i) => [kept, expected[i]!] as const)
    .filter(([kept, counted]) => JSON.stringify(kept) !== JSON.stringify(counted))
    .slice(0, DISAGREEMENTS_PER_CHECK)
    .map(([kept, counted]) => ({
      part: "entities",
      text: `entity ${kept.entityId} has ${kept.mentionCount} mentions from ${kept.firstSeenUs} to ${kept.lastSeenUs}, links ${kept.links}; counted ${counted.mentionCount} from ${counted.firstSeenUs} to ${counted.lastSeenUs}, links ${counted.links}`,
    }));
}

function checkCooccurrences(tx: SqliteTx, bankNo: number): Disagreement[] {
  const columns = "low_no, high_no, count, last_us";
  const stored = `SELECT ${columns} FROM cooccurrences WHERE bank_no = ?1`;
  return tx
    .all<{ low_no: number; high_no: number; side: string; count: number; last_us: number | null }>(
      `SELECT ${columns}, 'kept' AS side FROM (${stored} EXCEPT SELECT ${columns} FROM (${trueCooccurrences}))
       UNION ALL SELECT ${columns}, 'counted' FROM (SELECT ${columns} FROM (${trueCooccurrences}) EXCEPT ${stored}) LIMIT ?2`,
      [bankNo, DISAGREEMENTS_PER_CHECK],
    )
    .map((row) => ({
      part: "co-occurrences",
      text: `entities number ${row.low_no} and ${row.high_no} are ${row.side} to occur together ${row.count} times, last at ${row.last_us}`,
    }));
}

/** Every live unit is in the full-text index under its bank, and nothing else is. */
function checkIndexedUnits(tx: SqliteTx, bankNo: number): Disagreement[] {
  const part = "full text";
  const indexed = "SELECT rowid FROM unit_words WHERE unit_words MATCH ?2";
  const missing = tx.all<{ unit_id: string }>(
    `SELECT unit_id FROM units WHERE bank_no = ?1 AND live = 1 AND unit_no NOT IN (${indexed}) LIMIT ?3`,
    [bankNo, `bank : ${bankWord(bankNo)}`, DISAGREEMENTS_PER_CHECK],
  );
  const foreign = tx.all<{ rowid: number }>(
    `SELECT rowid FROM (${indexed}) WHERE rowid NOT IN (SELECT unit_no FROM units WHERE bank_no = ?1 AND live = 1) LIMIT ?3`,
    [bankNo, `bank : ${bankWord(bankNo)}`, DISAGREEMENTS_PER_CHECK],
  );
  return [
    ...missing.map(({ unit_id }) => ({ part, text: `unit ${unit_id} is not indexed` })),
    ...foreign.map(({ rowid }) => ({ part, text: `an entry (number ${rowid}) belongs to no live unit` })),
  ];
}

/** The words of a unit's text and context find it. Its entities may have been indexed under other spellings, so they are not asked for. */
function checkWords(tx: SqliteTx, bankNo: number, afterNo: number) {
  const units = tx.all<{ unit_no: number; unit_id: string; text: string; context: string }>(
    "SELECT unit_no, unit_id, text, context FROM units WHERE bank_no = ? AND live = 1 AND unit_no > ? ORDER BY unit_no LIMIT ?",
    [bankNo, afterNo, wordsPerTurn],
  );
  const faults = units.flatMap(({ unit_no, unit_id, text, context }): Disagreement[] => {
    const words = [...new Set([...analyze(text), ...analyze(context)])];
    if (words.length === 0) return [];
    const expression = words.map((word) => `words : "${word.replaceAll('"', '""')}"`).join(" AND ");
    if (tx.get("SELECT 1 FROM unit_words WHERE rowid = ? AND unit_words MATCH ?", [unit_no, expression])) return [];
    return [{ part: "full text", text: `unit ${unit_id} is not found by all of its words` }];
  });
  return { faults, lastNo: units.at(-1)?.unit_no };
}
