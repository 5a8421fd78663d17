import { isAppError } from "@memory-bank/errors";
import { systemTimers, type TimerHandle, type Timers } from "@memory-bank/lifecycle";
import type { MongodbDatabase } from "@memory-bank/storage";
import type { Logger, Meter } from "@memory-bank/telemetry";
import type { DomainEvent, EventBus } from "../event-bus.ts";
import type { OutboxRelay } from "../outbox-relay.ts";
import { settledWithin } from "../run-handler.ts";
import { collectEvents, type OutboxDocument, outboxOf } from "./outbox-documents.ts";

export interface MongodbOutboxRelayDeps {
  readonly database: MongodbDatabase;
  /** Collections whose documents tell events; each has `pendingEventsIndex`. */
  readonly sources: readonly string[];
  readonly bus: EventBus;
  readonly log: Logger;
  /** Microseconds since 1970. */
  readonly now: () => number;
  /** Different for every process. */
  readonly owner: string;
  readonly timers?: Timers;
  readonly meter?: Meter;
}

/** A relay that also publishes again what a server may have lost. */
export interface MongodbOutboxRelay extends OutboxRelay {
  /** Publishes again what was published within the last ten minutes, with the same ids; for `NatsBus.onReconnect`. */
  resend(): void;
}

const IN_FLIGHT_MAX = 256;
const POLL_MS = 1_000; // how late an event is that another process has left behind, on top of its age
const ORPHAN_AGE_US = 5_000_000; // then its process is taken to be gone; one that is merely slow makes a repeat
const KEPT_US = 600_000_000; // a server syncs its disk every two minutes, so what is older than this is safe there
const SWEEP_INTERVAL_MS = 60_000;
const PAUSE_MS = 500; // after bus or store could not be reached; doubles
const PAUSE_MS_MAX = 5_000; // both are near, and what is due shall flow again within seconds
const STOP_TIMEOUT_MS = 2_000; // entries are durable

/**
 * Brings the events of a database to the bus. Each process publishes its own at once and in order, and those of processes that are
 * gone after some seconds. Repeats carry the same id, which the bus recognises.
 */
export function createMongodbOutboxRelay(deps: MongodbOutboxRelayDeps): MongodbOutboxRelay {
  const { database, sources, bus, log, now, owner, timers = systemTimers, meter } = deps;
  const relayed = meter?.counter({ name: "events_relayed_total", help: "Events by outcome", labels: ["subject", "outcome"] });
  const inFlight = new Map<string, Promise<void>>();
  let state: "new" | "started" | "stopped" = "new";
  let counts = { pending: 0, failed: 0 };
  let looking: Promise<void> | undefined;
  let shallLookAgain = false;
  let shallResend = false;
  let timer: TimerHandle;
  let pauseMs = PAUSE_MS;
  let nextSweepUs = 0;
  let hasFailed = false;

  function look(): void {
    if (state !== "started") return;
    shallLookAgain = true;
    looking ??= lookUntilQuiet().finally(() => {
      looking = undefined;
    });
  }

  async function lookUntilQuiet(): Promise<void> {
    timers.clearTimeout(timer);
    let delayMs = POLL_MS;
    try {
      while (shallLookAgain && state === "started") {
        shallLookAgain = false;
        await lookOnce();
      }
    } catch (error) {
      hasFailed = true;
      log.warn({ err: error, pauseMs }, "could not look into the outbox");
    }
    if (hasFailed) {
      hasFailed = false;
      delayMs = pauseMs;
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    }
    if (state === "started") timer = timers.setTimeout(look, delayMs);
  }

  async function lookOnce(): Promise<void> {
    if (shallResend) {
      await database.run((db) => markForResend(db, now()));
      shallResend = false;
    }
    for (const source of sources) await database.run((db) => collectEvents(db, source, owner, now()));
    const entries = await database.run((db) => waitingEntries(db, owner, now()));
    for (const entry of entries) {
      if (inFlight.size >= IN_FLIGHT_MAX) break;
      if (!inFlight.has(entry._id)) send(entry);
    }
    if (now() >= nextSweepUs) {
      nextSweepUs = now() + SWEEP_INTERVAL_MS * 1_000;
      await database.run((db) => outboxOf(db).deleteMany({ state: "published", publishedAtUs: { $lt: now() - KEPT_US } }));
    }
    counts = await database.run((db) => countEntries(db));
  }

  function send(entry: OutboxDocument): void {
    const sending = publish(entry).then(() => {
      inFlight.delete(entry._id);
      if (inFlight.size === 0 && !hasFailed) look();
    });
    inFlight.set(entry._id, sending);
  }

  async function publish({ _id, text }: OutboxDocument): Promise<void> {
    const event = JSON.parse(text) as DomainEvent;
    const { subject } = event;
    try {
      const failure = await failureOf(() => bus.publish([event]));
      const change =
        failure === undefined
          ? { $set: { state: "published" as const, publishedAtUs: now() } }
          : { $set: { state: "failed" as const, failure } };
      await database.run((db) => outboxOf(db).updateOne({ _id }, change));
      pauseMs = PAUSE_MS;
      relayed?.add({ subject, outcome: failure === undefined ? "done" : "dead" });
    } catch (error) {
      if (state === "stopped") return;
      // One line per look: while the bus is away they all fail for one reason.
      if (!hasFailed)
        log.warn({ err: error, eventId: event.id, subject, pauseMs }, "events could not be published and will be again");
      hasFailed = true;
      relayed?.add({ subject, outcome: "failed" });
    }
  }

  return {
    start() {
      if (state !== "new") throw new Error("an outbox relay starts once");
      state = "started";
      look();
    },
    nudge: look,
    resend() {
      shallResend = true;
      look();
    },
    async retryFailed() {
      const { modifiedCount } = await database.run((db) =>
        outboxOf(db).updateMany({ state: "failed" }, { $set: { state: "pending" }, $unset: { failure: "" } }),
      );
      look();
      return modifiedCount;
    },
    count: () => counts,
    async [Symbol.asyncDispose]() {
      state = "stopped";
      timers.clearTimeout(timer);
      const work = Promise.all([looking, ...inFlight.values()]);
      await settledWithin(work, timers, STOP_TIMEOUT_MS);
    },
  };
}

type Database = Parameters<typeof outboxOf>[0];

async function waitingEntries(db: Database, owner: string, nowUs: number): Promise<OutboxDocument[]> {
  const mineOrOrphaned = [{ owner }, { createdAtUs: { $lt: nowUs - ORPHAN_AGE_US } }];
  return await outboxOf(db)
    .find({ state: "pending", $or: mineOrOrphaned }, { sort: { seq: 1 }, limit: IN_FLIGHT_MAX })
    .toArray();
}

async function markForResend(db: Database, nowUs: number): Promise<void> {
  const recent = { state: "published" as const, publishedAtUs: { $gte: nowUs - KEPT_US } };
  await outboxOf(db).updateMany(recent, { $set: { state: "pending" } });
}

async function countEntries(db: Database): Promise<{ pending: number; failed: number }> {
  const outbox = outboxOf(db);
  return { pending: await outbox.countDocuments({ state: "pending" }), failed: await outbox.countDocuments({ state: "failed" }) };
}

/** Why the event is dead, `undefined` when the bus has it. Any other failure is thrown: publish again. */
async function failureOf(publish: () => Promise<void>): Promise<string | undefined> {
  try {
    await publish();
    return undefined;
  } catch (error) {
    if (isAppError(error, "EVENT_DEAD")) return JSON.stringify(error.details);
    throw error;
  }
}
