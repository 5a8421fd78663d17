import type { DatabaseSync } from "node:sqlite";
import { AppError } from "@memory-bank/errors";
import type { SqliteTx } from "./sqlite-database.ts";
import { toAppError } from "./sqlite-errors.ts";

const GROUP_WRITES_MAX = 256; // beyond this the shared disk sync is a small part of the cost
const GROUP_MS_MAX = 20; // the event loop stands still meanwhile, and the first caller waits for the last

export interface GroupCommit {
  /** Resolves after the commit that made the closure's changes durable. */
  add<T>(fn: (tx: SqliteTx) => T): Promise<T>;
  /** Commits everything that is queued before it returns. */
  finish(): void;
}

/** A queued closure. `run` executes it and keeps its value; one of the other two is called once its fate is known. */
interface QueuedWrite {
  run(): void;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Lets closures that arrive in one turn of the event loop share a transaction, because a disk sync costs more than the
 * statements it makes durable. While a sync blocks the process, requests pile up in sockets and become the next group.
 */
export function createGroupCommit(connection: DatabaseSync, tx: SqliteTx): GroupCommit {
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const savepoint = connection.prepare("SAVEPOINT closure");
  const release = connection.prepare("RELEASE closure");
  const rollbackToSavepoint = connection.prepare("ROLLBACK TO closure");
  const commit = connection.prepare("COMMIT");
  const rollback = connection.prepare("ROLLBACK");

  let queue: QueuedWrite[] = [];
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || queue.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      commitGroup();
      schedule();
    });
  }

  function commitGroup(): void {
    const group = queue.slice(0, GROUP_WRITES_MAX);
    if (group.length === 0) return;
    const deadlineMs = performance.now() + GROUP_MS_MAX;
    const executed: QueuedWrite[] = [];
    let taken = 0;
    try {
      begin.run();
      for (const write of group) {
        if (taken > 0 && performance.now() > deadlineMs) break;
        taken += 1;
        if (execute(write)) executed.push(write);
      }
      commit.run();
    } catch (error) {
      if (connection.isTransaction) rollback.run();
      // When the transaction could not begin, nobody has been taken yet and everybody waits for the same thing.
      const failed = taken === 0 ? group : executed;
      queue = queue.slice(taken === 0 ? group.length : taken);
      for (const write of failed) write.reject(groupError(error));
      return;
    }
    queue = queue.slice(taken);
    for (const write of executed) write.resolve();
  }

  /** False when the closure threw and was rolled back alone. Throws when SQLite gave up the whole transaction with it. */
  function execute(write: QueuedWrite): boolean {
    savepoint.run();
    try {
      write.run();
      release.run();
      return true;
    } catch (error) {
      write.reject(toAppError(error));
      if (!connection.isTransaction) throw error;
      rollbackToSavepoint.run();
      release.run();
      return false;
    }
  }

  return {
    add: (fn) =>
      new Promise((resolve, reject) => {
        let value: ReturnType<typeof fn>;
        queue.push({
          run() {
            value = fn(tx);
            if (value instanceof Promise) throw new TypeError("a write closure must be synchronous");
          },
          resolve: () => resolve(value),
          reject,
        });
        schedule();
      }),
    finish() {
      while (queue.length > 0) commitGroup();
    },
  };
}

/** Neighbours in a group did nothing wrong, so whatever broke their transaction is for them a store that failed. */
function groupError(error: unknown): AppError {
  const translated = toAppError(error);
  return translated instanceof AppError && translated.code === "unavailable"
    ? translated
    : new AppError("unavailable", "STORE_UNAVAILABLE", "The store could not commit", { cause: error });
}
