import type { Timers } from "@memory-bank/lifecycle";
import type { Migration, SqliteDatabase, SqliteTx } from "@memory-bank/storage";
import type { Logger, Meter } from "@memory-bank/telemetry";
import type { Static, TSchema } from "typebox";
import type { DomainEvent, EventBus } from "./event-bus.ts";

export type { Delivery, DomainEvent, EventBus, Subscription } from "./event-bus.ts";

/** A kind of event: its subject and the schema of its payload. */
export interface EventDefinition<S extends TSchema> {
  readonly subject: string;
  readonly schema: S;
  /** Builds an event; throws `internal` when the payload breaks the schema. */
  create(parts: { id: string; occurredAtUs: number; payload: Static<S>; traceparent?: string }): DomainEvent<Static<S>>;
  /** The payload of a received event, checked; members that the schema does not name are kept out of the way. */
  payloadOf(event: DomainEvent): Static<S>;
}
export declare function defineEvent<S extends TSchema>(subject: string, schema: S): EventDefinition<S>;
export declare function createInProcessBus(deps: { log: Logger; timers?: Timers; meter?: Meter }): EventBus;
export declare const outboxMigration: Migration;
/** Puts events into the outbox, in the transaction that makes them true. Nudge the relay after the commit. */
export declare function appendEvents(tx: SqliteTx, events: readonly DomainEvent[]): void;
export interface OutboxRelay extends AsyncDisposable {
  start(): void;
  nudge(): void;
  retryFailed(): Promise<number>;
}
export declare function createOutboxRelay(deps: {
  db: SqliteDatabase;
  bus: EventBus;
  log: Logger;
  timers?: Timers;
  meter?: Meter;
}): OutboxRelay;
