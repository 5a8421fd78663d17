import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { lockFolder } from "./lock-folder.ts";
import { migrationsFrom } from "./migrate.ts";
import { openSqlite } from "./open-sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "storage-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newFile = () => join(folder, `${++files}.sqlite`);
const items = { id: "001-items", sql: "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT UNIQUE) STRICT" };
const open = (file = ":memory:") => openSqlite({ file, migrations: [items] });
const insert = "INSERT INTO items (name) VALUES (?)";
const names = "SELECT name FROM items ORDER BY id";

describe("write", () => {
  test("closures of one turn run in order and share a commit", async () => {
    const file = newFile();
    await using db = open(file);
    await using other = open(file);
    const seen: unknown[] = [];
    const writes = ["a", "b", "c"].map((name) =>
      db.write((tx) => {
        tx.run(insert, [name]);
        seen.push(other.read((reader) => reader.all(names)).length);
        return name;
      }),
    );
    expect(await Promise.all(writes)).toEqual(["a", "b", "c"]);
    expect(seen, "nothing is visible before the shared commit").toEqual([0, 0, 0]);
    expect(other.read((tx) => tx.all(names))).toEqual([{ name: "a" }, { name: "b" }, { name: "c" }]);
  });

  test("one that throws is rolled back alone", async () => {
    await using db = open();
    const results = await Promise.allSettled([
      db.write((tx) => tx.run(insert, ["a"])),
      db.write((tx) => {
        tx.run(insert, ["half"]);
        throw new Error("changed my mind");
      }),
      db.write((tx) => tx.run(insert, ["a"])),
      db.write((tx) => tx.run(insert, ["b"])),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { message: "changed my mind" } });
    expect(results[2]).toMatchObject({ reason: { code: "already_exists", reason: "KEY_TAKEN" } });
    expect(db.read((tx) => tx.all(names))).toEqual([{ name: "a" }, { name: "b" }]);
  });

  test("a closure that answers a promise is refused and undone", async () => {
    await using db = open();
    const write = db.write(async (tx) => tx.run(insert, ["late"]));
    await expect(write).rejects.toThrow(/synchronous/);
    expect(db.read((tx) => tx.all(names))).toEqual([]);
  });

  test("when a neighbour takes the whole transaction down, everybody is told and nothing is half done", async () => {
    await using db = open();
    const results = await Promise.allSettled([
      db.write((tx) => tx.run(insert, ["a"])),
      db.write((tx) => tx.run("INSERT OR ROLLBACK INTO items (name) VALUES ('a')")),
      db.write((tx) => tx.run(insert, ["b"])),
    ]);
    expect(results[0]).toMatchObject({ reason: { code: "unavailable" } });
    expect(results[1]).toMatchObject({ reason: { code: "already_exists" } });
    expect(results[2]).toMatchObject({ status: "fulfilled" });
    expect(db.read((tx) => tx.all(names))).toEqual([{ name: "b" }]);
  });

  test("more closures than a group holds are all committed", async () => {
    await using db = open();
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => db.write((tx) => tx.run(insert, [`n${index}`]))));
    expect(db.read((tx) => tx.get("SELECT count(*) AS n FROM items"))).toEqual({ n: 1_000 });
  });

  test("two handles on one file both get through", async () => {
    const file = newFile();
    await using first = open(file);
    await using second = open(file);
    await Promise.all(
      [first, second].flatMap((db, handle) => [1, 2, 3].map((n) => db.write((tx) => tx.run(insert, [`${handle}-${n}`])))),
    );
    expect(first.read((tx) => tx.all(names))).toHaveLength(6);
  });

  test("a full store is unavailable, and the write is undone", async () => {
    await using db = open(newFile());
    db.writeNow((tx) => tx.run(insert, ["a"]));
    db.read((tx) => tx.get("PRAGMA max_page_count = 5"));
    const write = db.write((tx) => tx.run(insert, ["x".repeat(100_000)]));
    await expect(write).rejects.toMatchObject({ code: "unavailable", reason: "STORE_UNAVAILABLE" });
    expect(db.read((tx) => tx.all(names))).toEqual([{ name: "a" }]);
  });
});

