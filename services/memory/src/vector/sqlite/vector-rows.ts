/** The SQL of the vector index: rows in, rows out. */
import type { Row, SqliteTx } from "@memory-bank/storage";
import type { FactFamily } from "../../domain/fact.ts";
import type { VectorRow } from "../../vector-index.ts";

/** The numbers that stand for the families in the file; never change one. */
const families: readonly FactFamily[] = ["world", "experience", "observation"];

export function codeOf(family: FactFamily): number {
  return families.indexOf(family);
}

export interface StoredVector {
  readonly vectorNo: number;
  readonly unitId: string;
  readonly familyCode: number;
  readonly vector: Float32Array;
}

export function findBankNo(tx: SqliteTx, bankUid: string): number | undefined {
  return tx.get<{ bank_no: number }>("SELECT bank_no FROM banks WHERE bank_uid = ?", [bankUid])?.bank_no;
}

export function addBank(tx: SqliteTx, bankUid: string): number {
  return findBankNo(tx, bankUid) ?? tx.run("INSERT INTO banks (bank_uid) VALUES (?)", [bankUid]).lastInsertRowid;
}

export function removeBank(tx: SqliteTx, bankNo: number): void {
  tx.run("DELETE FROM banks WHERE bank_no = ?", [bankNo]);
}

export function upsertVectors(tx: SqliteTx, bankNo: number, rows: readonly VectorRow[]): void {
  for (const { unitId, family, vector } of rows) {
    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    tx.run(
      `INSERT INTO vectors (bank_no, unit_id, family, vector) VALUES (?, ?, ?, ?)
       ON CONFLICT (bank_no, unit_id) DO UPDATE SET family = excluded.family, vector = excluded.vector`,
      [bankNo, unitId, codeOf(family), bytes],
    );
  }
}

export function removeVectors(tx: SqliteTx, bankNo: number, unitIds: readonly string[]): void {
  for (const unitId of unitIds) tx.run("DELETE FROM vectors WHERE bank_no = ? AND unit_id = ?", [bankNo, unitId]);
}

/** Removes up to `limit` vectors of the bank; answers how many there were. */
export function removeSomeVectors(tx: SqliteTx, bankNo: number, limit: number): number {
  return tx.run(
    "DELETE FROM vectors WHERE vector_no IN (SELECT vector_no FROM vectors WHERE bank_no = ? ORDER BY vector_no LIMIT ?)",
    [bankNo, limit],
  ).changes;
}

export function countVectors(tx: SqliteTx, bankNo: number): number {
  return tx.get<{ n: number }>("SELECT count(*) AS n FROM vectors WHERE bank_no = ?", [bankNo])!.n;
}

interface VectorDbRow extends Row {
  vector_no: number;
  unit_id: string;
  family: number;
  vector: Uint8Array<ArrayBuffer>;
}

/** The next vectors of the bank after `afterNo`, in the order in which they were first written. */
export function readVectors(tx: SqliteTx, bankNo: number, afterNo: number, limit: number): StoredVector[] {
  return tx
    .all<VectorDbRow>(
      "SELECT vector_no, unit_id, family, vector FROM vectors WHERE bank_no = ? AND vector_no > ? ORDER BY vector_no LIMIT ?",
      [bankNo, afterNo, limit],
    )
    .map((row) => ({
      vectorNo: row.vector_no,
      unitId: row.unit_id,
      familyCode: row.family,
      vector: vectorFromBytes(row.vector),
    }));
}

export function findVector(tx: SqliteTx, bankNo: number, unitId: string): Float32Array | undefined {
  const row = tx.get<VectorDbRow>("SELECT vector FROM vectors WHERE bank_no = ? AND unit_id = ?", [bankNo, unitId]);
  return row && vectorFromBytes(row.vector);
}

/** The next unit ids of the bank after `afterId`, in their order. */
export function readUnitIds(tx: SqliteTx, bankNo: number, afterId: string, limit: number): string[] {
  return tx
    .all<{ unit_id: string }>("SELECT unit_id FROM vectors WHERE bank_no = ? AND unit_id > ? ORDER BY unit_id LIMIT ?", [
      bankNo,
      afterId,
      limit,
    ])
    .map((row) => row.unit_id);
}

function vectorFromBytes(bytes: Uint8Array<ArrayBuffer>): Float32Array {
  // Bytes need not begin where a number may.
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}
