import { systemContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import { systemTimers, type Timers } from "@memory-bank/lifecycle";
import type { AuditEntry, BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import type { Logger } from "@memory-bank/telemetry";

export interface AuditQueueDeps {
  readonly bank: Pick<Rpc<typeof BankInternalServiceService>, "recordAudit">;
  readonly log: Logger;
  /** Microseconds since 1970. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  readonly timers?: Timers;
}

/**
 * Entries on their way to bank. While bank can be reached an entry is durable `FLUSH_AFTER_MS` and one write after `add`; until
 * then it is only in this process. An entry that was sent twice is kept once, by its id.
 */
export interface AuditQueue extends AsyncDisposable {
  /** False while entries pile up: work that must be recorded should not begin. */
  hasRoom(): boolean;
  /** Never refuses, since what it tells of has been done. `bytes`: about the size of the entry. */
  add(entry: AuditEntry, bytes: number): void;
  /** Sends what waits; gives up after `CLOSE_MS_MAX` and logs how many are lost. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Long enough for the entries of a busy moment to share a write, short enough to lose next to nothing by a kill. */
const FLUSH_AFTER_MS = 100;
/** What bank takes in one call. */
const BATCH_ENTRIES_MAX = 500;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
/** Beyond either of these, mutations are refused: some seconds of full load. */
const WAITING_ENTRIES_MAX = 20_000;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
/** An oldest entry of this age means that bank does not take entries, however few there are. */
const WAITING_US_MAX = 5_000_000;
const CALL_MS_MAX = 5_000;
const RETRY_AFTER_MS = 200;
const RETRY_AFTER_MS_MAX = 2_000;
/** Half of what a process has for its whole stop. */
const CLOSE_MS_MAX = 5_000;

interface Waiting {
  readonly entry: AuditEntry;
  readonly bytes: number;
  readonly sinceUs: number;
}

export function createAuditQueue({ bank, log, nowUs, newId, timers = systemTimers }: AuditQueueDeps): AuditQueue {
  let waiting: Waiting[] = []; // oldest first
  let waitingBytes = 0;
  let isScheduled = false;
  let isClosed = false;
  let retryAfterMs = RETRY_AFTER_MS;
  let flushing: Promise<void> | undefined;

  const schedule = (afterMs: number) => {
    if (isScheduled) return;
    isScheduled = true;
    timers.setTimeout(() => {
      isScheduled = false;
      void flush();
    }, afterMs);
  };

  /** One at a time; answers when nothing waits or bank did not take a batch. */
  const flush = (): Promise<void> => {
    flushing ??= sendAll().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };

  const sendAll = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize(waiting));
      try {
        await send(batch);
      } catch (error) {
        log.warn({ err: error, waiting: waiting.length }, "audit entries could not be recorded yet");
        if (!isClosed) schedule(retryAfterMs);
        retryAfterMs = Math.min(retryAfterMs * 2, RETRY_AFTER_MS_MAX);
        return;
      }
      retryAfterMs = RETRY_AFTER_MS;
      waiting = waiting.slice(batch.length);
      waitingBytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
    }
  };

  const send = async (batch: readonly Waiting[]): Promise<void> => {
    const ctx = systemContext(newId(), Math.ceil(nowUs() / 1000) + CALL_MS_MAX);
    try {
      await bank.recordAudit(ctx, { entries: batch.map(({ entry }) => entry) });
    } catch (error) {
      if (!isAppError(error) || error.code !== "invalid_argument") throw error;
      if (batch.length > 1) {
        for (const one of batch) await send([one]);
        return;
      }
      // It will never be taken, and holding it back would hold back all others.
      const { id, action } = batch[0]!.entry;
      log.error({ err: error, entryId: id, action }, "an audit entry was refused and is lost");
    }
  };

  return {
    hasRoom() {
      const oldest = waiting[0];
      if (!oldest) return true;
      const isLate = nowUs() - oldest.sinceUs > WAITING_US_MAX;
      return !isLate && waiting.length < WAITING_ENTRIES_MAX && waitingBytes < WAITING_BYTES_MAX;
    },
    add(entry, bytes) {
      waiting.push({ entry, bytes, sinceUs: nowUs() });
      waitingBytes += bytes;
      if (!flushing) schedule(FLUSH_AFTER_MS);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const untilUs = nowUs() + CLOSE_MS_MAX * 1000;
      while (waiting.length > 0 && nowUs() < untilUs) {
        await flush();
        if (waiting.length > 0) await new Promise<void>((done) => timers.setTimeout(done, RETRY_AFTER_MS));
      }
      if (waiting.length > 0) log.error({ lost: waiting.length }, "audit entries were not recorded before the stop");
    },
  };
}

/** How many of the oldest fit into one call; at least one. */
function batchSize(waiting: readonly Waiting[]): number {
  let bytes = 0;
  const most = Math.min(waiting.length, BATCH_ENTRIES_MAX);
  for (let size = 0; size < most; size++) {
    bytes += waiting[size]!.bytes;
    if (bytes > BATCH_BYTES_MAX) return Math.max(size, 1);
  }
  return most;
}

/** What a mutation is answered that could not be recorded. */
export const cannotRecord = () =>
  new AppError("unavailable", "AUDIT_UNAVAILABLE", "The audit log cannot take entries", { retryAfterMs: CALL_MS_MAX });

/** What an entry takes beside its bodies: ids, path and metadata, generously. */
export const ENTRY_BYTES = 1024;
