import { AppError, type ErrorCode } from "@memory-bank/errors";
import type { Job } from "./job.ts";

export interface Failure {
  readonly error: unknown;
  readonly job: Job;
  /** Failed tries before this one. */
  readonly retryCount: number;
}

/** Milliseconds to wait before the next try, or `"give_up"`. */
export type RetryPolicy = (failure: Failure) => number | "give_up";

// These say that the same call would fail the same way. `not_found` is among them: what the job is about is gone.
const FINAL_CODES: readonly ErrorCode[] = [
  "invalid_argument",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "already_exists",
  "failed_precondition",
];

/** False for an `AppError` that says the same call would fail the same way. Unknown errors may pass by themselves. */
export function isWorthRetrying(error: unknown): boolean {
  return !(error instanceof AppError && FINAL_CODES.includes(error.code));
}

/** Up to `retriesMax` further tries, `delayMs` apart. */
export function retryEvery({ delayMs, retriesMax }: { delayMs: number; retriesMax: number }): RetryPolicy {
  return ({ error, retryCount }) => (isWorthRetrying(error) && retryCount < retriesMax ? delayMs : "give_up");
}

/** Waits `baseMs`, twice that, four times that... up to `capMs`; without `retriesMax` for ever. */
export function retryWithBackoff({ baseMs, capMs, retriesMax = Number.POSITIVE_INFINITY }: Backoff): RetryPolicy {
  return ({ error, retryCount }) =>
    isWorthRetrying(error) && retryCount < retriesMax ? Math.min(baseMs * 2 ** retryCount, capMs) : "give_up";
}
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
  readonly retriesMax?: number;
}

/** What the public contract promises for every kind that has no rule of its own: three further tries, a minute apart. */
export const defaultRetryPolicy = retryEvery({ delayMs: 60_000, retriesMax: 3 });
