import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { AppError } from "@memory-bank/errors";
import { createGroupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import type { SqliteDatabase, SqliteOptions, SqliteTx } from "./sqlite-database.ts";
import { toAppError } from "./sqlite-errors.ts";
import { createSqliteTx } from "./sqlite-tx.ts";

const BUSY_TIMEOUT_MS = 2_000; // waiting blocks the whole process, so give up while callers still wait
const MMAP_BYTES = 256 * 1024 * 1024; // address space, not memory; spares reads a copy
const CACHE_KIB = 16 * 1024; // dirty pages of one large group fit
const WAL_BYTES_KEPT = 64 * 1024 * 1024; // what the log shrinks back to after a burst
const PRIVATE_FILE = 0o600; // the log and shared-memory files take the mode of the main file

/**
 * Opens a file, creating it when there is none, and brings its schema up to date: WAL, `synchronous=FULL`, foreign keys off.
 * Throws `failed_precondition`, `SCHEMA_TOO_NEW`, when the file holds a migration that `migrations` does not name, and
 * `unavailable` when it cannot be opened.
 */
export function openSqlite(options: SqliteOptions): SqliteDatabase {
  const connection = connect(options);
  const tx = createSqliteTx(connection);
  const group = createGroupCommit(connection, tx);
  let isOpen = true;

  function requireOpen(): void {
    if (!isOpen) throw new AppError("unavailable", "STORE_CLOSED", "The store is closed");
  }

  function transaction<T>(begin: "BEGIN" | "BEGIN IMMEDIATE", fn: (tx: SqliteTx) => T): T {
    requireOpen();
    if (connection.isTransaction) throw new Error("use the transaction that is open instead of the database");
    try {
      connection.exec(begin);
      const value = fn(tx);
      connection.exec("COMMIT");
      return value;
    } catch (error) {
      if (connection.isTransaction) connection.exec("ROLLBACK");
      throw toAppError(error);
    }
  }

  return {
    async write(fn) {
      requireOpen();
      return await group.add(fn);
    },
    writeNow: (fn) => transaction("BEGIN IMMEDIATE", fn),
    read: (fn) => transaction("BEGIN", fn),
    ping() {
      transaction("BEGIN", () => tx.get("SELECT count(*) FROM sqlite_schema"));
    },
    async [Symbol.asyncDispose]() {
      if (!isOpen) return;
      isOpen = false;
      group.finish();
      connection.close();
    },
  };
}

function connect({ file, migrations, pageSize }: SqliteOptions): DatabaseSync {
  let connection: DatabaseSync | undefined;
  try {
    if (file !== ":memory:") closeSync(openSync(file, "a", PRIVATE_FILE));
    connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: false });
    if (pageSize !== undefined) connection.exec(`PRAGMA page_size = ${pageSize}`);
    connection.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA mmap_size = ${MMAP_BYTES};
      PRAGMA cache_size = -${CACHE_KIB};
      PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
      PRAGMA temp_store = MEMORY;
    `);
    migrate(connection, migrations);
    return connection;
  } catch (error) {
    connection?.close();
    throw toAppError(error);
  }
}
