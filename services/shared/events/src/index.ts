export { defineEvent, type EventDefinition, type NewEvent } from "./define-event.ts";
export {
  DELIVERY_TIMEOUT_MS,
  DELIVERY_TRIES_MAX,
  type Delivery,
  type DomainEvent,
  type EventBus,
  type Subscription,
} from "./event-bus.ts";
export { createInProcessBus, type InProcessBusDeps } from "./in-process-bus.ts";
export {
  mongodbOutboxMigration,
  type PendingEvent,
  pendingEvents,
  pendingEventsIndex,
  type TellsEvents,
} from "./mongodb/outbox-documents.ts";
export { createMongodbOutboxRelay, type MongodbOutboxRelay, type MongodbOutboxRelayDeps } from "./mongodb/outbox-relay.ts";
export { type NatsBus, type NatsBusOptions, openNatsBus } from "./nats/nats-bus.ts";
export { type EventBusConfig, eventBusConfigOf, type OpenedBus, openEventBus } from "./open-event-bus.ts";
export { createOutboxRelay, type OutboxRelay, type OutboxRelayDeps } from "./outbox-relay.ts";
export { appendEvents, outboxMigration } from "./sqlite-outbox.ts";
