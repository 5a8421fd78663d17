import { closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { AppError } from "@memory-bank/errors";
import {
  backupFormat,
  databaseFiles,
  type Manifest,
  manifestFile,
  privateFile,
  privateFolder,
  secretFiles,
} from "./data-files.ts";
import { digestOf, sync } from "./file-digest.ts";

/** All pages in one step: a copy of one moment. In smaller steps a writer of another process would make it begin again each time. */
const wholeFile = 2 ** 31 - 1;

/**
 * Copies a data folder into an empty folder, also while a process serves from it: readers and writers go on. What was acknowledged
 * before the call is in the copy. It holds the folder's secrets, so nobody else may read it.
 */
export async function backupFolder(dataDir: string, target: string): Promise<Manifest> {
  const missing = databaseFiles.filter((name) => !existsSync(join(dataDir, name)));
  if (missing.length > 0) {
    throw new AppError("not_found", "NOT_A_DATA_FOLDER", `${dataDir} is no data folder: it lacks ${missing.join(", ")}`);
  }
  takeEmptyFolder(target);
  const startedAt = new Date().toISOString();
  for (const name of databaseFiles) await copyDatabase(join(dataDir, name), join(target, name));
  const secrets = secretFiles.filter((name) => existsSync(join(dataDir, name)));
  for (const name of secrets) {
    createPrivateFile(join(target, name));
    await copyFile(join(dataDir, name), join(target, name));
  }
  const files = [];
  for (const name of [...databaseFiles, ...secrets]) {
    const path = join(target, name);
    await sync(path);
    files.push({ name, bytes: statSync(path).size, sha256: await digestOf(path) });
  }
  const manifest: Manifest = { format: backupFormat, startedAt, files };
  writeFileSync(join(target, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`, { mode: privateFile, flush: true });
  await sync(target);
  return manifest;
}

/** Makes the folder, or takes one that is there and empty. */
export function takeEmptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: privateFolder });
  if (readdirSync(folder).length > 0) throw new AppError("failed_precondition", "FOLDER_NOT_EMPTY", `${folder} is not empty`);
}

/** The mode is given at birth, so that the contents are never readable for others. */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "wx", privateFile));
}

async function copyDatabase(from: string, to: string): Promise<void> {
  createPrivateFile(to);
  const source = new DatabaseSync(from);
  try {
    await backup(source, to, { rate: wholeFile });
  } finally {
    source.close();
  }
}
