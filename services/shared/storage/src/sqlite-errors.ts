import { AppError } from "@memory-bank/errors";

// Result codes of SQLite, https://sqlite.org/rescode.html. The low byte is the kind, the rest tells more.
const UNIQUE_CODES = new Set([1555, 2067, 2579]); // primary key, unique index, row id
const UNAVAILABLE_KINDS = new Map([
  [5, "busy"],
  [6, "locked"],
  [7, "out of memory"],
  [8, "read-only"],
  [10, "input/output error"],
  [13, "disk full"],
  [14, "cannot be opened"],
]);
const FILE_ERRORS = new Set(["EACCES", "ENOENT", "ENOSPC", "EROFS", "EIO", "ENOTDIR", "EISDIR", "EMFILE", "EDQUOT"]);

/**
 * What a caller can act on becomes an `AppError`: a taken key is `already_exists` (`KEY_TAKEN`), a store that is full, busy
 * or broken off is `unavailable` (`STORE_UNAVAILABLE`). Everything else is answered as it came.
 */
export function toAppError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const { code, errcode } = error as Error & { code?: unknown; errcode?: unknown };
  if (typeof code === "string" && FILE_ERRORS.has(code)) return unavailable(`file error ${code}`, error);
  if (code !== "ERR_SQLITE_ERROR" || typeof errcode !== "number") return error;
  if (UNIQUE_CODES.has(errcode)) return new AppError("already_exists", "KEY_TAKEN", "The key is taken", { cause: error });
  const kind = UNAVAILABLE_KINDS.get(errcode & 0xff);
  return kind === undefined ? error : unavailable(kind, error);
}

function unavailable(kind: string, cause: Error): AppError {
  return new AppError("unavailable", "STORE_UNAVAILABLE", `The store is unavailable (${kind})`, { cause });
}
