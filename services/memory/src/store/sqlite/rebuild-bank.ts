import type { SqliteTx } from "@memory-bank/storage";
import { searchTokens } from "../../domain/retain/plan-retain.ts";
import type { BankRef } from "../../domain/unit.ts";
import { beginCommit } from "./bank-rows.ts";
import { storedEntityCounts, trueCooccurrences, trueCounters, trueEntityCounts, trueTagCounts } from "./true-counts.ts";
import { bankWord, openUnitLedger } from "./unit-writes.ts";

/**
 * One commit that drops what hangs in the air and makes everything anew that is drawn from other rows. Recall indexes are
 * built from scratch afterwards, since any unit may have changed.
 */
export function rebuildBank(tx: SqliteTx, bank: BankRef, nowUs: number): void {
  const commit = beginCommit(tx, bank, nowUs);
  const { bankNo, seq } = commit;
  // The counts that these three keep as they go are replaced below.
  dropUnsupportedObservations(tx, bankNo, openUnitLedger(commit));
  commit.finish({ wroteDocument: false });

  dropLooseEnds(tx, bankNo);
  refileUnits(tx, bankNo, seq);
  remakeMentions(tx, bankNo);
  recount(tx, bankNo);
  reindexWords(tx, bankNo);
  tx.run("UPDATE banks SET removals_forgotten_seq = ? WHERE bank_no = ?", [seq, bankNo]);
}

function dropUnsupportedObservations(tx: SqliteTx, bankNo: number, ledger: ReturnType<typeof openUnitLedger>): void {
  tx.run(
    `DELETE FROM observation_sources WHERE observation_no IN (SELECT unit_no FROM units WHERE bank_no = ?1)
       AND NOT EXISTS (SELECT 1 FROM units s WHERE s.unit_no = source_no AND s.bank_no = ?1)`,
    [bankNo],
  );
  ledger.remove(
    ledger.rows(
      "bank_no = ? AND type = 'observation' AND NOT EXISTS (SELECT 1 FROM observation_sources s WHERE s.observation_no = units.unit_no)",
      [bankNo],
    ),
  );
  ledger.finish();
  tx.run(
    `UPDATE units SET proof_count = (SELECT count(*) FROM observation_sources s WHERE s.observation_no = units.unit_no)
       WHERE bank_no = ? AND type = 'observation'`,
    [bankNo],
  );
}

function dropLooseEnds(tx: SqliteTx, bankNo: number): void {
  tx.run(
    "DELETE FROM chunks WHERE bank_no = ?1 AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.doc_no = chunks.doc_no AND d.bank_no = ?1)",
    [bankNo],
  );
  tx.run(
    `DELETE FROM links WHERE from_no IN (SELECT unit_no FROM units WHERE bank_no = ?1) AND NOT EXISTS (
       SELECT 1 FROM units f, units t WHERE f.unit_no = from_no AND t.unit_no = to_no AND t.bank_no = ?1
         AND (links.type = 'caused_by' OR (f.live = 1 AND t.live = 1)))`,
    [bankNo],
  );
  tx.run(
    `DELETE FROM links WHERE to_no IN (SELECT unit_no FROM units WHERE bank_no = ?1)
       AND NOT EXISTS (SELECT 1 FROM units f WHERE f.unit_no = from_no AND f.bank_no = ?1)`,
    [bankNo],
  );
  tx.run(
    `DELETE FROM supersessions WHERE unit_no IN (SELECT unit_no FROM units WHERE bank_no = ?1)
       AND NOT EXISTS (SELECT 1 FROM units w WHERE w.unit_no = by_no)`,
    [bankNo],
  );
}

function refileUnits(tx: SqliteTx, bankNo: number, seq: number): void {
  tx.run(
    `UPDATE units SET family = CASE WHEN type IN ('experience', 'observation') THEN type ELSE 'world' END,
       event_us = coalesce(occurred_start_us, mentioned_us), changed_seq = min(changed_seq, ?2) WHERE bank_no = ?1`,
    [bankNo, seq],
  );
}

