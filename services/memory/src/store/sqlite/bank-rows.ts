import { AppError } from "@memory-bank/errors";
import type { SqliteTx } from "@memory-bank/storage";
import type { BankRef } from "../../domain/unit.ts";

/** A bank's row, for reads. Absent when the bank was never written or is fenced: both read as empty. */
export interface BankRow {
  readonly bankNo: number;
  readonly seq: number;
  readonly removalsForgottenSeq: number;
}

export function findBank(tx: SqliteTx, bankUid: string): BankRow | undefined {
  const row = tx.get<{ bank_no: number; seq: number; fenced: number; removals_forgotten_seq: number }>(
    "SELECT bank_no, seq, fenced, removals_forgotten_seq FROM banks WHERE bank_uid = ?",
    [bankUid],
  );
  if (!row || row.fenced) return undefined;
  return { bankNo: row.bank_no, seq: row.seq, removalsForgottenSeq: row.removals_forgotten_seq };
}

/** One commit of a bank: collects counter changes and writes them once, with the raised sequence number, in `finish`. */
export interface BankCommit {
  readonly tx: SqliteTx;
  readonly bankNo: number;
  /** The sequence number that this commit gets. */
  readonly seq: number;
  readonly nowUs: number;
  count(name: string, delta: number): void;
  countTag(tag: string, delta: number): void;
  finish(changes: { readonly wroteDocument: boolean }): void;
}

/** How many removals stay listed per bank; an index that is further behind is built anew. */
const removalsKeptMax = 20_000;

/**
 * Begins a commit. Throws `cancelled` (BANK_FENCED) for a dead bank and `conflict` (SEQ_MOVED) when `expectedSeq` is given
 * and the bank has moved on.
 */
export function beginCommit(tx: SqliteTx, bank: BankRef, nowUs: number, expectedSeq?: number): BankCommit {
  tx.run("INSERT INTO banks (bank_uid, tenant_id, bank_id) VALUES (?, ?, ?) ON CONFLICT (bank_uid) DO NOTHING", [
    bank.bankUid,
    bank.tenantId,
    bank.bankId,
  ]);
  const row = tx.get<{ bank_no: number; seq: number; fenced: number }>(
    "SELECT bank_no, seq, fenced FROM banks WHERE bank_uid = ?",
    [bank.bankUid],
  )!;
  if (row.fenced) throw new AppError("cancelled", "BANK_FENCED", `Bank '${bank.bankId}' not found`);
  if (expectedSeq !== undefined && row.seq !== expectedSeq) {
    throw new AppError("conflict", "SEQ_MOVED", "The bank has changed since the plan was made");
  }
  const bankNo = row.bank_no;
  const seq = row.seq + 1;
  const counters = new Map<string, number>();
  const tags = new Map<string, number>();
  const add = (map: Map<string, number>) => (name: string, delta: number) => void map.set(name, (map.get(name) ?? 0) + delta);
  return {
    tx,
    bankNo,
    seq,
    nowUs,
    count: add(counters),
    countTag: add(tags),
    finish({ wroteDocument }) {
      for (const [name, delta] of counters) {
        if (delta === 0) continue;
        tx.run(
          "INSERT INTO counters (bank_no, name, value) VALUES (?, ?, ?) ON CONFLICT (bank_no, name) DO UPDATE SET value = value + excluded.value",
          [bankNo, name, delta],
        );
      }
      for (const [tag, delta] of tags) {
        if (delta === 0) continue;
        tx.run(
          "INSERT INTO tag_counts (bank_no, tag, count) VALUES (?, ?, ?) ON CONFLICT (bank_no, tag) DO UPDATE SET count = count + excluded.count",
          [bankNo, tag, delta],
        );
        if (delta < 0) tx.run("DELETE FROM tag_counts WHERE bank_no = ? AND tag = ? AND count <= 0", [bankNo, tag]);
      }
      tx.run(
        "UPDATE banks SET seq = ?, last_write_us = max(coalesce(last_write_us, 0), ?), last_document_us = CASE WHEN ? THEN max(coalesce(last_document_us, 0), ?) ELSE last_document_us END WHERE bank_no = ?",
        [seq, nowUs, wroteDocument ? 1 : 0, nowUs, bankNo],
      );
      forgetOldRemovals(tx, bankNo);
    },
  };
}

function forgetOldRemovals(tx: SqliteTx, bankNo: number): void {
  const oldest = tx.get<{ seq: number }>("SELECT seq FROM removed_units WHERE bank_no = ? ORDER BY seq DESC LIMIT 1 OFFSET ?", [
    bankNo,
    removalsKeptMax,
  ]);
  if (!oldest) return;
  tx.run("DELETE FROM removed_units WHERE bank_no = ? AND seq <= ?", [bankNo, oldest.seq]);
  tx.run("UPDATE banks SET removals_forgotten_seq = ? WHERE bank_no = ?", [oldest.seq, bankNo]);
}
