import type { TimerHandle, Timers } from "./time.ts";

/** Time that stands still until a test moves it. */
export interface VirtualTime {
  /** Microseconds since 1970. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly timers: Timers;
  /** Moves on by `ms`, running the timers on the way and the work that they start. */
  advance(ms: number): Promise<void>;
  /** Moves on from timer to timer until the condition holds; throws when it does not within `limitMs` of virtual time. */
  until(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
}

interface PendingTimer {
  readonly atMs: number;
  readonly order: number;
  readonly fn: () => void;
}

const TURNS_TO_SETTLE = 6; // a group commit takes one turn, and no step under test chains more than a few
const UNTIL_LIMIT_MS = 600_000;

/** Time for tests, starting at 2026-01-01. Work that waits for sockets or threads is not waited for; inject that, too. */
export function createVirtualTime(startUs: number = Date.UTC(2026, 0, 1) * 1_000): VirtualTime {
  let elapsedMs = 0;
  let order = 0;
  const pending = new Set<PendingTimer>();

  const timers: Timers = {
    setTimeout(fn, ms): TimerHandle {
      order += 1;
      const timer = { atMs: elapsedMs + Math.max(ms, 0), order, fn };
      pending.add(timer);
      return timer;
    },
    clearTimeout: (handle) => void pending.delete(handle as PendingTimer),
  };

  const next = (): PendingTimer | undefined => [...pending].sort((a, b) => a.atMs - b.atMs || a.order - b.order)[0];

  function fire(timer: PendingTimer): void {
    elapsedMs = Math.max(elapsedMs, timer.atMs);
    pending.delete(timer);
    timer.fn();
  }

  return {
    now: () => startUs + Math.round(elapsedMs * 1_000),
    monotonicMs: () => elapsedMs,
    timers,
    async advance(ms) {
      const targetMs = elapsedMs + ms;
      await settle();
      for (let timer = next(); timer !== undefined && timer.atMs <= targetMs; timer = next()) {
        fire(timer);
        await settle();
      }
      elapsedMs = targetMs;
    },
    async until(condition, limitMs = UNTIL_LIMIT_MS) {
      const limit = elapsedMs + limitMs;
      await settle();
      while (!(await condition())) {
        const timer = next();
        if (!timer || timer.atMs > limit) throw new Error(`the condition did not come true within ${limitMs} ms of virtual time`);
        fire(timer);
        await settle();
      }
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS_TO_SETTLE; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
