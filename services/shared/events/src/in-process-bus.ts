import { AppError, isAppError } from "@memory-bank/errors";
import { systemTimers, type TimerHandle, type Timers } from "@memory-bank/lifecycle";
import type { Logger, Meter } from "@memory-bank/telemetry";
import { DELIVERY_TRIES_MAX, type DomainEvent, type EventBus, type Subscription } from "./event-bus.ts";
import { busClosed, type DeadDelivery, eventDead, messageOf } from "./event-errors.ts";
import { pauseMsAfter, runHandler, settledWithin } from "./run-handler.ts";

export interface InProcessBusDeps {
  readonly log: Logger;
  readonly timers?: Timers;
  readonly meter?: Meter;
}

const QUEUED_MAX = 10_000; // deliveries waiting in memory; outboxes stop far below it
const CLOSE_TIMEOUT_MS = 2_000; // for handlers to notice the signal

/** One event on its way to one consumer. */
interface Parcel {
  readonly event: DomainEvent;
  /** Serialised when it was published, so that no handler sees what the publisher or another handler does to the object. */
  readonly text: string;
  attempt: number;
  resolve(): void;
  reject(error: AppError): void;
}

/** Everyone who subscribed under one name, and what waits for them. */
interface Consumer {
  readonly subject: string;
  readonly name: string;
  readonly members: Set<Member>;
  readonly queue: Parcel[];
  readonly pausing: Map<Parcel, TimerHandle>;
}

interface Member {
  readonly subscription: Subscription;
  readonly running: Set<Promise<void>>;
}

/** The event bus of a single process. It remembers nothing: what must survive a crash waits in an outbox until `publish` resolves. */
export function createInProcessBus({ log, timers = systemTimers, meter }: InProcessBusDeps): EventBus {
  const deliveries = meter?.counter({
    name: "event_deliveries_total",
    help: "Tries to deliver an event, by subscriber",
    labels: ["subject", "durable", "outcome"],
  });
  const consumers = new Map<string, Consumer>();
  const closing = new AbortController();
  let queued = 0;
  let ephemeralCount = 0;

  function post(consumer: Consumer, event: DomainEvent, text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queued += 1;
    consumer.queue.push({ event, text, attempt: 0, resolve, reject });
    setImmediate(() => pump(consumer));
    return promise.finally(() => {
      queued -= 1;
    });
  }

  function pump(consumer: Consumer): void {
    for (;;) {
      const member = [...consumer.members].find(({ running, subscription }) => running.size < (subscription.concurrency ?? 1));
      const parcel = member && !closing.signal.aborted ? consumer.queue.shift() : undefined;
      if (!member || !parcel) return;
      const running = deliver(consumer, member, parcel).then(() => {
        member.running.delete(running);
        pump(consumer);
      });
      member.running.add(running);
    }
  }

  async function deliver(consumer: Consumer, { subscription }: Member, parcel: Parcel): Promise<void> {
    const { subject, name } = consumer;
    parcel.attempt += 1;
    try {
      const event = JSON.parse(parcel.text) as DomainEvent;
      await runHandler(subscription, { event, attempt: parcel.attempt, closing: closing.signal, timers });
      deliveries?.add({ subject, durable: name, outcome: "done" });
      parcel.resolve();
    } catch (error) {
      if (closing.signal.aborted) return parcel.reject(busClosed());
      const isDead = parcel.attempt >= DELIVERY_TRIES_MAX;
      deliveries?.add({ subject, durable: name, outcome: isDead ? "dead" : "failed" });
      const fields = { err: error, eventId: parcel.event.id, subject, durable: name, attempt: parcel.attempt };
      if (isDead) {
        log.error(fields, "event could not be delivered");
        return parcel.reject(eventDead([{ eventId: parcel.event.id, durable: name, reason: messageOf(error) }]));
      }
      log.warn(fields, "event will be delivered again");
      pause(consumer, parcel);
    }
  }

  function pause(consumer: Consumer, parcel: Parcel): void {
    const timer = timers.setTimeout(() => {
      consumer.pausing.delete(parcel);
      consumer.queue.push(parcel);
      pump(consumer);
    }, pauseMsAfter(parcel.attempt));
    consumer.pausing.set(parcel, timer);
  }

  /** Ends a consumer; whoever published what waits for it has to publish again. */
  function abandon(consumer: Consumer, error: AppError): void {
    for (const timer of consumer.pausing.values()) timers.clearTimeout(timer);
    for (const parcel of [...consumer.queue, ...consumer.pausing.keys()]) parcel.reject(error);
    consumer.queue.length = 0;
    consumer.pausing.clear();
  }

  return {
    async publish(events) {
      if (closing.signal.aborted) throw busClosed();
      const parcels = events.flatMap((event) => {
        const text = JSON.stringify(event);
        return consumersOf(consumers, event.subject).map((consumer) => ({ consumer, event, text }));
      });
      if (queued + parcels.length > QUEUED_MAX) {
        throw new AppError("resource_exhausted", "BUS_FULL", `More than ${QUEUED_MAX} deliveries are waiting`);
      }
      const results = await Promise.allSettled(parcels.map(({ consumer, event, text }) => post(consumer, event, text)));
      throwFirstFailure(results.flatMap((result) => (result.status === "rejected" ? [result.reason as AppError] : [])));
    },

    async subscribe(subscription) {
      if (closing.signal.aborted) throw busClosed();
      const name = subscription.durable ?? `ephemeral-${++ephemeralCount}`;
      const key = JSON.stringify([subscription.subject, name]);
      const created: Consumer = { subject: subscription.subject, name, members: new Set(), queue: [], pausing: new Map() };
      const consumer = consumers.get(key) ?? created;
      const member: Member = { subscription, running: new Set() };
      consumer.members.add(member);
      consumers.set(key, consumer);
      return {
        async [Symbol.asyncDispose]() {
          consumer.members.delete(member);
          if (consumer.members.size === 0 && consumers.get(key) === consumer) {
            consumers.delete(key);
            abandon(consumer, new AppError("unavailable", "SUBSCRIBER_GONE", `Subscriber '${name}' has gone`));
          }
          await Promise.all(member.running);
        },
      };
    },

    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      closing.abort(busClosed());
      const running = [...consumers.values()].flatMap(({ members }) => [...members].flatMap((member) => [...member.running]));
      if (running.length > 0) await settledWithin(Promise.all(running), timers, CLOSE_TIMEOUT_MS);
      for (const consumer of consumers.values()) abandon(consumer, busClosed());
    },
  };
}

function consumersOf(consumers: ReadonlyMap<string, Consumer>, subject: string): Consumer[] {
  return [...consumers.values()].filter((consumer) => consumer.subject === subject);
}

/** A bus that closed goes first, because publishing again may still succeed; the reasons of dead deliveries are joined. */
function throwFirstFailure(failures: readonly AppError[]): void {
  if (failures.length === 0) return;
  const retryable = failures.find((failure) => !isAppError(failure, "EVENT_DEAD"));
  throw retryable ?? eventDead(failures.flatMap(({ details }) => details["failures"] as readonly DeadDelivery[]));
}
