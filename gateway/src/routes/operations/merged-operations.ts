import type { CallContext } from "@memory-bank/context";
import { isAppError } from "@memory-bank/errors";
import type { ListOperationsRequest, Operation } from "@memory-bank/proto/common/v1/common";
import type { GatewayClients } from "../../clients.ts";

type OperationMethods = "listOperations" | "getOperation" | "cancelOperation" | "retryOperation" | "deleteOperation";

export interface OperationOwners {
  readonly memory: Pick<GatewayClients["memory"], OperationMethods>;
  readonly reflect: Pick<GatewayClients["reflect"], OperationMethods>;
}
type Owner = OperationOwners["memory"] | OperationOwners["reflect"];

const OWNER_PAGE_MAX = 500; // what one owner is asked for at once: about 200 KB

/**
 * A page over the operations of both owners, newest first, ties by descending id. An owner cannot know what the other one
 * has before the page, so everything up to the end of the page is read: a deep page costs as much as all pages before it.
 */
export async function listOperations(
  { memory, reflect }: OperationOwners,
  ctx: CallContext,
  request: ListOperationsRequest,
): Promise<{ readonly operations: readonly Operation[]; readonly total: number }> {
  const [ofMemory, ofReflect] = await Promise.all([firstOf(memory, ctx, request), firstOf(reflect, ctx, request)]);
  const merged = [...ofMemory.operations, ...ofReflect.operations].sort(newestFirst);
  const { offset, limit } = request;
  return { operations: merged.slice(offset, offset + limit), total: ofMemory.total + ofReflect.total };
}

async function firstOf(owner: Owner, ctx: CallContext, request: ListOperationsRequest) {
  const wanted = request.offset + request.limit;
  const operations: Operation[] = [];
  for (;;) {
    const limit = Math.min(wanted - operations.length, OWNER_PAGE_MAX);
    const page = await owner.listOperations(ctx, { ...request, offset: operations.length, limit });
    operations.push(...page.operations);
    if (page.operations.length === 0 || operations.length >= Math.min(wanted, page.total)) {
      return { operations, total: page.total };
    }
  }
}

function newestFirst(a: Operation, b: Operation): number {
  if (a.createdAtUs !== b.createdAtUs) return b.createdAtUs - a.createdAtUs;
  return a.id < b.id ? 1 : -1;
}

/** Asks the owner of an operation; `not_found` when neither has it. Only the owner knows whose an id is. */
export async function atOwner<T>({ memory, reflect }: OperationOwners, ask: (owner: Owner) => Promise<T>): Promise<T> {
  try {
    return await ask(memory);
  } catch (error) {
    if (!isAppError(error) || error.code !== "not_found") throw error;
    return ask(reflect);
  }
}
