import type { Claim, ClaimedDelivery, Delivery, Notification, Settlement } from "./domain/delivery.ts";
import type { SealedTarget, Webhook } from "./domain/webhook.ts";

export interface DeliveryQuery {
  readonly bankUid: string;
  readonly webhookId: string;
  /** 1 to `DELIVERY_PAGE_MAX`. */
  readonly limit: number;
  /** Only deliveries queued strictly before this instant. */
  readonly beforeUs?: number;
}

export interface DeliveryPage {
  /** Newest first. */
  readonly deliveries: readonly Delivery[];
  /** `beforeUs` of the next page; `null` when this is the last one. */
  readonly nextBeforeUs: number | null;
}

export interface EnqueueTime {
  /** For `createdAtUs`. */
  readonly nowUs: number;
  /** When the deliveries are due, on the clock that due times are judged by. */
  readonly dueUs: number;
}

export interface Enqueued {
  /** New deliveries; those that were there already do not count. */
  readonly created: number;
  /** The webhooks that got them. */
  readonly webhookIds: readonly string[];
}

export interface Redelivery extends EnqueueTime {
  readonly bankUid: string;
  readonly webhookId: string;
}

/** A position in the list of webhooks with due deliveries. */
export interface DueLane {
  readonly webhookId: string;
  readonly dueUs: number;
}

export interface ClaimRequest {
  /** Who takes them; a new one for every start of every process. */
  readonly owner: string;
  readonly nowUs: number;
  /** Deliveries due at or before this instant may be taken. */
  readonly dueUs: number;
  readonly lanes: readonly { readonly webhookId: string; readonly limit: number }[];
}

/** A worker process and how often it has shown that it lives. */
export interface Owner {
  readonly owner: string;
  readonly beat: number;
}

export const DELIVERY_PAGE_MAX = 1_000;
/** Deliveries that one transaction adds, deletes or changes, so that it holds up others for some ten milliseconds at most. */
export const CHANGES_PER_TRANSACTION_MAX = 1_000;
export const DUE_LANES_MAX = 512;

/**
 * Webhooks and their deliveries.
 *
 * Everything is kept per incarnation of a bank; a webhook is only found with the `bankUid` that it was made with. From
 * `fence` on nothing of that bank is found, listed or claimed, and writes are `not_found`. Ids compare byte for byte.
 * Writes are durable when they resolve. Each call is atomic unless it says otherwise.
 */
export interface WebhookStore {
  /**
   * Adds a webhook. `resource_exhausted` (TOO_MANY_WEBHOOKS) beyond `WEBHOOKS_PER_BANK_MAX`, `not_found` (BANK_NOT_FOUND)
   * when the bank is fenced.
   */
  insert(webhook: Webhook): Promise<void>;
  find(bankUid: string, webhookId: string): Promise<Webhook | undefined>;
  /** By `createdAtUs`, then by id. */
  list(bankUid: string): Promise<readonly Webhook[]>;
  /**
   * Replaces a webhook by what `change` makes of it, or throws `not_found` (WEBHOOK_NOT_FOUND). `change` may run again when
   * another writer came between, and what it throws is passed on. Deliveries that are queued keep their target.
   */
  update(bankUid: string, webhookId: string, change: (webhook: Webhook) => Webhook): Promise<Webhook>;
  /** Takes a webhook and its whole history out of sight and cancels its pending deliveries; `sweep` deletes the rows. `not_found` as above. */
  remove(bankUid: string, webhookId: string): Promise<void>;
  /**
   * Writes what `change` makes of the operator's webhook (`SERVER_WEBHOOK_ID` of bank `SERVER_BANK_UID`), which gets the
   * notifications of every bank; `undefined` leaves it as it is.
   */
  setServerWebhook(change: (current: Webhook | undefined) => Webhook | undefined): Promise<void>;

  /**
   * Adds a delivery of each notification for each webhook of its bank that is enabled and listens to its type, with the
   * webhook's current target. A delivery that exists is left as it is, so calling again after a crash completes what is
   * missing. Atomic per notification. Notifications of a fenced bank add nothing.
   */
  enqueue(notifications: readonly Notification[], time: EnqueueTime): Promise<Enqueued>;
  /** Adds a delivery for one webhook, whatever types it listens to; 0 when it is disabled. `not_found` as for `update`. */
  enqueueFor(bankUid: string, webhookId: string, notification: Notification, time: EnqueueTime): Promise<number>;

  /** `not_found` (WEBHOOK_NOT_FOUND) when there is no such webhook. */
  listDeliveries(query: DeliveryQuery): Promise<DeliveryPage>;
  /**
   * Starts a new round of a delivery: pending, due now, with the webhook's current target and no failures behind it. Answers
   * 0 while an attempt runs. `not_found`: WEBHOOK_NOT_FOUND or DELIVERY_NOT_FOUND.
   */
  redeliver(delivery: Redelivery & { readonly deliveryId: string }): Promise<number>;
  /** Does the same to failed deliveries queued at or after `sinceUs`, a bounded number, oldest first. Call it until it answers 0. */
  redeliverFailed(deliveries: Redelivery & { readonly sinceUs: number }): Promise<number>;

  /**
   * Webhooks with deliveries due at or before `dueUs` that may be sent now, by due time and id, after `after`; at most
   * `DUE_LANES_MAX`.
   */
  dueLanes(dueUs: number, after: DueLane | null): Promise<readonly DueLane[]>;
  /** The first due time after `dueUs` among deliveries that may be sent then, or `null`. */
  nextDueUs(dueUs: number): Promise<number | null>;
  /** Takes due deliveries of the given webhooks, the longest due first, and registers the owner as alive. */
  claim(request: ClaimRequest): Promise<readonly ClaimedDelivery[]>;
  /** Records an attempt and counts it. Answers false, and writes nothing, when the claim is lost. */
  settle(claim: Claim, settlement: Settlement): Promise<boolean>;
  /** Gives a delivery back as it was before the claim: pending, due at `dueUs`, not counted as an attempt. False as above. */
  release(claim: Claim, dueUs: number): Promise<boolean>;
  /** Shows that the owner lives. */
  beat(owner: string): Promise<void>;
  listOwners(): Promise<readonly Owner[]>;
  /** Gives back everything that the owner holds, if its beat is still this one, and forgets it. Answers how many there were. */
  releaseOwner(owner: Owner, dueUs: number): Promise<number>;

  /** Hides a dead bank for good; answers how many of its webhooks this call hid. */
  fence(bankUid: string, nowUs: number): Promise<number>;
  /** Deletes a bounded part of a fenced bank; true when nothing is left. */
  purge(bankUid: string): Promise<boolean>;
  /**
   * Deletes a bounded number of rows that nobody can see any more: of removed webhooks, of deliveries that ended before
   * `finishedBeforeUs`, and of targets that no delivery names. Answers how many; call it until it answers 0.
   */
  sweep(finishedBeforeUs: number): Promise<number>;

  /** Targets that are not encrypted with this key, a bounded number. */
  targetsNotUnder(keyId: string): Promise<readonly SealedTarget[]>;
  /** Replaces a target by the same content under another key. */
  reseal(target: SealedTarget): Promise<void>;

  /** Throws `unavailable` when the store cannot answer. */
  ping(): Promise<void>;
}