describe("read", () => {
  test("sees one snapshot, whatever another handle commits meanwhile", async () => {
    const file = newFile();
    await using db = open(file);
    await using other = open(file);
    const counts = db.read((tx) => {
      const before = tx.all(names).length;
      other.writeNow((writer) => writer.run(insert, ["meanwhile"]));
      return [before, tx.all(names).length];
    });
    expect(counts).toEqual([0, 0]);
    expect(db.read((tx) => tx.all(names))).toHaveLength(1);
  });

  test("takes values by position and by name, and iterates while the same text is used again", async () => {
    await using db = open();
    db.writeNow((tx) => ["a", "b", "c"].map((name) => tx.run("INSERT INTO items (name) VALUES (:name)", { name })));
    const pairs = db.read((tx) => Array.from(tx.iterate(names), (row) => [row["name"], [...tx.iterate(names)].length]));
    expect(pairs).toEqual([
      ["a", 3],
      ["b", 3],
      ["c", 3],
    ]);
    expect(db.read((tx) => tx.get("SELECT id FROM items WHERE name = ?", ["b"]))).toEqual({ id: 2 });
    expect(db.read((tx) => tx.get(names))).toEqual({ name: "a" });
    expect(db.read((tx) => tx.get("SELECT 1 FROM items WHERE id = 9"))).toBeUndefined();
  });

  test("more texts than the cache holds still work", async () => {
    await using db = open();
    const sums = db.read((tx) => Array.from({ length: 600 }, (_, n) => tx.get(`SELECT ${n % 300} AS n`)));
    expect(sums[599]).toEqual({ n: 299 });
  });

  test("inside a transaction the database refuses another one", async () => {
    await using db = open();
    await expect(db.write(() => db.read((tx) => tx.all(names)))).rejects.toThrow(/transaction that is open/);
    expect(db.read((tx) => tx.all(names))).toEqual([]);
  });
});

describe("open and close", () => {
  test("what is queued when it closes is kept, later use is refused", async () => {
    const file = newFile();
    const db = open(file);
    const write = db.write((tx) => tx.run(insert, ["queued"]));
    await db[Symbol.asyncDispose]();
    await write;
    await expect(db.write((tx) => tx.run(insert, ["late"]))).rejects.toMatchObject({
      code: "unavailable",
      reason: "STORE_CLOSED",
    });
    expect(() => db.ping()).toThrow(expect.objectContaining({ reason: "STORE_CLOSED" }));
    await db[Symbol.asyncDispose]();
    await using again = open(file);
    expect(again.read((tx) => tx.all(names))).toEqual([{ name: "queued" }]);
  });

  test("a new step runs once, an unknown one is refused, a failing one leaves nothing", async () => {
    const file = newFile();
    const second = { id: "002-more", sql: "ALTER TABLE items ADD COLUMN size INTEGER" };
    await open(file)[Symbol.asyncDispose]();
    for (let time = 0; time < 2; time += 1) {
      await using db = openSqlite({ file, migrations: [items, second] });
      expect(db.read((tx) => tx.all("SELECT size FROM items"))).toEqual([]);
    }
    expect(() => open(file)).toThrow(expect.objectContaining({ code: "failed_precondition", reason: "SCHEMA_TOO_NEW" }));
    const broken = { id: "003-broken", sql: "CREATE TABLE kept (id); CREATE TABLE items (id)" };
    expect(() => openSqlite({ file, migrations: [items, second, broken] })).toThrow(/already exists/);
    const fixed = { id: "003-broken", sql: "CREATE TABLE kept (id)" };
    await using db = openSqlite({ file, migrations: [items, second, fixed] });
    db.ping();
  });

  test("a file is private, takes its page size, and one that cannot be opened is unavailable", async () => {
    const file = newFile();
    await using db = openSqlite({ file, migrations: [items], pageSize: 16_384 });
    expect(db.read((tx) => tx.get("PRAGMA page_size"))).toEqual({ page_size: 16_384 });
    expect(db.read((tx) => tx.get("PRAGMA synchronous"))).toEqual({ synchronous: 2 });
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(() => open(join(folder, "absent", "x.sqlite"))).toThrow(expect.objectContaining({ code: "unavailable" }));
    const noDatabase = newFile();
    writeFileSync(noDatabase, "x".repeat(5_000));
    expect(() => open(noDatabase)).toThrow(/not a database/);
  });

  test("migrationsFrom reads a folder in order and refuses odd names", () => {
    const steps = mkdtempSync(join(folder, "steps-"));
    writeFileSync(join(steps, "002-b.sql"), "SELECT 2");
    writeFileSync(join(steps, "001-a.sql"), "SELECT 1");
    expect(migrationsFrom(pathToFileURL(steps))).toEqual([
      { id: "001-a", sql: "SELECT 1" },
      { id: "002-b", sql: "SELECT 2" },
    ]);
    writeFileSync(join(steps, "3-c.sql"), "SELECT 3");
    expect(() => migrationsFrom(pathToFileURL(steps))).toThrow(/3-c.sql/);
  });
});

describe("lockFolder", () => {
  const inUse = expect.objectContaining({ code: "failed_precondition", reason: "FOLDER_IN_USE" });

  test("one holder at a time; a folder is free again after disposal", () => {
    const place = join(folder, "lock-a");
    const lock = lockFolder(place);
    expect(() => lockFolder(place)).toThrow(inUse);
    lock[Symbol.dispose]();
    lock[Symbol.dispose]();
    lockFolder(place)[Symbol.dispose]();
  });

  test("a process that is killed frees it", async () => {
    const place = join(folder, "lock-b");
    const code = `import { lockFolder } from ${JSON.stringify(new URL("lock-folder.ts", import.meta.url).href)};
      globalThis.held = lockFolder(${JSON.stringify(place)}); console.log("held"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    expect(() => lockFolder(place)).toThrow(inUse);
    child.kill("SIGKILL");
    await once(child, "exit");
    lockFolder(place)[Symbol.dispose]();
  });
});
