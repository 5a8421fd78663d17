import type { Notification } from "./delivery.ts";
import { envelopeBytes, eventTypes } from "./envelope.ts";

export interface TestRequest {
  readonly bankUid: string;
  readonly bankId: string;
  readonly webhookId: string;
  /** Fresh for each test, so that every one is sent. */
  readonly id: string;
  readonly nowUs: number;
  readonly traceparent: string | null;
}

/** An event that says nothing but that the way to the receiver works. */
export function testNotification(request: TestRequest): Notification {
  const { bankUid, bankId, webhookId, id, nowUs, traceparent } = request;
  return {
    key: id,
    bankUid,
    eventType: eventTypes.test,
    body: envelopeBytes({
      event: eventTypes.test,
      bankId,
      operationId: id,
      status: "completed",
      timestampUs: nowUs,
      data: { webhook_id: webhookId },
    }),
    traceparent,
  };
}
