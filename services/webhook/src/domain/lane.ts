/**
 * How much of the workers one webhook may use, judged by how its receiver has been answering. A new receiver starts
 * small and earns more with each success; one that keeps failing is left a single slot and growing pauses, so that
 * others do not wait for it. Pauses stay short beside the retry waits: they bound the load, not the schedule.
 */
export interface Lane {
  /** True while its latest attempts failed or were slow. Such lanes share slots of their own. */
  readonly isTroubled: boolean;
  /** Attempts at once. */
  readonly allowance: number;
  readonly failuresInRow: number;
  /** No attempt starts before this instant of the monotonic clock, in milliseconds. */
  readonly resumeAtMs: number;
}

const ALLOWANCE_START = 1;
/** What one receiver may be sent at once; receivers are often a single small process. */
export const ALLOWANCE_MAX = 16;
/** From this many failures in a row on, the lane is paused between attempts. */
export const BREAKER_FAILURES = 5;
const PAUSE_MS_FIRST = 100;
const PAUSE_MS_MAX = 5_000;

export const newLane: Lane = { isTroubled: false, allowance: ALLOWANCE_START, failuresInRow: 0, resumeAtMs: 0 };

export function afterSuccess(lane: Lane): Lane {
  return { isTroubled: false, allowance: Math.min(lane.allowance * 2, ALLOWANCE_MAX), failuresInRow: 0, resumeAtMs: 0 };
}

/** A receiver that takes its time but answers well is served, out of the slots for troubled ones. */
export function afterSlowSuccess(lane: Lane): Lane {
  return { isTroubled: true, allowance: Math.min(lane.allowance + 1, ALLOWANCE_MAX), failuresInRow: 0, resumeAtMs: 0 };
}

/** An answer that has to be cut off counts as an answer, but each one costs a connection and whatever had been sent. */
export function afterCutOff(nowMs: number): Lane {
  return { isTroubled: true, allowance: 1, failuresInRow: 0, resumeAtMs: nowMs + PAUSE_MS_FIRST };
}

export function afterFailure(lane: Lane, nowMs: number): Lane {
  const failuresInRow = lane.failuresInRow + 1;
  const excess = failuresInRow - BREAKER_FAILURES;
  if (excess < 0) return { isTroubled: true, allowance: halved(lane.allowance), failuresInRow, resumeAtMs: 0 };
  const pauseMs = Math.min(PAUSE_MS_FIRST * 2 ** Math.min(excess, 20), PAUSE_MS_MAX);
  return { isTroubled: true, allowance: 1, failuresInRow, resumeAtMs: nowMs + pauseMs };
}

/** An attempt that has been running for long is no failure yet, but its lane should not take more slots meanwhile. */
export function whileSlow(lane: Lane): Lane {
  return { ...lane, isTroubled: true, allowance: halved(lane.allowance) };
}

const halved = (allowance: number) => Math.max(1, Math.floor(allowance / 2));
