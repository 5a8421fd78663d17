export { lockFolder } from "./lock-folder.ts";
export { migrationsFrom } from "./migrate.ts";
export { type MongodbMigration, migrateMongodb } from "./mongodb/migrate-mongodb.ts";
export { isDuplicateKey } from "./mongodb/mongodb-errors.ts";
export {
  type MongodbDatabase,
  type MongodbOptions,
  type MongodbPlace,
  mongodbPlaceOf,
  openMongodb,
} from "./mongodb/open-mongodb.ts";
export { openSqlite } from "./open-sqlite.ts";
export type { Migration, Row, RunResult, SqliteDatabase, SqliteOptions, SqliteTx, SqlParams } from "./sqlite-database.ts";
