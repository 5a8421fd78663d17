import type { JsonObject } from "@memory-bank/jobs";
import type { Answer } from "../domain/answer.ts";
import type { RefreshFailureReason, RefreshOutcome } from "../domain/refresh-outcome.ts";

/** What a refresh came to, before it is saved. */
export type RefreshAttempt =
  | {
      readonly kind: "answered";
      readonly content: string;
      readonly answer: Answer;
      readonly outcome: RefreshOutcome;
      /** Members of the kept answer that tell how a delta went. */
      readonly extra: JsonObject;
    }
  /** Nothing in the scope changed. */
  | { readonly kind: "preserved" }
  | { readonly kind: "failed"; readonly reason: RefreshFailureReason };
