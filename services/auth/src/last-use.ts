import type { Logger } from "@memory-bank/telemetry";
import { type AuthStore, lastUseIntervalUs } from "./auth-store.ts";
import type { ApiKey } from "./domain/api-key.ts";

/** Uses that wait for a write at most. A use beyond them is not recorded; the key's next one is. */
const waitingUsesMax = 10_000;
/** After a failed write the next one waits this long, so that a full disk does not turn every request into a failing write. */
const retryPauseUs = 1_000_000;

/** Writes down when keys were last used, off the path of the request that used them. */
export interface LastUse {
  /** Takes note of a use. Costs nothing unless a minute has passed since the one on record. */
  note(key: Pick<ApiKey, "keyId" | "lastUsedAtUs">, atUs: number): void;
  /** Resolves when everything noted is written, or could not be: then it stays and goes along with a later write. */
  flush(): Promise<void>;
}

/** One write runs at a time, and what is noted meanwhile goes into the next, so a burst over many keys costs few writes. */
export function createLastUse({ store, log }: { readonly store: Pick<AuthStore, "recordUses">; readonly log: Logger }): LastUse {
  let waiting = new Map<string, number>();
  let writing = new Map<string, number>();
  let pausedUntilUs = 0;
  let running: Promise<void> | undefined;

  const writeAll = async () => {
    while (waiting.size > 0) {
      [writing, waiting] = [waiting, new Map()];
      try {
        await store.recordUses([...writing].map(([keyId, atUs]) => ({ keyId, atUs })));
      } catch (error) {
        log.warn({ err: error, keys: writing.size }, "last use of keys could not be written, trying again later");
        pausedUntilUs = Math.max(...writing.values(), ...waiting.values()) + retryPauseUs;
        waiting = new Map([...waiting, ...writing]);
        return;
      } finally {
        writing = new Map();
      }
    }
  };
  const flush = () => {
    running ??= writeAll().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    note({ keyId, lastUsedAtUs }, atUs) {
      if (lastUsedAtUs !== null && atUs - lastUsedAtUs < lastUseIntervalUs) return;
      if (!writing.has(keyId) && !waiting.has(keyId) && waiting.size < waitingUsesMax) waiting.set(keyId, atUs);
      if (atUs >= pausedUntilUs) void flush();
    },
    flush,
  };
}
