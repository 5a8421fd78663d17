import type { CallContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import type { Job, JobStore } from "@memory-bank/jobs";
import type { OperationRequest } from "@memory-bank/proto/common/v1/common";
import type { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { operationToProto } from "../convert.ts";
import { findBank, type MemoryDeps } from "../memory-deps.ts";

type Operations = Pick<
  Rpc<typeof MemoryServiceService>,
  "listOperations" | "getOperation" | "cancelOperation" | "retryOperation" | "deleteOperation"
>;

/** This service's operations of a bank: its jobs, as the public sees them. */
export const operationHandlers = (deps: MemoryDeps): Operations => {
  const change = async (
    ctx: CallContext,
    request: OperationRequest,
    action: (jobs: JobStore, bankUid: string) => Promise<unknown>,
  ) => {
    const bank = await findBank(deps, ctx, request.bankId);
    if (!bank) throw notFound(request);
    await action(deps.jobs, bank.bankUid).catch((error) => {
      throw isAppError(error, "JOB_NOT_FOUND") ? notFound(request) : error;
    });
    deps.wake();
    return {};
  };
  return {
    async listOperations(ctx, { bankId, status, type, excludeParents, limit, offset }) {
      const bank = await findBank(deps, ctx, bankId);
      if (!bank) return { operations: [], total: 0 };
      const { items, total } = await deps.jobs.list({
        groupKey: bank.bankUid,
        ...(status === undefined ? {} : { status: status as Job["status"] }),
        ...(type === undefined ? {} : { kind: type }),
        excludeParents,
        limit,
        offset,
      });
      return { operations: items.map((job) => operationToProto(job)), total };
    },

    async getOperation(ctx, request) {
      const bank = await findBank(deps, ctx, request.bankId);
      const job = bank && (await deps.jobs.find(request.operationId));
      if (!job || job.groupKey !== bank.bankUid) throw notFound(request);
      return operationToProto(
        job,
        job.isParent ? await deps.jobs.children(job.id) : [],
        request.includePayload ? job.payload : undefined,
      );
    },

    cancelOperation: (ctx, request) => change(ctx, request, (jobs, bankUid) => jobs.cancel(bankUid, request.operationId)),
    retryOperation: (ctx, request) => change(ctx, request, (jobs, bankUid) => jobs.requeue(bankUid, request.operationId)),
    deleteOperation: (ctx, request) => change(ctx, request, (jobs, bankUid) => jobs.remove(bankUid, request.operationId)),
  };
};

const notFound = ({ operationId, bankId }: OperationRequest) =>
  new AppError("not_found", "OPERATION_NOT_FOUND", `Operation ${operationId} not found for bank ${bankId}`);
