import { type DomainEvent, defineEvent } from "@memory-bank/events";
import { Type } from "typebox";
import type { Notification } from "./domain/delivery.ts";
import { uuidFrom } from "./domain/delivery-id.ts";
import { envelopeBytes, eventTypes } from "./domain/envelope.ts";

// Schemas of the consumer: they name only what is read here, so that publishers are free to add members.
const head = {
  bankUid: Type.String({ minLength: 1 }),
  bankId: Type.String(),
  /** `null` when no operation caused it. */
  operationId: Type.Union([Type.String(), Type.Null()]),
};

/** Items whose facts are committed; one request item each. */
export const memoryRetained = defineEvent(
  "memory.retained.v1",
  Type.Object({
    ...head,
    items: Type.Array(
      Type.Object({
        /** `null` when the item carried no document id. */
        documentId: Type.Union([Type.String(), Type.Null()]),
        /** Units that the document owns now. */
        unitCount: Type.Integer({ minimum: 0 }),
        tags: Type.Array(Type.String()),
      }),
    ),
  }),
);

/** The end of a consolidation run, or of one attempt at it that failed. */
export const consolidationCompleted = defineEvent(
  "consolidation.completed.v1",
  Type.Object({
    ...head,
    status: Type.String(),
    observationsCreated: Type.Integer({ minimum: 0 }),
    observationsUpdated: Type.Integer({ minimum: 0 }),
    observationsDeleted: Type.Integer({ minimum: 0 }),
    error: Type.Union([Type.String(), Type.Null()]),
  }),
);

/** One `retain.completed` per item. */
export function notificationsOfRetain(event: DomainEvent): readonly Notification[] {
  const { bankUid, bankId, operationId, items } = memoryRetained.payloadOf(event);
  return items.map(({ documentId, unitCount, tags }, index) => ({
    ...commonParts(event, bankUid, index),
    eventType: eventTypes.retainCompleted,
    body: envelopeBytes({
      event: eventTypes.retainCompleted,
      bankId,
      operationId: operationId ?? uuidFrom(`operation\0${event.id}`),
      status: "completed",
      timestampUs: event.occurredAtUs,
      data: {
        ...(documentId === null ? {} : { document_id: documentId, memory_unit_count: unitCount }),
        ...(tags.length === 0 ? {} : { tags }),
      },
    }),
  }));
}

export function notificationsOfConsolidation(event: DomainEvent): readonly Notification[] {
  const payload = consolidationCompleted.payloadOf(event);
  const { bankUid, bankId, operationId, status, error } = payload;
  const notification: Notification = {
    ...commonParts(event, bankUid, 0),
    eventType: eventTypes.consolidationCompleted,
    body: envelopeBytes({
      event: eventTypes.consolidationCompleted,
      bankId,
      operationId: operationId ?? uuidFrom(`operation\0${event.id}`),
      status,
      timestampUs: event.occurredAtUs,
      data: {
        observations_created: payload.observationsCreated,
        observations_updated: payload.observationsUpdated,
        observations_deleted: payload.observationsDeleted,
        ...(error === null ? {} : { error_message: error }),
      },
    }),
  };
  return [notification];
}

function commonParts(event: DomainEvent, bankUid: string, index: number) {
  return { key: `${event.id}\0${index}`, bankUid, traceparent: event.traceparent ?? null };
}
