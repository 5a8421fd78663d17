import type { SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import type { DirectiveStore } from "../../directive-store.ts";
import type { Directive } from "../../domain/directive.ts";

export function createSqliteDirectiveStore(db: SqliteDatabase): DirectiveStore {
  return {
    insert(directive) {
      return db.write((tx) => tx.run(INSERT, columnsOf(directive)).changes > 0);
    },
    async find(bankUid, directiveId) {
      return db.read((tx) => find(tx, bankUid, directiveId));
    },
    update(bankUid, directiveId, change) {
      return db.write((tx) => {
        const existing = find(tx, bankUid, directiveId);
        if (!existing) return undefined;
        const changed = change(existing);
        const { createdAtUs: _, ...columns } = columnsOf(changed);
        tx.run(UPDATE, columns);
        return changed;
      });
    },
    delete(bankUid, directiveId) {
      return db.write((tx) => tx.run(DELETE, { bankUid, id: directiveId }).changes > 0);
    },
    async list({ bankUid, isActiveOnly, tags, tagsMatch, limit, offset }) {
      const wanted = [...new Set(tags)];
      const isFiltered = wanted.length > 0 || tagsMatch === "exact";
      const filter = {
        bankUid,
        isActiveOnly: Number(isActiveOnly),
        match: isFiltered ? tagsMatch : "none",
        tags: JSON.stringify(wanted),
        tagCount: wanted.length,
      };
      return db.read((tx) => ({
        directives: tx.all(LIST, { ...filter, limit, offset }).map(directiveFrom),
        total: Number(tx.get(COUNT, filter)?.["total"]),
      }));
    },
  };
}

const IS_LIVE = "EXISTS (SELECT 1 FROM banks WHERE banks.bank_uid = :bankUid AND deleted_at_us IS NULL)";
const COLUMNS = "id, bank_uid, name, content, priority, is_active, tags, created_at_us, updated_at_us";
const INSERT = `INSERT INTO directives (${COLUMNS})
  SELECT :id, :bankUid, :name, :content, :priority, :isActive, :tags, :createdAtUs, :updatedAtUs WHERE ${IS_LIVE}`;
const FIND = `SELECT ${COLUMNS} FROM directives WHERE bank_uid = :bankUid AND id = :id AND ${IS_LIVE}`;
const UPDATE = `UPDATE directives SET name = :name, content = :content, priority = :priority, is_active = :isActive, tags = :tags,
  updated_at_us = :updatedAtUs WHERE bank_uid = :bankUid AND id = :id`;
const DELETE = `DELETE FROM directives WHERE bank_uid = :bankUid AND id = :id AND ${IS_LIVE}`;

// Neither side holds a tag twice, so counting the shared ones decides every kind of match.
const SHARED = "(SELECT count(*) FROM json_each(tags) AS own WHERE own.value IN (SELECT value FROM json_each(:tags)))";
const WHERE_LISTED = `WHERE bank_uid = :bankUid AND ${IS_LIVE} AND (NOT :isActiveOnly OR is_active) AND CASE :match
    WHEN 'none' THEN 1
    WHEN 'any' THEN tags = '[]' OR ${SHARED} > 0
    WHEN 'all' THEN tags = '[]' OR ${SHARED} = :tagCount
    WHEN 'any_strict' THEN ${SHARED} > 0
    WHEN 'all_strict' THEN ${SHARED} = :tagCount
    ELSE json_array_length(tags) = :tagCount AND ${SHARED} = :tagCount
  END`;
const LIST = `SELECT ${COLUMNS} FROM directives ${WHERE_LISTED}
  ORDER BY priority DESC, created_at_us DESC, id DESC LIMIT :limit OFFSET :offset`;
const COUNT = `SELECT count(*) AS total FROM directives ${WHERE_LISTED}`;

function find(tx: SqliteTx, bankUid: string, id: string): Directive | undefined {
  const row = tx.get(FIND, { bankUid, id });
  return row && directiveFrom(row);
}

function columnsOf(directive: Directive) {
  return { ...directive, isActive: Number(directive.isActive), tags: JSON.stringify(directive.tags) };
}

function directiveFrom(row: NonNullable<ReturnType<SqliteTx["get"]>>): Directive {
  return {
    id: String(row["id"]),
    bankUid: String(row["bank_uid"]),
    name: String(row["name"]),
    content: String(row["content"]),
    priority: Number(row["priority"]),
    isActive: row["is_active"] === 1,
    tags: JSON.parse(String(row["tags"])) as string[],
    createdAtUs: Number(row["created_at_us"]),
    updatedAtUs: Number(row["updated_at_us"]),
  };
}
