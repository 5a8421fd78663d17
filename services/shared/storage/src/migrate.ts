import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { AppError } from "@memory-bank/errors";
import type { Migration } from "./sqlite-database.ts";

/** Runs the steps that the file does not have yet, in order, each in a transaction with the record of it. */
export function migrate(connection: DatabaseSync, migrations: readonly Migration[]): void {
  const ids = migrations.map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw new Error(`two migrations share an id: ${ids.join(", ")}`);
  connection.exec("CREATE TABLE IF NOT EXISTS migrations (id TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT");
  refuseNewer(applied(connection), ids);
  for (const migration of migrations) apply(connection, migration);
}

/** The `NNN-name.sql` files of a folder in the order of their names; an id is the file's name without its ending. */
export function migrationsFrom(folder: URL): Migration[] {
  const base = folder.href.endsWith("/") ? folder : new URL(`${folder.href}/`);
  const names = readdirSync(base).filter((name) => name.endsWith(".sql"));
  const odd = names.find((name) => !/^\d{3}-[a-z0-9-]+\.sql$/.test(name));
  if (odd !== undefined) throw new Error(`migration ${odd} is not named NNN-name.sql`);
  return names.sort().map((name) => ({ id: name.slice(0, -".sql".length), sql: readFileSync(new URL(name, base), "utf8") }));
}

function applied(connection: DatabaseSync): Set<string> {
  return new Set(
    connection
      .prepare("SELECT id FROM migrations")
      .all()
      .map(({ id }) => String(id)),
  );
}

function refuseNewer(present: ReadonlySet<string>, known: readonly string[]): void {
  const unknown = [...present].filter((id) => !known.includes(id));
  if (unknown.length === 0) return;
  throw new AppError(
    "failed_precondition",
    "SCHEMA_TOO_NEW",
    `The store was written by a newer version (${unknown.join(", ")})`,
    {
      details: { unknown },
    },
  );
}

function apply(connection: DatabaseSync, { id, sql }: Migration): void {
  connection.exec("BEGIN IMMEDIATE");
  try {
    // Looked up under the write lock, so that two processes that start together do not both run it.
    if (!applied(connection).has(id)) {
      connection.exec(sql);
      connection.prepare("INSERT INTO migrations (id, applied_at) VALUES (?, datetime('now'))").run(id);
    }
    connection.exec("COMMIT");
  } catch (error) {
    if (connection.isTransaction) connection.exec("ROLLBACK");
    throw error;
  }
}
