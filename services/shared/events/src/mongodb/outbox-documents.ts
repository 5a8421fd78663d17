import type { MongodbMigration } from "@memory-bank/storage";
import type { Collection, Db } from "mongodb";
import type { DomainEvent } from "../event-bus.ts";

/** An event inside the document whose write makes it true. It stays there until it is in the outbox. */
export interface PendingEvent {
  readonly id: string;
  readonly seq: number;
  /** JSON. */
  readonly text: string;
}

/** What a document has that tells events: the array is absent or empty most of the time. */
export interface TellsEvents {
  pendingEvents?: PendingEvent[];
}

export interface OutboxDocument {
  /** The event's. */
  _id: string;
  seq: number;
  /** The process that appended it, and publishes it unless it is gone. */
  owner: string;
  text: string;
  state: "pending" | "published" | "failed";
  createdAtUs: number;
  publishedAtUs?: number;
  failure?: string;
}

export const outboxOf = (db: Db): Collection<OutboxDocument> => db.collection<OutboxDocument>("outbox");

export const mongodbOutboxMigration: MongodbMigration = {
  id: "events-001",
  collections: {
    outbox: [
      { name: "waiting", key: { state: 1, seq: 1 } },
      { name: "published", key: { state: 1, publishedAtUs: 1 } },
    ],
  },
};

/** The index that a collection needs whose documents tell events. */
export const pendingEventsIndex = { name: "pending_events", key: { "pendingEvents.id": 1 }, sparse: true } as const;

/**
 * Events in the form in which they are written into a document, numbered in the order of calls. Write them in the one update that
 * makes them true, and nudge the relay afterwards.
 */
export async function pendingEvents(db: Db, events: readonly DomainEvent[]): Promise<PendingEvent[]> {
  if (events.length === 0) return [];
  const counter = await db
    .collection<{ _id: string; last: number }>("outbox_counters")
    .findOneAndUpdate({ _id: "seq" }, { $inc: { last: events.length } }, { upsert: true, returnDocument: "after" });
  const first = (counter?.last ?? events.length) - events.length + 1;
  return events.map((event, index) => ({ id: event.id, seq: first + index, text: JSON.stringify(event) }));
}

const COLLECT_MAX = 256; // documents per look; the next one follows at once while there are more

/** Brings the events of a collection's documents into the outbox; repeating it, or doing it twice at once, adds nothing. */
export async function collectEvents(db: Db, source: string, owner: string, nowUs: number): Promise<void> {
  const documents = db.collection<TellsEvents>(source);
  const telling = await documents
    .find({ "pendingEvents.id": { $exists: true } }, { projection: { pendingEvents: 1 }, limit: COLLECT_MAX })
    .toArray();
  for (const { _id, pendingEvents: events = [] } of telling) {
    for (const { id, seq, text } of events) {
      const entry = { seq, owner, text, state: "pending", createdAtUs: nowUs } as const;
      await outboxOf(db).updateOne({ _id: id }, { $setOnInsert: entry }, { upsert: true });
    }
    const ids = events.map(({ id }) => id);
    await documents.updateOne({ _id }, { $pull: { pendingEvents: { id: { $in: ids } } } });
  }
}
