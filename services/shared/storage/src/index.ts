import type { Migration, SqliteDatabase, SqliteOptions } from "./sqlite-database.ts";

export type { Migration, Row, RunResult, SqliteDatabase, SqliteOptions, SqliteTx, SqlParams } from "./sqlite-database.ts";
/** Opens and migrates; `failed_precondition` (SCHEMA_TOO_NEW) when the file holds a migration that the list does not. */
export declare function openSqlite(options: SqliteOptions): SqliteDatabase;
/** The `NNN-name.sql` files of a folder in order of their numbers, ids without `.sql`. */
export declare function migrationsFrom(folder: URL): Migration[];
/** Takes the folder for this process until disposed or killed; `failed_precondition` (FOLDER_IN_USE) when it is taken. */
export declare function lockFolder(folder: string): Disposable;
