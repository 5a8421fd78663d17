import { isAppError } from "@memory-bank/errors";
import { systemTimers, type TimerHandle, type Timers } from "@memory-bank/lifecycle";
import type { SqliteDatabase } from "@memory-bank/storage";
import type { Logger, Meter } from "@memory-bank/telemetry";
import type { EventBus } from "./event-bus.ts";
import { countEntries, markFailed, type OutboxEntry, pendingEntries, removeEntry, reviveFailed } from "./sqlite-outbox.ts";

export interface OutboxRelayDeps {
  readonly db: SqliteDatabase;
  readonly bus: EventBus;
  readonly log: Logger;
  readonly timers?: Timers;
  readonly meter?: Meter;
  readonly pollMs?: number;
}

/**
 * Brings what is in an outbox to the bus, in the order in which it was appended, and forgets it once `publish` has resolved. A crash at
 * any point leaves entries that are published again, with the same ids. Events of one subject keep their order as long as none fails.
 * One relay per database file. Disposing waits shortly for publishes that run; what is left is published after the next start.
 */
export interface OutboxRelay extends AsyncDisposable {
  /** Begins with what an earlier process left. */
  start(): void;
  /** Looks for entries now instead of at the next poll; call it after a commit that appended. */
  nudge(): void;
  /** Publishes again what subscribers had given up on; answers how many events that were. */
  retryFailed(): Promise<number>;
  /** How many wait and how many were given up on, for health and metrics. */
  count(): { readonly pending: number; readonly failed: number };
}

const IN_FLIGHT_MAX = 256; // a slow subscriber holds up that many events before it holds up the rest
const POLL_MS = 1_000; // how late an event is when nobody nudges
const PAUSE_MS = 500; // after the bus could not be reached; doubles
const PAUSE_MS_MAX = 30_000;
const STOP_TIMEOUT_MS = 2_000; // entries are durable, so there is no reason to wait for long

/** A relay over the outbox that `outboxMigration` made. Start it after everybody has subscribed. */
export function createOutboxRelay({
  db,
  bus,
  log,
  timers = systemTimers,
  meter,
  pollMs = POLL_MS,
}: OutboxRelayDeps): OutboxRelay {
  const relayed = meter?.counter({ name: "events_relayed_total", help: "Events by outcome", labels: ["subject", "outcome"] });
  const inFlight = new Map<number, Promise<void>>();
  let state: "new" | "started" | "stopped" = "new";
  let afterSeq = 0;
  let pauseMs = PAUSE_MS;
  let timer: TimerHandle;
  let isPausing = false;

  function look(): void {
    if (state !== "started" || isPausing) return;
    timers.clearTimeout(timer);
    try {
      const entries = db.read((tx) => pendingEntries(tx, afterSeq, IN_FLIGHT_MAX));
      for (const entry of entries) {
        if (inFlight.size >= IN_FLIGHT_MAX) break;
        afterSeq = entry.seq;
        if (!inFlight.has(entry.seq)) send(entry);
      }
    } catch (error) {
      log.warn({ err: error }, "could not read the outbox");
    }
    timer = timers.setTimeout(look, pollMs);
  }

  function send(entry: OutboxEntry): void {
    const isCrowded = inFlight.size + 1 >= IN_FLIGHT_MAX;
    const sending = publish(entry).then(() => {
      inFlight.delete(entry.seq);
      if (isCrowded) look();
    });
    inFlight.set(entry.seq, sending);
  }

  async function publish({ seq, event }: OutboxEntry): Promise<void> {
    const { subject } = event;
    try {
      const failure = await failureOf(() => bus.publish([event]));
      await db.write((tx) => (failure === undefined ? removeEntry(tx, seq) : markFailed(tx, seq, failure)));
      pauseMs = PAUSE_MS;
      relayed?.add({ subject, outcome: failure === undefined ? "done" : "dead" });
    } catch (error) {
      if (state === "stopped") return;
      log.warn({ err: error, eventId: event.id, subject, pauseMs }, "event could not be published and will be again");
      relayed?.add({ subject, outcome: "failed" });
      afterSeq = Math.min(afterSeq, seq - 1);
      pause();
    }
  }

  function pause(): void {
    if (isPausing) return;
    isPausing = true;
    timers.clearTimeout(timer);
    timer = timers.setTimeout(() => {
      isPausing = false;
      look();
    }, pauseMs);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
  }

  return {
    start() {
      if (state !== "new") throw new Error("an outbox relay starts once");
      state = "started";
      look();
    },
    nudge: look,
    async retryFailed() {
      const revived = await db.write(reviveFailed);
      afterSeq = 0;
      look();
      return revived;
    },
    count: () => db.read(countEntries),
    async [Symbol.asyncDispose]() {
      state = "stopped";
      timers.clearTimeout(timer);
      if (inFlight.size === 0) return;
      const timeout = Promise.withResolvers<void>();
      const patience = timers.setTimeout(timeout.resolve, STOP_TIMEOUT_MS);
      await Promise.race([Promise.all(inFlight.values()), timeout.promise]);
      timers.clearTimeout(patience);
    },
  };
}

/** Why subscribers gave up on the event, `undefined` when they have it. Any other failure is thrown: publish again. */
async function failureOf(publish: () => Promise<void>): Promise<string | undefined> {
  try {
    await publish();
    return undefined;
  } catch (error) {
    if (isAppError(error, "EVENT_DEAD")) return JSON.stringify(error.details);
    throw error;
  }
}
