import type { SealedTarget } from "./webhook.ts";

/**
 * `completed` and `failed` are terminal until somebody asks for redelivery. There is no `cancelled` among them: what
 * cancels a delivery is the deletion of its webhook or bank, and that takes the whole history out of sight with it.
 */
export type DeliveryStatus = "pending" | "processing" | "completed" | "failed";

/** The record of one event on its way to one webhook. */
export interface Delivery {
  /** Also the `webhook-id` header, so it stays the same over retries and redeliveries. */
  readonly id: string;
  readonly webhookId: string;
  readonly target: SealedTarget;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  /** Tries made, of all rounds. */
  readonly attempts: number;
  /** When a waiting retry is due; `null` in every other state, and while the webhook is disabled. */
  readonly nextRetryAtUs: number | null;
  /** `null` after success. */
  readonly lastError: string | null;
  readonly lastResponseStatus: number | null;
  readonly lastResponseBody: string | null;
  readonly lastAttemptAtUs: number | null;
  /** Unique per webhook and rising in the order of queueing, whatever the clock does: it is the cursor of the history. */
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** Something to tell every webhook of a bank that listens to its type. */
export interface Notification {
  /** The same when the event is handled again; ids of deliveries derive from it. */
  readonly key: string;
  readonly bankUid: string;
  readonly eventType: string;
  /** What every attempt sends and signs, byte for byte. */
  readonly body: Uint8Array;
  /** W3C trace context of the work that is reported. */
  readonly traceparent: string | null;
}

/** The right to settle one attempt. It is lost when the delivery changes hands. */
export interface Claim {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly owner: string;
  readonly epoch: number;
}

/** A delivery that a worker holds, with what it needs for an attempt. */
export interface ClaimedDelivery {
  readonly claim: Claim;
  readonly target: SealedTarget;
  readonly eventType: string;
  readonly body: Uint8Array;
  readonly traceparent: string | null;
  /** Attempts of this round before this one. */
  readonly roundAttempts: number;
}

/** What an attempt came to. */
export type Settlement = {
  readonly lastResponseStatus: number | null;
  readonly lastResponseBody: string | null;
  readonly lastAttemptAtUs: number;
} & (
  | { readonly status: "completed" }
  | { readonly status: "failed"; readonly lastError: string }
  | { readonly status: "pending"; readonly lastError: string; readonly dueUs: number }
);
