/** How a notification is sent. */
export interface HttpConfig {
  readonly method: "POST" | "GET";
  /** For the whole exchange, 1 to 300. */
  readonly timeoutSeconds: number;
  /** Merged over the headers that every notification carries. */
  readonly headers: Readonly<Record<string, string>>;
  /** Appended to the query. */
  readonly params: Readonly<Record<string, string>>;
}

/** A secret that was replaced and still signs beside the new one for a while. */
export interface RetiredSecret {
  readonly secret: string;
  readonly untilUs: number;
}

/**
 * Where and how notifications go. A target never changes: an edit of the webhook makes a new one, and each delivery
 * names the target that was current when it was queued. That is the snapshot that the contract asks for, without a copy
 * of secrets in every delivery.
 */
export interface Target {
  readonly url: string;
  readonly secret: string | null;
  readonly retiredSecrets: readonly RetiredSecret[];
  readonly httpConfig: HttpConfig;
}

/** A target as it is stored: its content is encrypted, for url and headers may hold credentials as well as the secret. */
export interface SealedTarget {
  readonly id: string;
  /** Names the key that it is encrypted with. */
  readonly keyId: string;
  readonly sealed: Uint8Array;
}

/** A receiver of one bank's events. */
export interface Webhook {
  readonly id: string;
  /** The incarnation of the bank. */
  readonly bankUid: string;
  readonly bankId: string;
  /** Unknown types are allowed and never fire. */
  readonly eventTypes: readonly string[];
  readonly isEnabled: boolean;
  readonly target: SealedTarget;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** The operator's own webhook, which hears the events of every bank. Its deliveries are no bank's to list. */
export const SERVER_WEBHOOK_ID = "server";
/** Stands for every bank; no bank has an empty uid. */
export const SERVER_BANK_UID = "";

/** A bank's webhooks are listed in one answer and matched against every event of the bank. */
export const WEBHOOKS_PER_BANK_MAX = 1_000;
