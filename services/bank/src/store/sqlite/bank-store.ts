import { AppError } from "@memory-bank/errors";
import { appendEvents } from "@memory-bank/events";
import { enqueueJobs } from "@memory-bank/jobs";
import type { SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import { type BankStore, PURGE_ROWS_MAX, TOMBSTONES_MAX } from "../../bank-store.ts";
import { type Bank, remainsOf } from "../../domain/bank.ts";
import type { ConfigValues } from "../../domain/bank-config.ts";

export function createSqliteBankStore(db: SqliteDatabase): BankStore {
  return {
    async findById(tenantId, bankId) {
      return db.read((tx) => findLive(tx, tenantId, bankId));
    },
    async findByUid(bankUid) {
      return db.read((tx) => bankFrom(tx.get(`${SELECT_BANK} WHERE bank_uid = ? AND deleted_at_us IS NULL`, [bankUid])));
    },
    async list({ tenantId, contains = "", allowedBankIds, limit, offset }) {
      const filter = { tenantId, contains: contains.toLowerCase(), allowed: allowedBankIds && JSON.stringify(allowedBankIds) };
      return db.read((tx) => ({
        banks: tx.all(LIST_BANKS, { ...filter, limit, offset }).flatMap((row) => bankFrom(row) ?? []),
        total: Number(tx.get(COUNT_BANKS, filter)?.["total"]),
      }));
    },
    put(seed, change) {
      return db.write((tx) => {
        const existing = findLive(tx, seed.tenantId, seed.bankId);
        const changed = change(existing ?? seed);
        if (!existing) insert(tx, changed);
        else if (changed !== existing) save(tx, changed);
        return changed;
      });
    },
    update(tenantId, bankId, change) {
      return db.write((tx) => {
        const existing = findLive(tx, tenantId, bankId);
        const changed = existing && change(existing);
        if (changed && changed !== existing) save(tx, changed);
        return changed;
      });
    },
    bury({ tenantId, bankId, deletedAtUs, jobs, events }) {
      return db.write((tx) => {
        const bank = findLive(tx, tenantId, bankId);
        if (!bank) return undefined;
        tx.run("UPDATE banks SET deleted_at_us = ? WHERE bank_uid = ?", [deletedAtUs, bank.bankUid]);
        enqueueJobs(tx, jobs(bank), deletedAtUs);
        appendEvents(tx, events(bank));
        return bank;
      });
    },
    async findTombstone(tenantId, bankId) {
      return db.read((tx) => {
        const row = tx.get(FIND_TOMBSTONE, [tenantId, bankId]);
        const bank = bankFrom(row);
        return bank && { bank, deletedAtUs: Number(row?.["deleted_at_us"]) };
      });
    },
    purge(bankUid) {
      return db.write((tx) => {
        const row = tx.get(`${SELECT_BANK} WHERE bank_uid = ?`, [bankUid]);
        const bank = bankFrom(row);
        if (!bank) return true;
        if (row?.["deleted_at_us"] === null) throw new AppError("failed_precondition", "BANK_ALIVE", "The bank is not deleted");
        let left = PURGE_ROWS_MAX;
        for (const sql of PURGE_ROWS) left -= tx.run(sql, [bankUid, left]).changes;
        if (left === 0) return false; // perhaps nothing is left all the same; the next call finds out
        save(tx, remainsOf(bank));
        tx.run("UPDATE banks SET is_purged = 1 WHERE bank_uid = ?", [bankUid]);
        return true;
      });
    },
    forgetTombstones(beforeUs) {
      return db.write((tx) => tx.all(FORGET_TOMBSTONES, [beforeUs, TOMBSTONES_MAX]).map((row) => String(row["bank_uid"])));
    },
    async findTenantConfig(tenantId) {
      const row = db.read((tx) => tx.get("SELECT config FROM tenant_configs WHERE tenant_id = ?", [tenantId]));
      return row && (JSON.parse(String(row["config"])) as ConfigValues);
    },
    async setTenantConfig(tenantId, values) {
      await db.write((tx) => tx.run(SET_TENANT_CONFIG, [tenantId, JSON.stringify(values)]));
    },
  };
}

const SELECT_BANK = `SELECT tenant_id, bank_id, bank_uid, name, overrides, created_at_us, updated_at_us, deleted_at_us FROM banks`;

const WHERE_LISTED = `WHERE tenant_id = :tenantId AND deleted_at_us IS NULL
  AND (:contains = '' OR instr(folded_id, :contains) > 0 OR instr(folded_name, :contains) > 0)
  AND (:allowed IS NULL OR bank_id IN (SELECT value FROM json_each(:allowed)))`;
const LIST_BANKS = `${SELECT_BANK} ${WHERE_LISTED} ORDER BY bank_id LIMIT :limit OFFSET :offset`;
const COUNT_BANKS = `SELECT count(*) AS total FROM banks ${WHERE_LISTED}`;

const FIND_TOMBSTONE = `${SELECT_BANK} WHERE tenant_id = ? AND bank_id = ? AND deleted_at_us IS NOT NULL
  ORDER BY deleted_at_us DESC LIMIT 1`;
const FORGET_TOMBSTONES = `DELETE FROM banks WHERE bank_uid IN
  (SELECT bank_uid FROM banks WHERE is_purged = 1 AND deleted_at_us < ? ORDER BY deleted_at_us LIMIT ?) RETURNING bank_uid`;
const PURGE_ROWS = [
  "DELETE FROM directives WHERE rowid IN (SELECT rowid FROM directives WHERE bank_uid = ? LIMIT ?)",
  "DELETE FROM audit_entries WHERE rowid IN (SELECT rowid FROM audit_entries WHERE bank_uid = ? LIMIT ?)",
];
const SET_TENANT_CONFIG = `INSERT INTO tenant_configs (tenant_id, config) VALUES (?, ?)
  ON CONFLICT (tenant_id) DO UPDATE SET config = excluded.config`;

function findLive(tx: SqliteTx, tenantId: string, bankId: string): Bank | undefined {
  return bankFrom(tx.get(`${SELECT_BANK} WHERE tenant_id = ? AND bank_id = ? AND deleted_at_us IS NULL`, [tenantId, bankId]));
}

function insert(tx: SqliteTx, bank: Bank): void {
  const columns = "bank_uid, tenant_id, bank_id, name, folded_id, folded_name, overrides, created_at_us, updated_at_us";
  tx.run(`INSERT INTO banks (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    bank.bankUid,
    bank.tenantId,
    bank.bankId,
    bank.name,
    bank.bankId.toLowerCase(),
    bank.name.toLowerCase(),
    JSON.stringify(bank.overrides),
    bank.createdAtUs,
    bank.updatedAtUs,
  ]);
}

function save(tx: SqliteTx, bank: Bank): void {
  tx.run("UPDATE banks SET name = ?, folded_name = ?, overrides = ?, updated_at_us = ? WHERE bank_uid = ?", [
    bank.name,
    bank.name.toLowerCase(),
    JSON.stringify(bank.overrides),
    bank.updatedAtUs,
    bank.bankUid,
  ]);
}

function bankFrom(row: ReturnType<SqliteTx["get"]>): Bank | undefined {
  return (
    row && {
      tenantId: String(row["tenant_id"]),
      bankId: String(row["bank_id"]),
      bankUid: String(row["bank_uid"]),
      name: String(row["name"]),
      overrides: JSON.parse(String(row["overrides"])) as ConfigValues,
      createdAtUs: Number(row["created_at_us"]),
      updatedAtUs: Number(row["updated_at_us"]),
    }
  );
}
