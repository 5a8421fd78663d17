import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AppError } from "@memory-bank/errors";
import { toAppError } from "./sqlite-errors.ts";

const LOCK_FILE = "lock.sqlite";
const PRIVATE_FOLDER = 0o700; // it will hold keys

/**
 * Takes a folder, creating it when there is none, until the answer is disposed of or the process ends, however it ends: the
 * operating system holds the lock. Throws `failed_precondition`, `FOLDER_IN_USE`, while another holder has it.
 */
export function lockFolder(folder: string): Disposable {
  let connection: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
    connection = new DatabaseSync(join(folder, LOCK_FILE), { timeout: 0 });
    // Begun and never committed: nothing is written, and the file stays locked for as long as the connection is open.
    connection.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    const held = connection;
    return { [Symbol.dispose]: () => void (held.isOpen && held.close()) };
  } catch (error) {
    connection?.close();
    if (!isBusy(error)) throw toAppError(error);
    throw new AppError("failed_precondition", "FOLDER_IN_USE", `The folder ${folder} is in use by another process`, {
      details: { folder },
      cause: error,
    });
  }
}

function isBusy(error: unknown): boolean {
  const kind = Number((error as { errcode?: unknown }).errcode) & 0xff;
  return kind === 5 || kind === 6;
}
