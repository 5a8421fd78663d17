import type { SQLInputValue, SQLOutputValue } from "node:sqlite";

/** One result row: column name to value. Integers arrive as numbers, so keep them within 53 bits. */
export type Row = Record<string, SQLOutputValue>;

/** Values for `?` in order, or for `:name` by name. */
export type SqlParams = readonly SQLInputValue[] | Readonly<Record<string, SQLInputValue>>;

export interface RunResult {
  readonly changes: number;
  readonly lastInsertRowid: number;
}

/**
 * Statements inside one transaction. Texts are prepared once and kept, so pass constants and bind values; a text built
 * from values would push the others out of the cache. `R` names the columns that the text selects; it is not checked.
 */
export interface SqliteTx {
  all<R extends Row = Row>(sql: string, params?: SqlParams): R[];
  /** The first row, or `undefined`. */
  get<R extends Row = Row>(sql: string, params?: SqlParams): R | undefined;
  run(sql: string, params?: SqlParams): RunResult;
  /** Rows one by one, for scans that should not be held in memory. Use it up before the transaction ends. */
  iterate<R extends Row = Row>(sql: string, params?: SqlParams): IterableIterator<R>;
}

/** An open SQLite file. Closing it finishes the writes that are queued; any use afterwards is `unavailable`. */
export interface SqliteDatabase extends AsyncDisposable {
  /**
   * Runs `fn` in a write transaction and resolves once it is on disk (`synchronous=FULL`). Closures that are queued in
   * the same turn of the event loop share one commit; each has its own savepoint, so one that throws is rolled back
   * alone and only its own promise rejects. They run in the order in which they were queued. `fn` must be synchronous:
   * it may not await, and it must use `tx`, not the database. When the commit fails, every closure of the group rejects.
   */
  write<T>(fn: (tx: SqliteTx) => T): Promise<T>;
  /** Like `write`, but at once and with a commit of its own. For start-up; in a request it would cost a disk sync alone. */
  writeNow<T>(fn: (tx: SqliteTx) => T): T;
  /** Runs `fn` over one snapshot of what is committed. `fn` must not write, and must not return a live iterator. */
  read<T>(fn: (tx: SqliteTx) => T): T;
  /** Throws `unavailable` when the file cannot be read any more; for readiness. */
  ping(): void;
}

/** One step of a schema. Steps run once, in order, each in a transaction; their ids are recorded and must never change. */
export interface Migration {
  /** Unique within the file, for example `001-orders`; steps of shared packages start with the package name. */
  readonly id: string;
  readonly sql: string;
}

export interface SqliteOptions {
  /** Path of the file, or `:memory:`. The folder must exist. */
  readonly file: string;
  readonly migrations: readonly Migration[];
  /** Bytes per page, a power of two from 512 to 65536; only a new file takes it. Large rows (vectors) want 16384. */
  readonly pageSize?: number;
}
