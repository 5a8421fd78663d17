import { completeJob, enqueueJobs } from "@memory-bank/jobs";
import type { SqliteDatabase } from "@memory-bank/storage";
import type { BankRef } from "../../domain/unit.ts";
import type { MemoryKeeping } from "../../memory-keeping.ts";
import { beginCommit, findBank } from "./bank-rows.ts";
import { checkBank } from "./check-bank.ts";
import { rebuildBank } from "./rebuild-bank.ts";

/** Jobs written in one statement's worth of work while the process starts; a folder may hold many thousand banks. */
const jobsPerWrite = 1_000;

interface BankColumns {
  readonly [column: string]: string;
  readonly tenant_id: string;
  readonly bank_id: string;
  readonly bank_uid: string;
}

const refOf = (row: BankColumns): BankRef => ({ tenantId: row.tenant_id, bankId: row.bank_id, bankUid: row.bank_uid });
const columns = "tenant_id, bank_id, bank_uid";

/** The keeping of the store in an open SQLite file, which stays the caller's to close. */
export function createSqliteMemoryKeeping(db: SqliteDatabase): MemoryKeeping {
  return {
    listBanks: async (afterUid, limit) =>
      db.read((tx) =>
        tx
          .all<BankColumns>(`SELECT ${columns} FROM banks WHERE fenced = 0 AND bank_uid > ? ORDER BY bank_uid LIMIT ?`, [
            afterUid,
            limit,
          ])
          .map(refOf),
      ),
    findBanks: async (tenantId, bankId) =>
      db.read((tx) =>
        tx
          .all<BankColumns>(`SELECT ${columns} FROM banks WHERE tenant_id = ? AND bank_id = ? AND fenced = 0 ORDER BY bank_no`, [
            tenantId,
            bankId,
          ])
          .map(refOf),
      ),
    countLiveUnits: async (bankUid) =>
      db.read((tx) => {
        const bank = findBank(tx, bankUid);
        if (!bank) return 0;
        return tx.get<{ n: number }>("SELECT count(*) AS n FROM units WHERE bank_no = ? AND live = 1", [bank.bankNo])!.n;
      }),
    listPlacedUnits: async (bankUid) =>
      db.read((tx) => {
        const bank = findBank(tx, bankUid);
        if (!bank) return [];
        return tx
          .all<{ unit_id: string; session_id: string; passage: number; edited_us: number | null }>(
            "SELECT unit_id, session_id, passage, edited_us FROM units WHERE bank_no = ? AND live = 1 ORDER BY session_id, passage, sentence_index, unit_no",
            [bank.bankNo],
          )
          .map((row) => ({
            unitId: row.unit_id,
            sessionId: row.session_id,
            passage: row.passage,
            isEdited: row.edited_us !== null,
          }));
      }),

    check: (bankUid) => checkBank(db, bankUid),
    rebuild: (bank, nowUs) => db.write((tx) => rebuildBank(tx, bank, nowUs)),

    async adoptEmbedder(embedderId, jobFor) {
      const lacking = await db.write((tx) => {
        const before = tx.get<{ id: string }>("SELECT id FROM embedder");
        if (before?.id !== embedderId) {
          tx.run("DELETE FROM embedder");
          tx.run("INSERT INTO embedder (id) VALUES (?)", [embedderId]);
        }
        if (before && before.id !== embedderId) {
          tx.run(
            "UPDATE banks SET lacks_vectors = 1 WHERE fenced = 0 AND EXISTS (SELECT 1 FROM units u WHERE u.bank_no = banks.bank_no AND u.live = 1)",
          );
        }
        return tx
          .all<BankColumns>(`SELECT ${columns} FROM banks WHERE lacks_vectors = 1 AND fenced = 0 ORDER BY bank_no`)
          .map(refOf);
      });
      // A process that dies in between finds the banks marked, and queues their jobs at its next start.
      for (let from = 0; from < lacking.length; from += jobsPerWrite) {
        const jobs = lacking.slice(from, from + jobsPerWrite).map(jobFor);
        await db.write((tx) => enqueueJobs(tx, jobs, jobs[0]!.createdAtUs));
      }
      return lacking.length;
    },
    commitVectors: ({ bank, nowUs, pairNorms, completes }) =>
      db.write((tx) => {
        const commit = beginCommit(tx, bank, nowUs);
        for (const [unitId, norm] of pairNorms) {
          tx.run(
            "UPDATE units SET features = json_set(features, '$.pairNorm', ?), changed_seq = ? WHERE unit_id = ? AND bank_no = ?",
            [norm, commit.seq, unitId, commit.bankNo],
          );
        }
        commit.finish({ wroteDocument: false });
        tx.run("UPDATE banks SET lacks_vectors = 0 WHERE bank_no = ?", [commit.bankNo]);
        completeJob(tx, completes.claim, completes.result, nowUs);
      }),
  };
}
