import type { Principal } from "@memory-bank/context";
import { isAppError } from "@memory-bank/errors";
import type { AuditEntry } from "@memory-bank/proto/bank/v1/bank";
import type { ServedCall } from "@memory-bank/rpc";
import { type AuditQueue, cannotRecord, ENTRY_BYTES } from "./audit-queue.ts";
import { isMutation } from "./mutations.ts";
import { bounded, withoutSecrets } from "./redact.ts";
import { type RpcAction, rpcActionOf } from "./rpc-actions.ts";

export interface RpcAuditDeps {
  readonly queue: Pick<AuditQueue, "hasRoom" | "add">;
  /** Microseconds since 1970. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Keeps the text of memories in the log, also after they are forgotten. */
  readonly keepsText?: boolean;
}

/** For `serve`: records what direct callers do. */
export type RpcAudit = (call: ServedCall, work: () => Promise<unknown>) => Promise<unknown>;

interface Ended {
  readonly startedAtUs: number;
  readonly endedAtUs: number;
  readonly response?: unknown;
  readonly error?: unknown;
}

/**
 * Records every mutation, recall and reflect of a direct gRPC caller, with transport `system` and the method in `metadata.rpc`.
 * Calls of members of the mesh pass: whoever let their caller in has recorded them. While entries cannot be taken, mutations
 * are refused before they begin. Messages are cleaned after the answer was handed over, so that it waits for nothing.
 */
export function createRpcAudit(deps: RpcAuditDeps): RpcAudit {
  const { queue, nowUs } = deps;
  return async (call, work) => {
    const rpcAction = call.isDirect ? rpcActionOf(call.path) : undefined;
    const { principal } = call.ctx;
    if (!rpcAction || !principal) return work();
    if (isMutation(rpcAction.action) && !queue.hasRoom()) throw cannotRecord();
    const startedAtUs = nowUs();
    const record = (outcome: Pick<Ended, "response" | "error">) => {
      const ended = { ...outcome, startedAtUs, endedAtUs: nowUs() };
      setImmediate(() => {
        if (!isMutation(rpcAction.action) && !queue.hasRoom()) return;
        const { entry, bytes } = entryOf(deps, rpcAction, call, principal, ended);
        queue.add(entry, bytes);
      });
    };
    try {
      const response = await work();
      record({ response });
      return response;
    } catch (error) {
      if (!isRefusal(error)) record({ error });
      throw error;
    }
  };
}

/** Refused before any work was done, like a 401, 403 or 422: recording them would let anybody fill the log. */
function isRefusal(error: unknown): boolean {
  if (!isAppError(error)) return false;
  if (error.code === "unauthenticated" || error.code === "permission_denied") return true;
  return error.code === "invalid_argument" && error.violations.length > 0;
}

function entryOf(
  { newId, keepsText = false }: RpcAuditDeps,
  rpcAction: RpcAction,
  { path, request }: ServedCall,
  { tenantId, keyId }: Principal,
  { startedAtUs, endedAtUs, response, error }: Ended,
): { entry: AuditEntry; bytes: number } {
  const sent = plain(request) as Record<string, unknown>;
  const answered = response === undefined ? null : (plain(response) as Record<string, unknown>);
  const keptRequest = keepsText ? sent : (rpcAction.keptRequest?.(sent) ?? sent);
  const keptResponse = keepsText || answered === null ? answered : (rpcAction.keptResponse?.(answered) ?? answered);
  const [boundedRequest, boundedResponse] = [bounded(withoutSecrets(keptRequest)), bounded(withoutSecrets(keptResponse))];
  const { bankId } = sent;
  const entry: AuditEntry = {
    id: newId(),
    action: rpcAction.action,
    transport: "system",
    bankId: typeof bankId === "string" ? bankId : undefined,
    startedAtUs,
    endedAtUs,
    request: boundedRequest.value as AuditEntry["request"],
    response: boundedResponse.value ?? undefined,
    metadata: { rpc: path, api_key_id: keyId, ...(error !== undefined && { error: textOf(error) }) },
    tenantId,
  };
  return { entry, bytes: boundedRequest.bytes + boundedResponse.bytes + ENTRY_BYTES };
}

/** The text that the caller got. */
function textOf(error: unknown): string {
  return isAppError(error) && error.code !== "internal" ? error.message : "Internal server error";
}

/** A message as JSON: without members that are not set, and with bytes as base64. */
function plain(message: unknown): unknown {
  if (message instanceof Uint8Array) return Buffer.from(message).toString("base64");
  if (Array.isArray(message)) return message.map(plain);
  if (typeof message !== "object" || message === null) return message;
  const set = Object.entries(message).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([name, value]) => [name, plain(value)]));
}
