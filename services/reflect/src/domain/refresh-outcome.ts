/** How a refresh ended well. */
export type RefreshOutcome = "content_written" | "content_unchanged" | "content_preserved_no_new_facts";

/** Why a refresh kept the content and failed, by the outcome that its operation shows. */
export const failureOutcomes = {
  empty_candidate: "refresh_failed_empty_candidate",
  structured_doc_unreadable: "refresh_failed_delta_not_applied",
  delta_ops_failed: "refresh_failed_delta_not_applied",
  delta_ops_all_skipped: "refresh_failed_delta_not_applied",
  delta_not_applied: "refresh_failed_delta_not_applied",
  structured_output_failed: "refresh_failed_structured_output",
} as const;
export type RefreshFailureReason = keyof typeof failureOutcomes;

/** What the operation's record says about a failure. */
export const failureTexts: Readonly<Record<RefreshFailureReason, string>> = {
  empty_candidate: "The refresh produced no text; the content was kept",
  structured_doc_unreadable: "The content cannot be read as sections and blocks; it was kept",
  delta_ops_failed: "The model proposed no readable changes; the content was kept",
  delta_ops_all_skipped: "None of the proposed changes could be applied; the content was kept",
  delta_not_applied: "The proposed changes would have emptied the content; it was kept",
  structured_output_failed: "The answer could not be brought into the response schema; the content was kept",
};
