import type { SqliteDatabase } from "@memory-bank/storage";

/** Units deleted per call: a few milliseconds of work, so that a large bank does not hold up others. */
const unitsPerCall = 500;
/** Rows of other tables deleted per call. */
const rowsPerCall = 2_000;

/**
 * Deletes a bounded part of a fenced bank and tells whether anything is left. Counts need no care here: nobody reads a
 * fenced bank. Its row in `banks` stays as a tombstone, so that late writes are still refused.
 */
export function purgeBank(db: SqliteDatabase, bankUid: string): Promise<boolean> {
  return db.write((tx) => {
    const bank = tx.get<{ bank_no: number }>("SELECT bank_no FROM banks WHERE bank_uid = ? AND fenced = 1", [bankUid]);
    if (!bank) return true;
    const bankNo = bank.bank_no;
    const units = tx.all<{ unit_no: number }>("SELECT unit_no FROM units WHERE bank_no = ? LIMIT ?", [bankNo, unitsPerCall]);
    if (units.length > 0) {
      const unitNos = JSON.stringify(units.map((row) => row.unit_no));
      const drop = (table: string, column: string) =>
        tx.run(`DELETE FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`, [unitNos]);
      drop("unit_words", "rowid");
      drop("links", "from_no");
      drop("links", "to_no");
      drop("unit_entities", "unit_no");
      drop("observation_sources", "observation_no");
      drop("observation_sources", "source_no");
      drop("observation_history", "unit_no");
      drop("supersessions", "unit_no");
      drop("supersessions", "by_no");
      drop("units", "unit_no");
      return false;
    }
    const bounded = (table: string, key: string) =>
      tx.run(`DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE bank_no = ? LIMIT ?)`, [
        bankNo,
        rowsPerCall,
      ]).changes;
    for (const [table, key] of [
      ["chunks", "chunk_no"],
      ["documents", "doc_no"],
      ["entities", "entity_no"],
    ] as const) {
      if (bounded(table, key) > 0) return false;
    }
    for (const table of ["cooccurrences", "removed_units", "tag_counts", "counters"])
      tx.run(`DELETE FROM ${table} WHERE bank_no = ?`, [bankNo]);
    return true;
  });
}
