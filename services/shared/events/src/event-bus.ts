/** Something that has happened, told to whoever listens. */
export interface DomainEvent<T = unknown> {
  /** Chosen once by the publisher; handlers recognise a repeated delivery by it. */
  readonly id: string;
  /** Past tense and version, for example `order.placed.v1`. */
  readonly subject: string;
  /** A JSON value. */
  readonly payload: T;
  readonly occurredAtUs: number;
  /** W3C trace context of the work that caused it. */
  readonly traceparent?: string;
}

export interface Delivery {
  /** 1 for the first try. */
  readonly attempt: number;
  /** Aborts when the bus closes or the try has taken `DELIVERY_TIMEOUT_MS`, after which it counts as failed. */
  readonly signal: AbortSignal;
}

export interface Subscription {
  readonly subject: string;
  /**
   * Name of the subscriber, the same after every restart: it is told what it missed while it was down, and those that share
   * the name share the deliveries. `null`: every subscription for itself, from now on.
   */
  readonly durable: string | null;
  /**
   * Must be idempotent by `event.id`: deliveries repeat after a crash, a lost acknowledgement, or a failure of another
   * subscriber. Returning means done; throwing means "again later".
   */
  readonly handler: (event: DomainEvent, delivery: Delivery) => Promise<void>;
  /** Handler calls at once, 1 unless told: then events arrive in order as long as none fails. */
  readonly concurrency?: number;
}

export const DELIVERY_TRIES_MAX = 10; // with the pauses between them about a minute: longer than a restart of what a handler needs
export const DELIVERY_TIMEOUT_MS = 30_000; // handlers save and enqueue; slow work belongs into jobs

/**
 * Carries events from one service to others, at least once.
 *
 * - Delivery is later than the publisher's turn, and each handler gets a copy of its own, parsed from JSON.
 * - A failing handler is tried again with growing pauses, without holding up later events. After `DELIVERY_TRIES_MAX`
 *   tries the delivery is dead: logged and counted, and not lost, because the publisher's outbox keeps the event as failed.
 * - Subscribers do not disturb each other: one that fails does not repeat the delivery to the others.
 * - An event without subscribers is done at once; so subscribe before the outboxes start.
 */
export interface EventBus extends AsyncDisposable {
  /**
   * Resolves when the bus has taken over responsibility for all `events`: in process every subscriber is done with them, on
   * a server they are stored. Rejects with `EVENT_DEAD` (code `internal`, `details.failures`) when a subscriber gave up, with
   * `unavailable` when the bus is closed or cannot be reached: publish again, then.
   */
  publish(events: readonly DomainEvent[]): Promise<void>;
  /** Starts delivery; disposing of the answer ends it and waits for handlers that run. */
  subscribe(subscription: Subscription): Promise<AsyncDisposable>;
}
