import { AppError } from "@memory-bank/errors";
import { systemTimers, type Timers } from "@memory-bank/lifecycle";
import type { Logger, Meter } from "@memory-bank/telemetry";
import { type JsMsg, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { errors, type NatsConnection } from "@nats-io/transport-node";
import { DELIVERY_TRIES_MAX, type DomainEvent, type EventBus, type Subscription } from "../event-bus.ts";
import { busClosed, type DeadDelivery, eventDead, messageOf } from "../event-errors.ts";
import { pauseMsAfter, runHandler, settledWithin } from "../run-handler.ts";
import { connectNats } from "./connect-nats.ts";
import { writeDeadLetter } from "./dead-letters.ts";
import { pullEvents } from "./pull-events.ts";
import { declareConsumer, declareStreams, streamNames } from "./streams.ts";

export interface NatsBusOptions {
  /** One URL, or several of one cluster separated by commas. */
  readonly url: string;
  /** How the server lists this process. */
  readonly name: string;
  /** Upper case letters, digits and `_`; deployments that share a server differ in it. */
  readonly streamPrefix?: string;
  /** Copies of each stream in a NATS cluster: 1, 3 or 5. */
  readonly replicas?: number;
  /** The pause after a failed try; for tests, which cannot move the time of a server. */
  readonly pauseMsAfterTry?: (attempt: number) => number;
  readonly log: Logger;
  readonly timers?: Timers;
  readonly meter?: Meter;
}

/** The bus of a cluster. */
export interface NatsBus extends EventBus {
  /** False while the server does not answer; events then wait in their outboxes. */
  isConnected(): boolean;
  /**
   * Calls back after every reconnect. A server acknowledges before it has synced its disk, so what was published in the
   * minutes before has to be published again; repeats are recognised by their id.
   */
  onReconnect(listener: () => void): void;
}

const STREAM_PREFIX = "MEMORY_BANK";
const PUBLISH_TIMEOUT_MS = 5_000; // for the acknowledgement; relays hold what was not acknowledged and publish again
const CLOSE_TIMEOUT_MS = 2_000; // for handlers to notice the signal, and again for the last acknowledgements

/** Connects to JetStream and declares the streams. Waits up to a minute for a server, then throws `unavailable`, `BUS_UNREACHABLE`. */
export async function openNatsBus(options: NatsBusOptions): Promise<NatsBus> {
  const {
    log,
    timers = systemTimers,
    meter,
    streamPrefix = STREAM_PREFIX,
    replicas = 1,
    pauseMsAfterTry = pauseMsAfter,
  } = options;
  const deliveries = meter?.counter({
    name: "event_deliveries_total",
    help: "Tries to deliver an event, by subscriber",
    labels: ["subject", "durable", "outcome"],
  });
  const connection = await connectNats(options, log, timers);
  const names = streamNames(streamPrefix);
  const jsm = await jetstreamManager(connection);
  const js = jetstream(connection, { timeout: PUBLISH_TIMEOUT_MS });
  await declareStreams(jsm, names, replicas);
  const closing = new AbortController();
  const active = new Set<Promise<void>>();
  const reconnectListeners = new Set<() => void>();
  let isConnected = true;
  void watchConnection(connection, log, (connected) => {
    if (connected && !isConnected) for (const listener of [...reconnectListeners]) listener();
    isConnected = connected;
  });

  function onReconnect(listener: () => void): () => void {
    reconnectListeners.add(listener);
    return () => void reconnectListeners.delete(listener);
  }

  async function deliver(subscription: Subscription, message: JsMsg): Promise<void> {
    const { subject } = subscription;
    const durable = subscription.durable ?? "";
    const attempt = message.info.deliveryCount;
    const event = decodeEvent(message);
    try {
      if (!event) throw new Error("the message is not an event");
      await runHandler(subscription, { event, attempt, closing: closing.signal, timers });
      deliveries?.add({ subject, durable, outcome: "done" });
      message.ack();
    } catch (error) {
      if (closing.signal.aborted) return message.nak();
      const isDead = !event || attempt >= DELIVERY_TRIES_MAX;
      deliveries?.add({ subject, durable, outcome: isDead ? "dead" : "failed" });
      const fields = { err: error, eventId: event?.id, sequence: message.seq, subject, durable, attempt };
      if (isDead) {
        log.error(fields, "event could not be delivered");
        return await bury(subscription, message, messageOf(error));
      }
      log.warn(fields, "event will be delivered again");
      message.nak(pauseMsAfterTry(attempt));
    }
  }

  async function bury({ subject, durable }: Subscription, message: JsMsg, reason: string): Promise<void> {
    try {
      await writeDeadLetter(js, names, message, { subject, durable: durable ?? "", reason });
      message.term(headerless(reason));
    } catch (error) {
      log.warn({ err: error, sequence: message.seq, subject, durable }, "dead letter could not be written and will be again");
      message.nak(pauseMsAfterTry(DELIVERY_TRIES_MAX));
    }
  }

  /** Fetches for one subscription. A subscriber that goes by no name takes up where it was when its consumer had to be made anew. */
  async function follow(subscription: Subscription, signal: AbortSignal, name: string, fromSequence: number): Promise<void> {
    let last = fromSequence - 1;
    let declared: string | undefined = name;
    const openConsumer = async () => {
      if (declared === undefined) {
        await declareStreams(jsm, names, replicas);
        const { state } = await jsm.streams.info(names.events);
        const start = Math.max(1, Math.min(last, state.last_seq) + 1);
        declared = await declareConsumer(jsm, names, { ...subscription, fromSequence: start });
      }
      const consumer = await js.consumers.get(names.events, declared);
      declared = undefined;
      return consumer;
    };
    const remember = async (message: JsMsg) => {
      await deliver(subscription, message);
      last = Math.max(last, message.seq);
    };
    await pullEvents({ openConsumer, deliver: remember, onReconnect, log, timers }, signal);
  }

  return {
    isConnected: () => isConnected,
    onReconnect: (listener) => void onReconnect(listener),

    async publish(events) {
      if (closing.signal.aborted) throw busClosed();
      const acknowledged = events.map((event) =>
        js.publish(names.subjectOf(event.subject), JSON.stringify(event), { msgID: event.id, timeout: PUBLISH_TIMEOUT_MS }),
      );
      const results = await Promise.allSettled(acknowledged);
      throwFailure(events, results);
    },

    async subscribe(subscription) {
      if (closing.signal.aborted) throw busClosed();
      const { state } = await jsm.streams.info(names.events);
      const fromSequence = state.last_seq + 1;
      const name = await declareConsumer(jsm, names, { ...subscription, fromSequence });
      const ended = new AbortController();
      const signal = AbortSignal.any([ended.signal, closing.signal]);
      const lanes = Array.from({ length: subscription.concurrency ?? 1 }, () => follow(subscription, signal, name, fromSequence));
      const work = Promise.all(lanes).then(() => void active.delete(work));
      active.add(work);
      return {
        async [Symbol.asyncDispose]() {
          ended.abort();
          await work;
        },
      };
    },

    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      closing.abort(busClosed());
      await settledWithin(Promise.all(active), timers, CLOSE_TIMEOUT_MS);
      // Without a server there is nothing to drain to, and waiting for one would be in vain.
      if (isConnected && !connection.isClosed()) await settledWithin(connection.drain(), timers, CLOSE_TIMEOUT_MS);
      await connection.close();
    },
  };
}

