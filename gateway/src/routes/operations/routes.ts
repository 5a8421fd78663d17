import type { CallContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import type { OperationRequest } from "@memory-bank/proto/common/v1/common";
import type { FastifyInstance } from "fastify";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { bool, pathId, str } from "../../validation/scalars.ts";
import { bankParams, bankUrl, boundedPage, filterText } from "../request-parts.ts";
import { operationFromProto, operationIdOf, operationListItemFromProto, unknownOperation } from "./convert.ts";
import { atOwner, listOperations, type OperationOwners } from "./merged-operations.ts";
import { operationChanged, operationList, operationStatus } from "./schemas.ts";

export function operationRoutes(app: FastifyInstance, owners: OperationOwners): void {
  const tag = "operations";
  const url = `${bankUrl}/operations` as const;
  const operationUrl = `${url}/{operation_id}` as const;
  const params = { ...bankParams, operation_id: pathId() };

  route(app, {
    method: "GET",
    url,
    operationId: "listOperations",
    summary: "List operations, newest first",
    tag,
    params: bankParams,
    query: {
      status: optional(str()),
      type: optional(str()),
      exclude_parents: optional(bool(), false),
      ...boundedPage(20, 100),
    },
    response: operationList,
    handler: async (ctx, { params: { bank_id: bankId }, query }) => {
      const status = filterText(query.status);
      const type = filterText(query.type);
      const { limit, offset } = query;
      const { operations, total } = await listOperations(owners, ctx, {
        bankId,
        ...(status !== undefined && { status }),
        ...(type !== undefined && { type }),
        excludeParents: query.exclude_parents,
        limit,
        offset,
      });
      return { bank_id: bankId, total, limit, offset, operations: operations.map(operationListItemFromProto) };
    },
  });

  route(app, {
    method: "GET",
    url: operationUrl,
    operationId: "getOperation",
    summary: "Read one operation",
    description: "An unknown operation is answered with the status `not_found`.",
    tag,
    params,
    query: { include_payload: optional(bool(), false) },
    response: operationStatus,
    errors: [400],
    handler: async (ctx, { params: { bank_id: bankId, operation_id }, query }) => {
      const operationId = operationIdOf(operation_id);
      const request = { bankId, operationId, includePayload: query.include_payload };
      try {
        return operationFromProto(await atOwner(owners, (owner) => owner.getOperation(ctx, request)));
      } catch (error) {
        if (isAppError(error) && error.code === "not_found") return unknownOperation(operationId);
        throw error;
      }
    },
  });

  const change = async (
    ctx: CallContext,
    { bank_id: bankId, operation_id }: { readonly bank_id: string; readonly operation_id: string },
    done: string,
    method: "cancelOperation" | "retryOperation" | "deleteOperation",
  ) => {
    const operationId = operationIdOf(operation_id);
    const request: OperationRequest = { bankId, operationId, includePayload: false };
    try {
      await atOwner(owners, (owner) => owner[method](ctx, request));
    } catch (error) {
      throw inOperationWords(error, operationId);
    }
    return { success: true, message: `Operation ${operationId} ${done}`, operation_id: operationId };
  };

  route(app, {
    method: "DELETE",
    url: operationUrl,
    operationId: "cancelOperation",
    summary: "Cancel a pending operation",
    tag,
    params,
    response: operationChanged,
    errors: [400, 404, 409],
    handler: (ctx, { params }) => change(ctx, params, "cancelled", "cancelOperation"),
  });

  route(app, {
    method: "POST",
    url: `${operationUrl}/retry`,
    operationId: "retryOperation",
    summary: "Queue a failed or cancelled operation again",
    tag,
    params,
    response: operationChanged,
    errors: [400, 404, 409],
    handler: (ctx, { params }) => change(ctx, params, "queued for retry", "retryOperation"),
  });

  route(app, {
    method: "DELETE",
    url: `${operationUrl}/delete`,
    operationId: "deleteOperation",
    summary: "Remove the record of a finished operation",
    tag,
    params,
    response: operationChanged,
    errors: [400, 404, 409],
    handler: (ctx, { params }) => change(ctx, params, "deleted", "deleteOperation"),
  });
}

/** Why an operation is not in the state that a change needs; the services know it as a job. */
const refusals: Readonly<Record<string, string>> = {
  JOB_NOT_PENDING: "cannot be cancelled: it is not pending",
  JOB_NOT_RETRYABLE: "cannot be retried: it is neither failed nor cancelled",
  JOB_ALREADY_PENDING: "cannot be retried: the same work is already pending",
  JOB_NOT_FINISHED: "cannot be deleted: it has not finished",
};

function inOperationWords(error: unknown, operationId: string): unknown {
  const refusal = isAppError(error) ? refusals[error.reason] : undefined;
  if (refusal === undefined || !isAppError(error)) return error;
  return new AppError(error.code, error.reason, `Operation ${operationId} ${refusal}`, { cause: error });
}
