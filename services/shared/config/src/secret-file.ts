import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "@memory-bank/errors";

const secretBytes = 32;
/** 32 bytes in base64url. */
const secretForm = /^[0-9A-Za-z_-]{43}$/;
const othersMask = 0o077;
const isWindows = process.platform === "win32"; // where mode bits say nothing about who may read

/**
 * The secret that a data folder keeps for itself: 32 random bytes as base64url text in a file of mode 0600, made when it is
 * not there. Whoever starts first makes it, whole and on disk before it is used; everybody else reads that one. Throws
 * `failed_precondition` when the file is damaged or others may read it, rather than lock out what the secret protects.
 */
export function loadOrCreateSecretFile(path: string): string {
  try {
    return readSecretFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  createSecretFile(path);
  return readSecretFile(path);
}

function readSecretFile(path: string): string {
  const secret = readFileSync(path, "utf8").trim();
  if (!isWindows && (statSync(path).mode & othersMask) !== 0) {
    throw new AppError(
      "failed_precondition",
      "SECRET_FILE_OPEN",
      `Others may read the secret in ${path}; run: chmod 600 ${path}`,
    );
  }
  if (!secretForm.test(secret)) {
    throw new AppError("failed_precondition", "SECRET_FILE_DAMAGED", `${path} does not hold a secret; restore it from a backup`);
  }
  return secret;
}

/** Writes beside the file and links it into place, so that the name never stands for half a secret and is never replaced. */
function createSecretFile(path: string): void {
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeSynced(draft, `${randomBytes(secretBytes).toString("base64url")}\n`);
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // else somebody else was first: theirs counts
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeSynced(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(folder: string): void {
  if (isWindows) return; // folders cannot be opened there, and need no sync
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
