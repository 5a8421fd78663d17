import type { Operation } from "@memory-bank/proto/common/v1/common";
import { instantText, instantTextOrNull } from "../instant-text.ts";
import { requireUuid } from "../request-parts.ts";

export function operationIdOf(text: string): string {
  return requireUuid(text, (given) => `Invalid operation_id format: ${given}`);
}

export function operationListItemFromProto(operation: Operation) {
  return {
    id: operation.id,
    task_type: operation.type,
    items_count: operation.itemsCount,
    document_id: operation.documentId ?? null,
    filename: null,
    mental_model_id: operation.mentalModelId ?? null,
    details: operation.details ?? null,
    created_at: instantText(operation.createdAtUs),
    updated_at: instantText(operation.updatedAtUs),
    status: operation.status,
    error_message: operation.errorMessage ?? null,
    retry_count: operation.retryCount,
    next_retry_at: instantTextOrNull(operation.nextRetryAtUs),
    progress: progressFromProto(operation.progress),
  };
}

/** What an operation was asked to do and what it did are one object here; the outcome wins where both name a member. */
export function operationFromProto(operation: Operation) {
  const isParent = operation.children.length > 0 || operation.details?.["is_parent"] === true;
  return {
    operation_id: operation.id,
    status: operation.status,
    operation_type: operation.type,
    created_at: instantText(operation.createdAtUs),
    updated_at: instantText(operation.updatedAtUs),
    completed_at: instantTextOrNull(operation.completedAtUs),
    error_message: operation.errorMessage ?? null,
    retry_count: operation.retryCount,
    next_retry_at: instantTextOrNull(operation.nextRetryAtUs),
    progress: progressFromProto(operation.progress),
    result_metadata: { ...operation.details, ...operation.result },
    child_operations: isParent
      ? operation.children.map((child) => ({
          operation_id: child.operationId,
          status: child.status,
          sub_batch_index: child.subBatchIndex,
          items_count: child.itemsCount,
          error_message: child.errorMessage ?? null,
        }))
      : null,
    ...(operation.payload && { task_payload: operation.payload }),
  };
}

/** The single read answers an unknown operation like a known one: clients poll it while a bank is being deleted. */
export function unknownOperation(operationId: string) {
  return {
    operation_id: operationId,
    status: "not_found",
    operation_type: null,
    created_at: null,
    updated_at: null,
    completed_at: null,
    error_message: null,
    retry_count: 0,
    next_retry_at: null,
    progress: null,
    result_metadata: null,
    child_operations: null,
  };
}

function progressFromProto(progress: Operation["progress"]) {
  if (!progress) return null;
  const { stage, atUs, processed, total } = progress;
  return { stage, at: instantText(atUs), processed, total };
}
