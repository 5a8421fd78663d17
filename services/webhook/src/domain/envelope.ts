/** The public events. `webhook.test` goes to one webhook on request, whatever types it listens to. */
export const eventTypes = {
  consolidationCompleted: "consolidation.completed",
  retainCompleted: "retain.completed",
  test: "webhook.test",
} as const;

/** What a receiver is told. */
export interface Envelope {
  readonly event: string;
  readonly bankId: string;
  readonly operationId: string;
  readonly status: string;
  readonly timestampUs: number;
  /** Members without a value are left out. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * The bytes of an envelope. They are made once, when the event is queued: signatures are over these bytes, and every
 * attempt sends these bytes, so no later change of a serialiser can break a signature.
 */
export function envelopeBytes(envelope: Envelope): Uint8Array {
  const { event, bankId, operationId, status, timestampUs, data } = envelope;
  const text = JSON.stringify({
    event,
    bank_id: bankId,
    operation_id: operationId,
    status,
    timestamp: instantText(timestampUs),
    data,
  });
  return new TextEncoder().encode(text);
}

/** UTC with six fractional digits and `Z`, as everywhere in the public contract. */
export function instantText(us: number): string {
  const seconds = Math.floor(us / 1_000_000);
  const fraction = us - seconds * 1_000_000;
  return `${new Date(seconds * 1_000).toISOString().slice(0, -5)}.${String(fraction).padStart(6, "0")}Z`;
}
