import { startProxy } from "@memory-bank/test-servers/tcp-proxy";
import { describeWithServer } from "@memory-bank/test-servers/with-server";
import { expect, test } from "vitest";
import type { MongodbMigration } from "./migrate-mongodb.ts";
import { isDuplicateKey } from "./mongodb-errors.ts";
import { openMongodb } from "./open-mongodb.ts";

const first: MongodbMigration = { id: "001", collections: { things: [{ name: "name", key: { name: 1 }, unique: true }] } };
const second: MongodbMigration = { id: "002", collections: { others: [{ name: "at", key: { at: 1 } }] } };

describeWithServer("MongoDB", (url) => {
  const newDatabase = () => `test-${crypto.randomUUID()}`;

  test("a schema is made once, by any number of processes at once, and never by one that does not know all of it", async () => {
    const database = newDatabase();
    const open = (migrations: readonly MongodbMigration[], migrate?: "run" | "require") =>
      openMongodb({ url: url(), database, migrations, ...(migrate ? { migrate } : {}) });
    await expect(open([first], "require")).rejects.toMatchObject({ code: "failed_precondition", reason: "SCHEMA_TOO_OLD" });
    await using one = (await Promise.all([open([first]), open([first])]))[0];
    await using both = await open([first, second]);
    await using checked = await open([first, second], "require");
    await checked.ping();
    await expect(open([first])).rejects.toMatchObject({ code: "failed_precondition", reason: "SCHEMA_TOO_NEW" });
    const indexes = await both.run((db) => db.collection("things").indexes());
    expect(indexes.map(({ name }) => name)).toContain("name");
    await one.run((db) => db.dropDatabase());
  });

  test("a key that is taken is already_exists, or told apart by the store", async () => {
    await using t = await openMongodb({ url: url(), database: newDatabase(), migrations: [first] });
    const insert = () => t.run((db) => db.collection("things").insertOne({ name: "a" }));
    await insert();
    await expect(insert()).rejects.toMatchObject({ code: "already_exists", reason: "KEY_TAKEN" });
    await t.run(async (db) => {
      const error = await db
        .collection("things")
        .insertOne({ name: "a" })
        .catch((failure: unknown) => failure);
      expect(isDuplicateKey(error)).toBe(true);
    });
    await t.run((db) => db.dropDatabase());
  });

  test("a server that goes away is unavailable, and the store works again once it is back", async () => {
    await using proxy = await startProxy(url());
    await using t = await openMongodb({ url: proxy.url, database: newDatabase(), migrations: [] });
    await t.ping();
    await proxy.shut();
    await expect(t.ping()).rejects.toMatchObject({ code: "unavailable", reason: "STORE_UNAVAILABLE" });
    await proxy.reopen();
    await expect.poll(() => t.ping().then(() => "up"), { timeout: 10_000 }).toBe("up");
  });

  test("a closed store is unavailable", async () => {
    const t = await openMongodb({ url: url(), database: newDatabase(), migrations: [] });
    await t[Symbol.asyncDispose]();
    await expect(t.ping()).rejects.toMatchObject({ code: "unavailable", reason: "STORE_CLOSED" });
  });
});

test("a URL that is malformed is refused without telling it", async () => {
  const refused = openMongodb({ url: "mongodb://user:secret@", database: "x", migrations: [] });
  await expect(refused).rejects.toMatchObject({ code: "invalid_argument", message: "The MongoDB URL is malformed" });
});

test("a server that is not there is unavailable within seconds", async () => {
  const refused = openMongodb({ url: "mongodb://127.0.0.1:1", database: "x", migrations: [] });
  await expect(refused).rejects.toMatchObject({ code: "unavailable", reason: "STORE_UNAVAILABLE" });
});