/** Which unit mentions which entity stays; what a mention repeats of its unit is copied again. */
function remakeMentions(tx: SqliteTx, bankNo: number): void {
  const pairs = tx.all<{ unit_no: number; entity_no: number }>(
    `SELECT DISTINCT ue.unit_no, ue.entity_no FROM unit_entities ue JOIN units u ON u.unit_no = ue.unit_no
       JOIN entities e ON e.entity_no = ue.entity_no WHERE u.bank_no = ?1 AND e.bank_no = ?1`,
    [bankNo],
  );
  tx.run("DELETE FROM unit_entities WHERE entity_no IN (SELECT entity_no FROM entities WHERE bank_no = ?)", [bankNo]);
  tx.run("DELETE FROM unit_entities WHERE unit_no IN (SELECT unit_no FROM units WHERE bank_no = ?)", [bankNo]);
  tx.run(
    `INSERT INTO unit_entities (entity_no, live, created_us, unit_id, unit_no, type, event_us)
       SELECT pair.value ->> 1, u.live, u.created_us, u.unit_id, u.unit_no, u.type, u.event_us
         FROM json_each(?) pair JOIN units u ON u.unit_no = pair.value ->> 0`,
    [JSON.stringify(pairs.map(({ unit_no, entity_no }) => [unit_no, entity_no]))],
  );
  tx.run(
    "DELETE FROM entities WHERE bank_no = ? AND NOT EXISTS (SELECT 1 FROM unit_entities ue WHERE ue.entity_no = entities.entity_no)",
    [bankNo],
  );
}

function recount(tx: SqliteTx, bankNo: number): void {
  for (const { entityNo, mentionCount, firstSeenUs, lastSeenUs, links } of trueEntityCounts(
    tx,
    bankNo,
    storedEntityCounts(tx, bankNo),
  )) {
    tx.run("UPDATE entities SET mention_count = ?, first_seen_us = ?, last_seen_us = ?, links = ? WHERE entity_no = ?", [
      mentionCount,
      firstSeenUs,
      lastSeenUs,
      links,
      entityNo,
    ]);
  }
  const replace = (table: string, columns: string, counted: string) => {
    tx.run(`DELETE FROM ${table} WHERE bank_no = ?1`, [bankNo]);
    tx.run(`INSERT INTO ${table} (bank_no, ${columns}) SELECT ?1, * FROM (${counted})`, [bankNo]);
  };
  replace("counters", "name, value", trueCounters);
  replace("tag_counts", "tag, count", trueTagCounts);
  replace("cooccurrences", "low_no, high_no, count, last_us", trueCooccurrences);
}

function reindexWords(tx: SqliteTx, bankNo: number): void {
  const word = bankWord(bankNo);
  const indexed = tx.all<{ rowid: number }>("SELECT rowid FROM unit_words WHERE unit_words MATCH ?", [`bank : ${word}`]);
  for (const { rowid } of indexed) tx.run("DELETE FROM unit_words WHERE rowid = ?", [rowid]);
  const units = tx.all<{ unit_no: number; text: string; context: string; names: string }>(
    `SELECT u.unit_no, u.text, u.context, (SELECT json_group_array(e.name) FROM unit_entities ue JOIN entities e USING (entity_no)
       WHERE ue.unit_no = u.unit_no) AS names FROM units u WHERE u.bank_no = ? AND u.live = 1`,
    [bankNo],
  );
  for (const { unit_no, text, context, names } of units) {
    // An entry that lost its bank's word was not found above.
    tx.run("DELETE FROM unit_words WHERE rowid = ?", [unit_no]);
    const words = searchTokens(text, context, JSON.parse(names) as string[]).join(" ");
    tx.run("INSERT INTO unit_words (rowid, bank, words) VALUES (?, ?, ?)", [unit_no, word, words]);
  }
}
