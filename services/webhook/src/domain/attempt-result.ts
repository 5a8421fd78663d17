import type { Settlement } from "./delivery.ts";
import { retryWaitUs } from "./retry-ladder.ts";

/** What became of one request. */
export type SendOutcome =
  /** A complete answer, or enough of one. */
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly body: string | null;
      readonly retryAfter: string | null;
      /** The body went on beyond what is read, and the connection was given up for it. */
      readonly isCutOff?: boolean;
    }
  /** The destination may not be called at all; another try would be refused as well. */
  | { readonly kind: "refused"; readonly reason: string }
  /** No answer, or one that broke off; `status` is set when the head of an answer had arrived. */
  | { readonly kind: "broken"; readonly reason: string; readonly status: number | null };

export interface AttemptClock {
  /** When the attempt ended, by the wall clock. */
  readonly nowUs: number;
  /** The same instant on the clock that due times are judged by. */
  readonly scheduleUs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Turns an outcome into the delivery's next state. Every failure is retried alike, except a refused destination. */
export function settlementOf(outcome: SendOutcome, roundAttempts: number, clock: AttemptClock): Settlement {
  const record = {
    lastResponseStatus: outcome.kind === "refused" ? null : outcome.status,
    lastResponseBody: outcome.kind === "answered" ? outcome.body : null,
    lastAttemptAtUs: clock.nowUs,
  };
  if (outcome.kind === "answered" && isSuccess(outcome.status)) return { ...record, status: "completed" };
  const lastError = outcome.kind === "answered" ? `HTTP ${outcome.status}` : outcome.reason;
  if (outcome.kind === "refused") return { ...record, status: "failed", lastError };
  const waitUs = retryWaitUs({
    failures: roundAttempts + 1,
    status: outcome.status,
    retryAfter: outcome.kind === "answered" ? outcome.retryAfter : null,
    nowUs: clock.nowUs,
    random: clock.random,
  });
  if (waitUs === null) return { ...record, status: "failed", lastError };
  return { ...record, status: "pending", lastError, dueUs: clock.scheduleUs + waitUs };
}

const isSuccess = (status: number) => status >= 200 && status < 300;
