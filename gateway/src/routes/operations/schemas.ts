import { Type } from "typebox";
import { component } from "../../validation/schema.ts";
import { anyObject, count, instant, instantOrNull, orNull, textOrNull } from "../answer-parts.ts";

const progress = orNull(
  Type.Object({
    stage: Type.String(),
    at: instant,
    processed: Type.Integer(),
    total: Type.Integer(),
  }),
);

export const operationList = Type.Object({
  bank_id: Type.String(),
  total: count,
  limit: count,
  offset: count,
  operations: Type.Array(
    component(
      "OperationListItem",
      Type.Object({
        id: Type.String(),
        task_type: Type.String(),
        items_count: count,
        document_id: textOrNull,
        filename: textOrNull,
        mental_model_id: textOrNull,
        details: orNull(anyObject),
        created_at: instant,
        updated_at: instant,
        status: Type.String(),
        error_message: textOrNull,
        retry_count: count,
        next_retry_at: instantOrNull,
        progress,
      }),
    ),
  ),
});

export const operationStatus = component(
  "OperationStatus",
  Type.Object({
    operation_id: Type.String(),
    status: Type.String({ description: "pending, processing, completed, failed, cancelled or not_found" }),
    operation_type: textOrNull,
    created_at: instantOrNull,
    updated_at: instantOrNull,
    completed_at: instantOrNull,
    error_message: textOrNull,
    retry_count: count,
    next_retry_at: instantOrNull,
    progress,
    result_metadata: orNull(anyObject),
    child_operations: orNull(
      Type.Array(
        Type.Object({
          operation_id: Type.String(),
          status: Type.String(),
          sub_batch_index: Type.Integer(),
          items_count: count,
          error_message: textOrNull,
        }),
      ),
    ),
    task_payload: Type.Optional(orNull(anyObject)),
  }),
);

export const operationChanged = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  operation_id: Type.String(),
});
