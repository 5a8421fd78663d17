import type { CallContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import type { Job, JobStore } from "@memory-bank/jobs";
import type { OperationRequest } from "@memory-bank/proto/common/v1/common";
import type { ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import type { Rpc } from "@memory-bank/rpc";
import { operationToProto } from "../convert.ts";
import { type ReflectDeps, readBank } from "../reflect-deps.ts";

type Operations = Pick<
  Rpc<typeof ReflectServiceService>,
  "countOperations" | "listOperations" | "getOperation" | "cancelOperation" | "retryOperation" | "deleteOperation"
>;

/** This service's operations of a bank: its refreshes, as the public sees them. */
export const operationHandlers = (deps: ReflectDeps): Operations => {
  const change = async (
    ctx: CallContext,
    request: OperationRequest,
    action: (jobs: JobStore, bankUid: string) => Promise<unknown>,
  ) => {
    const { bankUid } = await readBank(deps, ctx, request.bankId);
    await action(deps.jobs, bankUid).catch((error) => {
      throw isAppError(error, "JOB_NOT_FOUND") ? notFound(request) : error;
    });
    deps.wake();
    return {};
  };
  return {
    async countOperations(ctx, { bankId }) {
      const { bankUid } = await readBank(deps, ctx, bankId);
      const counts = Object.entries(await deps.jobs.countByStatus(bankUid));
      return { byStatus: Object.fromEntries(counts.filter(([, count]) => count > 0)) };
    },

    async listOperations(ctx, { bankId, status, type, excludeParents, limit, offset }) {
      const { bankUid } = await readBank(deps, ctx, bankId);
      const { items, total } = await deps.jobs.list({
        groupKey: bankUid,
        ...(status === undefined ? {} : { status: status as Job["status"] }),
        ...(type === undefined ? {} : { kind: type }),
        excludeParents,
        limit,
        offset,
      });
      return { operations: items.map((job) => operationToProto(job)), total };
    },

    async getOperation(ctx, request) {
      const { bankUid } = await readBank(deps, ctx, request.bankId);
      const job = await deps.jobs.find(request.operationId);
      if (!job || job.groupKey !== bankUid) throw notFound(request);
      return operationToProto(job, request.includePayload ? job.payload : undefined);
    },

    cancelOperation: (ctx, request) => change(ctx, request, (jobs, bankUid) => jobs.cancel(bankUid, request.operationId)),
    retryOperation: (ctx, request) => change(ctx, request, (jobs, bankUid) => jobs.requeue(bankUid, request.operationId)),
    deleteOperation: (ctx, request) => change(ctx, request, (jobs, bankUid) => jobs.remove(bankUid, request.operationId)),
  };
};

const notFound = ({ operationId, bankId }: OperationRequest) =>
  new AppError("not_found", "OPERATION_NOT_FOUND", `Operation ${operationId} not found for bank ${bankId}`);
