import type { Timers } from "@memory-bank/lifecycle";
import { withSpan } from "@memory-bank/telemetry";
import { DELIVERY_TIMEOUT_MS, type DomainEvent, type Subscription } from "./event-bus.ts";

const PAUSE_MS = 100; // before the second try; doubles
const PAUSE_MS_MAX = 20_000;

export interface Try {
  readonly event: DomainEvent;
  readonly attempt: number;
  /** Aborts when the bus closes. */
  readonly closing: AbortSignal;
  readonly timers: Timers;
}

/** One call of a subscriber's handler, in the trace of the event. Rejects when it throws or takes longer than it may. */
export async function runHandler(subscription: Subscription, { event, attempt, closing, timers }: Try): Promise<void> {
  const late = new AbortController();
  const signal = AbortSignal.any([closing, late.signal]);
  const timer = timers.setTimeout(() => late.abort(new Error(`no answer in ${DELIVERY_TIMEOUT_MS} ms`)), DELIVERY_TIMEOUT_MS);
  const attributes = { "event.id": event.id, "event.durable": subscription.durable ?? "" };
  const run = () => subscription.handler(event, { attempt, signal });
  try {
    await Promise.race([withSpan(`event ${event.subject}`, attributes, run, event.traceparent), rejectionOf(late.signal)]);
  } finally {
    timers.clearTimeout(timer);
  }
}

/** How long to wait after this failed try. */
export function pauseMsAfter(attempt: number): number {
  return Math.min(PAUSE_MS * 2 ** (attempt - 1), PAUSE_MS_MAX);
}

/** Waits for the work, but not for longer than this. */
export async function settledWithin(work: Promise<unknown>, timers: Timers, ms: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = timers.setTimeout(timeout.resolve, ms);
  await Promise.race([work, timeout.promise]);
  timers.clearTimeout(timer);
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
}
