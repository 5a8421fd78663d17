import { AppError } from "@memory-bank/errors";
import {
  MongoClientClosedError,
  MongoError,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from "mongodb";

const DUPLICATE_KEY = 11_000;
// What a server says while it starts, stops, loses its primary or is short of something, as opposed to what a caller did wrong.
const PASSING_CODES = new Set([6, 7, 50, 89, 91, 112, 134, 189, 262, 9_001, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436]);

const SOCKET_CODES = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND"]);

/** True when a unique index (or `_id`) holds what was written already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** As `toAppError` does for SQLite: a taken key is `already_exists` (`KEY_TAKEN`), a server that is away `unavailable`. */
export function mongodbAppError(error: unknown): unknown {
  // A socket that breaks while a command is written to it comes through as the system's own error.
  if (isSocketError(error)) return storeUnavailable(error.code, error);
  if (!(error instanceof MongoError)) return error;
  if (isDuplicateKey(error)) return new AppError("already_exists", "KEY_TAKEN", "The key is taken", { cause: error });
  if (isClosed(error)) return storeClosed();
  if (!isPassing(error)) return error;
  return storeUnavailable(error.name, error);
}

function storeUnavailable(kind: string, cause: Error): AppError {
  return new AppError("unavailable", "STORE_UNAVAILABLE", `The store is unavailable (${kind})`, { cause });
}

function isSocketError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && SOCKET_CODES.has(error.code);
}

export function storeClosed(): AppError {
  return new AppError("unavailable", "STORE_CLOSED", "The store is closed");
}

function isClosed(error: MongoError): boolean {
  return (
    error instanceof MongoClientClosedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoExpiredSessionError
  );
}

function isPassing(error: MongoError): boolean {
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) return true;
  if (error instanceof MongoWriteConcernError) return true;
  if (error instanceof MongoServerError) return typeof error.code === "number" && PASSING_CODES.has(error.code);
  return POOL_ERRORS.has(error.name);
}

// The pool's own errors are not exported; their names are part of the driver's documented behaviour.
const POOL_ERRORS = new Set([
  "MongoWaitQueueTimeoutError",
  "MongoPoolClearedError",
  "PoolClosedError",
  "MongoOperationTimeoutError",
]);
