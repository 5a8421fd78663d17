import { isMutation } from "@memory-bank/audit";

/**
 * What each audited operation is called in the audit log, by operation id. An operation that is not here only reads, and leaves
 * no entry.
 */
export const auditActions: Readonly<Record<string, string>> = {
  putBank: "create_bank",
  patchBank: "update_bank",
  putBankProfile: "update_bank",
  addBankBackground: "update_bank",
  deleteBank: "delete_bank",
  patchBankConfig: "update_bank_config",
  resetBankConfig: "reset_bank_config",

  retainMemories: "retain",
  recallMemories: "recall",
  reflect: "reflect",
  updateMemory: "update_memory",
  clearMemories: "clear_memories",
  clearMemoryObservations: "clear_memory_observations",
  clearObservations: "clear_observations",
  consolidate: "consolidation",
  recoverConsolidation: "recover_consolidation",

  createMentalModel: "create_mental_model",
  updateMentalModel: "update_mental_model",
  deleteMentalModel: "delete_mental_model",
  refreshMentalModel: "refresh_mental_model",
  clearMentalModel: "clear_mental_model",

  createDirective: "create_directive",
  updateDirective: "update_directive",
  deleteDirective: "delete_directive",

  createWebhook: "create_webhook",
  updateWebhook: "update_webhook",
  deleteWebhook: "delete_webhook",
  redeliverWebhookDelivery: "redeliver_webhook",
  redeliverFailedWebhookDeliveries: "redeliver_webhook",
  testWebhook: "test_webhook",

  updateDocument: "update_document",
  deleteDocument: "delete_document",
  reprocessDocument: "reprocess_document",

  cancelOperation: "cancel_operation",
  retryOperation: "retry_operation",
  deleteOperation: "delete_operation",

  // These belong to no bank: their entries are the tenant's.
  createApiKey: "create_api_key",
  createScopedApiKey: "create_scoped_api_key",
  revokeApiKey: "revoke_api_key",
  revokeScopedApiKey: "revoke_api_key",
};

/** True for a POST that changes something: the one method whose repetition by a caller without an answer would do it twice. */
export function takesIdempotencyKey({ method, operationId }: { readonly method: string; readonly operationId: string }): boolean {
  const action = auditActions[operationId];
  return method === "POST" && action !== undefined && isMutation(action);
}
