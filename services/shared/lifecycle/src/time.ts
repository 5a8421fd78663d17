/** What a timer returns; only good for `clearTimeout`. */
export type TimerHandle = unknown;

/** The timers that long-running parts wait with. Passed in, so that tests can move time by hand. */
export interface Timers {
  setTimeout(fn: () => void, ms: number): TimerHandle;
  clearTimeout(handle: TimerHandle): void;
}

/** The timers of the process. They do not keep it alive. */
export const systemTimers: Timers = {
  setTimeout: (fn, ms) => setTimeout(fn, ms).unref(),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

export interface ClockSources {
  /** Milliseconds since 1970, may be set back by an operator or by time synchronisation. */
  readonly wallMs: () => number;
  /** Milliseconds since some fixed moment, never set back. */
  readonly monotonicMs: () => number;
}

const systemSources: ClockSources = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

// The wall clock counts whole milliseconds and the other one fractions, so they differ by this much without any jump.
const WALL_RESOLUTION_US = 1_000;

/**
 * A clock in integer microseconds since 1970. Every answer is larger than the one before: it follows the wall clock
 * forward, and goes on by the monotonic clock while the wall clock is set back. So work that is due comes due whatever
 * happens to the wall clock, and instants taken in one process can be ordered.
 */
export function createClock(sources: ClockSources = systemSources): () => number {
  let lastUs = Math.round(sources.wallMs() * 1_000);
  let lastMonotonicMs = sources.monotonicMs();
  return () => {
    const monotonicMs = sources.monotonicMs();
    const elapsedUs = Math.floor((monotonicMs - lastMonotonicMs) * 1_000);
    const wallUs = Math.round(sources.wallMs() * 1_000);
    const continuedUs = lastUs + elapsedUs;
    const nowUs = Math.max(wallUs > continuedUs + WALL_RESOLUTION_US ? wallUs : continuedUs, lastUs + 1);
    lastUs = nowUs;
    lastMonotonicMs = monotonicMs;
    return nowUs;
  };
}
