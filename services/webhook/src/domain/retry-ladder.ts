/** Seconds to wait after the failed attempts 1 to 5 of a round; the sixth failure is final. */
export const retryWaitSeconds: readonly number[] = [5, 300, 1_800, 7_200, 18_000];

/** Each wait is moved by up to this share either way, so that receivers that went down together are not hit together. */
export const RETRY_JITTER = 0.2;

/** The longest wait that a receiver may ask for with `Retry-After`. */
export const RETRY_AFTER_SECONDS_MAX = 3_600;

/** Statuses whose `Retry-After` is about the sender's pace. */
const pacingStatuses: readonly number[] = [429, 503];

export interface FailedAttempt {
  /** Failed attempts of the round, this one included. */
  readonly failures: number;
  readonly status: number | null;
  readonly retryAfter: string | null;
  /** For a `Retry-After` that is a date. */
  readonly nowUs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Microseconds to wait before the next attempt, or `null` when the round is over. */
export function retryWaitUs(attempt: FailedAttempt): number | null {
  const baseSeconds = retryWaitSeconds[attempt.failures - 1];
  if (baseSeconds === undefined) return null;
  const jittered = baseSeconds * (1 + RETRY_JITTER * (2 * attempt.random() - 1));
  const asked = pacingStatuses.includes(attempt.status ?? 0) ? retryAfterSeconds(attempt.retryAfter, attempt.nowUs) : 0;
  return Math.round(Math.max(jittered, Math.min(asked, RETRY_AFTER_SECONDS_MAX)) * 1_000_000);
}

/** Seconds that a `Retry-After` header asks for; 0 when it is absent, past or malformed. */
export function retryAfterSeconds(header: string | null, nowUs: number): number {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  if (!httpDate.test(text)) return 0;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs / 1_000 - nowUs / 1_000_000);
}

// The form that HTTP asks senders to use. `Date.parse` alone would also read "1" or "Friday" in ways of its own.
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
