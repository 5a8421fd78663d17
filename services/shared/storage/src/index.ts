export { lockFolder } from "./lock-folder.ts";
export { migrationsFrom } from "./migrate.ts";
export { openSqlite } from "./open-sqlite.ts";
export type { Migration, Row, RunResult, SqliteDatabase, SqliteOptions, SqliteTx, SqlParams } from "./sqlite-database.ts";
