import { AppError } from "@memory-bank/errors";
import type { Db, IndexDescription } from "mongodb";

/** One step of a schema: collections and the indexes they need. Steps may run again, so two processes may run one at once. */
export interface MongodbMigration {
  /** Unique within the database; must never change. */
  readonly id: string;
  readonly collections: Readonly<Record<string, readonly IndexDescription[]>>;
}

const MIGRATIONS = "migrations";

/**
 * Makes what the database does not have yet, in order, and records it. Throws `failed_precondition`, `SCHEMA_TOO_NEW`, when the
 * database holds a step that `migrations` does not name.
 */
export async function migrateMongodb(db: Db, migrations: readonly MongodbMigration[]): Promise<void> {
  const applied = await appliedIds(db);
  const known = new Set(migrations.map(({ id }) => id));
  const unknown = [...applied].filter((id) => !known.has(id));
  if (unknown.length > 0) {
    const message = `The store was written by a newer version (${unknown.join(", ")})`;
    throw new AppError("failed_precondition", "SCHEMA_TOO_NEW", message, { details: { unknown } });
  }
  for (const { id, collections } of migrations) {
    if (applied.has(id)) continue;
    for (const [name, indexes] of Object.entries(collections)) {
      if (indexes.length > 0) await db.collection(name).createIndexes([...indexes]);
    }
    await db
      .collection<{ _id: string }>(MIGRATIONS)
      .updateOne({ _id: id }, { $setOnInsert: { appliedAt: new Date() } }, { upsert: true });
  }
}

/** Throws `failed_precondition`, `SCHEMA_TOO_OLD`, when a step is missing: the migration command has not run yet. */
export async function requireMigrated(db: Db, migrations: readonly MongodbMigration[]): Promise<void> {
  const applied = await appliedIds(db);
  const missing = migrations.map(({ id }) => id).filter((id) => !applied.has(id));
  if (missing.length === 0) return;
  const message = `The store lacks ${missing.join(", ")}: run the migration first`;
  throw new AppError("failed_precondition", "SCHEMA_TOO_OLD", message, { details: { missing } });
}

async function appliedIds(db: Db): Promise<Set<string>> {
  const records = await db.collection<{ _id: string }>(MIGRATIONS).find().toArray();
  return new Set(records.map(({ _id }) => _id));
}