async function watchConnection(connection: NatsConnection, log: Logger, tell: (isConnected: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === "disconnect") {
      log.warn({}, "the event bus is gone; events wait until it is back");
      tell(false);
    } else if (type === "reconnect") {
      log.info({}, "the event bus is back");
      tell(true);
    }
  }
}

function decodeEvent(message: JsMsg): DomainEvent | undefined {
  try {
    const value = message.json<Partial<DomainEvent> | null>();
    const isEvent = typeof value?.id === "string" && typeof value.subject === "string" && typeof value.occurredAtUs === "number";
    return isEvent ? (value as DomainEvent) : undefined;
  } catch {
    return undefined; // what is no JSON cannot become an event later: the caller writes a dead letter
  }
}

/** An event that the server will never take is dead; every other failure may pass. */
function throwFailure(events: readonly DomainEvent[], results: readonly PromiseSettledResult<unknown>[]): void {
  const failures = results.flatMap((result, index) =>
    result.status === "rejected" ? [{ eventId: events[index]!.id, error: result.reason as unknown }] : [],
  );
  const passing = failures.find(({ error }) => !(error instanceof errors.InvalidArgumentError));
  if (passing) {
    throw new AppError("unavailable", "BUS_UNREACHABLE", "The event bus did not take an event", { cause: passing.error });
  }
  const dead = failures.map(({ eventId, error }): DeadDelivery => ({ eventId, durable: "", reason: messageOf(error) }));
  if (dead.length > 0) throw eventDead(dead);
}

/** The server logs it on one line. */
function headerless(reason: string): string {
  return reason.slice(0, 200).replaceAll(/\s+/g, " ");
}
