import { openSqlite } from "@memory-bank/storage";
import { describeMemoryStore } from "../../memory-store.conformance.ts";
import { createSqliteMemoryStore, memoryMigrations } from "./memory-store.ts";

describeMemoryStore("SQLite", async () => {
  const db = openSqlite({ file: ":memory:", migrations: memoryMigrations });
  return { store: createSqliteMemoryStore(db), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
});
