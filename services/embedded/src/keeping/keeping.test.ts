import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backupFolder } from "./backup-folder.ts";
import { databaseFiles } from "./data-files.ts";
import { digestOf } from "./file-digest.ts";
import { restoreFolder } from "./restore-folder.ts";

const deps = { nowUs: () => Date.now() * 1000, newId: () => crypto.randomUUID() };
let scratch: string;
const folder = (name: string) => join(scratch, name);

/** A folder with the files of a data folder, whatever is in them. */
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "memory-bank-keeping-"));
  mkdirSync(folder("data"));
  for (const name of databaseFiles) {
    const db = new DatabaseSync(join(folder("data"), name));
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE kept (text TEXT); INSERT INTO kept VALUES ('here')");
    db.close();
  }
  writeFileSync(join(folder("data"), "pepper"), "salt\n", { mode: 0o600 });
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const textIn = (path: string) => {
  const db = new DatabaseSync(path);
  const row = db.prepare("SELECT text FROM kept").get();
  db.close();
  return row?.["text"];
};

test("what is backed up comes back whole, with its secrets, and readable for nobody else", async () => {
  // A row that is only in the log yet, written by a process that goes on.
  const writer = new DatabaseSync(join(folder("data"), "auth.sqlite"));
  writer.exec("UPDATE kept SET text = 'newer'");
  const { files } = await backupFolder(folder("data"), folder("backup"));
  writer.close();
  expect(files.map((file) => file.name)).toEqual([...databaseFiles, "pepper"]);
  await restoreFolder(folder("backup"), folder("restored"), deps);
  expect(textIn(join(folder("restored"), "auth.sqlite"))).toBe("newer");
  expect(textIn(join(folder("restored"), "memory.sqlite"))).toBe("here");
  expect(readFileSync(join(folder("restored"), "pepper"), "utf8")).toBe("salt\n");
  for (const place of ["backup", "restored"]) {
    for (const name of readdirSync(folder(place))) expect(statSync(join(folder(place), name)).mode & 0o077, name).toBe(0);
  }
});

test("a backup needs a data folder and an empty target", async () => {
  await expect(backupFolder(scratch, folder("backup"))).rejects.toMatchObject({ reason: "NOT_A_DATA_FOLDER" });
  await expect(backupFolder(folder("data"), scratch)).rejects.toMatchObject({ reason: "FOLDER_NOT_EMPTY" });
});

test("a restoration needs a finished backup, unchanged, and an empty target; else nothing is left behind", async () => {
  await expect(restoreFolder(folder("data"), folder("restored"), deps)).rejects.toMatchObject({ reason: "NOT_A_BACKUP" });
  await backupFolder(folder("data"), folder("backup"));
  await expect(restoreFolder(folder("backup"), folder("data"), deps)).rejects.toMatchObject({ reason: "FOLDER_NOT_EMPTY" });
  appendFileSync(join(folder("backup"), "memory.sqlite"), "x");
  await expect(restoreFolder(folder("backup"), folder("restored"), deps)).rejects.toThrow("memory.sqlite has changed");
  rmSync(join(folder("backup"), "reflect.sqlite"));
  await expect(restoreFolder(folder("backup"), folder("restored"), deps)).rejects.toThrow("reflect.sqlite is missing");
  expect(readdirSync(scratch).sort()).toEqual(["backup", "data"]);
});

test("a copy that SQLite finds damaged is refused although its digest is right", async () => {
  await backupFolder(folder("data"), folder("backup"));
  const copy = join(folder("backup"), "webhook.sqlite");
  const bytes = readFileSync(copy);
  bytes.fill(0xff, 4096, 4200);
  writeFileSync(copy, bytes);
  const manifest = JSON.parse(readFileSync(join(folder("backup"), "manifest.json"), "utf8"));
  manifest.files.find((file: { name: string }) => file.name === "webhook.sqlite").sha256 = await digestOf(copy);
  writeFileSync(join(folder("backup"), "manifest.json"), JSON.stringify(manifest));
  await expect(restoreFolder(folder("backup"), folder("restored"), deps)).rejects.toMatchObject({ reason: "BACKUP_DAMAGED" });
  expect(readdirSync(folder("restored"))).toEqual([]);
});
