/** Requests that must not be carried out twice: who is carrying one out, and how it was answered. */
export interface IdempotencyStore {
  /**
   * Claims the key for `holder` until `nowUs + CLAIM_US`, or tells how it stands. Of any number of holders at once exactly one
   * gets `claimed`. A claim that has ended is as if it never was, and so is an answer older than `ANSWER_US`. The holder of a claim
   * claims again to keep it. Durable when it answers.
   */
  begin(claim: IdempotentClaim): Promise<IdempotentStanding>;
  /**
   * Keeps the answer, or with `null` forgets the key. Changes nothing, and answers false, when the claim is not the holder's any
   * more. At most `ANSWER_BYTES_MAX`.
   */
  finish(end: IdempotentEnd): Promise<boolean>;
  /** Deletes at most `IDEMPOTENCY_SWEEP_MAX` keys that have ended; answers how many. */
  deleteEnded(nowUs: number): Promise<number>;
}

export interface IdempotentClaim {
  readonly tenantId: string;
  readonly keyHash: string;
  readonly requestHash: string;
  readonly holder: string;
  readonly nowUs: number;
}

export interface IdempotentEnd extends Pick<IdempotentClaim, "tenantId" | "keyHash" | "holder" | "nowUs"> {
  readonly answer: Uint8Array | null;
}

export type IdempotentStanding =
  | { readonly outcome: "claimed" | "running" | "other_request" }
  | { readonly outcome: "replay"; readonly answer: Uint8Array };

/** Several times as long as a holder waits before it claims again, so that only a dead one loses its claim. */
export const CLAIM_US = 60_000_000;
export const ANSWER_US = 24 * 3_600_000_000; // the public contract's 24 hours
export const ANSWER_BYTES_MAX = 1024 * 1024; // several times the largest answer of a call that creates something
export const IDEMPOTENCY_SWEEP_MAX = 1_000; // one write holds up the others of the file
