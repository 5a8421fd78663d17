import { existsSync, readFileSync, statSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { requeuePurges } from "@memory-bank/bank";
import { AppError } from "@memory-bank/errors";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { createPrivateFile, takeEmptyFolder } from "./backup-folder.ts";
import { backupFormat, databaseFiles, type Manifest, manifestFile, secretFiles } from "./data-files.ts";
import { digestOf, sync } from "./file-digest.ts";

const manifestSchema = Type.Object({
  format: Type.Literal(backupFormat),
  startedAt: Type.String(),
  files: Type.Array(
    Type.Object({
      name: Type.Union([...databaseFiles, ...secretFiles].map((name) => Type.Literal(name))),
      bytes: Type.Integer(),
      sha256: Type.String(),
    }),
  ),
});

/**
 * Checks a backup and copies it into an empty folder, which a service may then be started on. Nothing is left behind when
 * it fails. Banks that were deleted while the backup was made are purged again at the first start.
 */
export async function restoreFolder(
  source: string,
  dataDir: string,
  deps: { readonly nowUs: () => number; readonly newId: () => string },
): Promise<Manifest> {
  const manifest = readManifest(source);
  for (const { name, bytes, sha256 } of manifest.files) {
    const path = join(source, name);
    if (!existsSync(path)) throw damaged(`${name} is missing`);
    if (statSync(path).size !== bytes || (await digestOf(path)) !== sha256)
      throw damaged(`${name} has changed since it was written`);
  }
  takeEmptyFolder(dataDir);
  const copied: string[] = [];
  try {
    for (const { name } of manifest.files) {
      const path = join(dataDir, name);
      copied.push(path);
      createPrivateFile(path);
      await copyFile(join(source, name), path);
      await sync(path);
      if (databaseFiles.includes(name)) requireSound(path, name);
    }
    await requeuePurges(join(dataDir, "bank.sqlite"), deps);
    await sync(dataDir);
  } catch (error) {
    for (const path of copied) for (const suffix of ["", "-wal", "-shm"]) await rm(`${path}${suffix}`, { force: true });
    throw error;
  }
  return manifest;
}

function readManifest(source: string): Manifest {
  const path = join(source, manifestFile);
  if (!existsSync(path)) {
    throw new AppError("failed_precondition", "NOT_A_BACKUP", `${source} holds no finished backup: it lacks ${manifestFile}`);
  }
  const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!Check(manifestSchema, manifest)) throw damaged(`${manifestFile} is not one of format ${backupFormat}`);
  const missing = databaseFiles.filter((name) => !manifest.files.some((file) => file.name === name));
  if (missing.length > 0) throw damaged(`it lacks ${missing.join(", ")}`);
  return manifest as Manifest;
}

function requireSound(path: string, name: string): void {
  const db = new DatabaseSync(path);
  try {
    const [first] = db.prepare("PRAGMA quick_check(1)").all();
    if (first?.["quick_check"] !== "ok") throw damaged(`${name}: ${String(first?.["quick_check"])}`);
  } finally {
    db.close();
  }
}

const damaged = (what: string) => new AppError("failed_precondition", "BACKUP_DAMAGED", `The backup cannot be used: ${what}`);
