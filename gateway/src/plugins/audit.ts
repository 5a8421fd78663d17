import { type AuditQueue, bounded, cannotRecord, ENTRY_BYTES, isMutation, isObject, withoutSecrets } from "@memory-bank/audit";
import type { AuditEntry } from "@memory-bank/proto/bank/v1/bank";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { auditActions } from "../audit/actions.ts";
import { keptRequest, keptResponse } from "../audit/kept-bodies.ts";
import { answerOf } from "./error-body.ts";
import { jsonBody } from "./json-body.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Present once an audited operation may begin. */
    audited: AuditedCall | null;
  }
}

interface AuditedCall {
  readonly startedAtUs: number;
  /** The answer of a call that succeeded. */
  answer?: unknown;
  /** What a failed call threw. */
  error?: unknown;
}

export interface AuditDeps {
  readonly queue: AuditQueue;
  /** Microseconds since 1970. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Keeps the text of memories in the log, also after they are forgotten. */
  readonly keepsText?: boolean;
}

/** Refused before any work was done; they would let anybody fill the log. */
const unrecordedStatuses = new Set([401, 403, 422]);

/**
 * Records every call of an operation that has an action in the table. Must be registered before the first route. Bodies are cut and
 * cleaned after the answer was written, so that an answer waits for nothing.
 */
export function registerAudit(app: FastifyInstance, deps: AuditDeps): void {
  const { queue, nowUs } = deps;
  app.decorateRequest("audited", null);
  app.addHook("onRoute", (options) => {
    const action = auditActions[options.config?.operation?.operationId ?? ""];
    if (action === undefined) return;
    const begin = async (request: FastifyRequest) => {
      if (isMutation(action) && !queue.hasRoom()) throw cannotRecord();
      request.audited = { startedAtUs: nowUs() };
    };
    const keepAnswer = async (request: FastifyRequest, _reply: FastifyReply, answer: unknown) => {
      if (request.audited) request.audited.answer = answer;
      return answer;
    };
    const keepError = async (request: FastifyRequest, _reply: FastifyReply, error: unknown) => {
      if (request.audited) request.audited.error = error;
    };
    const end = async (request: FastifyRequest, { statusCode }: FastifyReply) => {
      const { audited } = request;
      request.audited = null;
      if (!audited || unrecordedStatuses.has(statusCode)) return;
      const endedAtUs = nowUs();
      setImmediate(() => {
        if (!isMutation(action) && !queue.hasRoom()) return;
        const { entry, bytes } = entryOf(deps, action, request, statusCode, { ...audited, endedAtUs });
        queue.add(entry, bytes);
      });
    };
    // After the key was verified, and after the hooks of all routes: what comes later sees the answer as it was made.
    options.onRequest = [options.onRequest ?? [], begin].flat();
    options.preSerialization = [options.preSerialization ?? [], keepAnswer].flat();
    options.onError = [options.onError ?? [], keepError].flat();
    options.onSend = [options.onSend ?? [], end].flat();
  });
  app.addHook("onClose", async () => {
    // Entries of the last answers are made in the turn after them.
    await new Promise<void>((done) => setImmediate(done));
    await queue[Symbol.asyncDispose]();
  });
}

function entryOf(
  { newId, keepsText = false }: AuditDeps,
  action: string,
  request: FastifyRequest,
  statusCode: number,
  { startedAtUs, endedAtUs, answer, error }: AuditedCall & { readonly endedAtUs: number },
): { entry: AuditEntry; bytes: number } {
  const body = jsonBody(request);
  const sent = body.kind === "value" ? body.value : null;
  const answered = statusCode < 400 ? (answer ?? null) : null;
  const keptBody = bounded(withoutSecrets(keepsText ? sent : keptRequest(action, sent)));
  const keptAnswer = bounded(withoutSecrets(keepsText ? answered : keptResponse(action, answered)));
  const params = request.params as { bank_id?: string };
  const { principal } = request;
  const entry: AuditEntry = {
    id: newId(),
    action,
    transport: "http",
    bankId: params.bank_id,
    startedAtUs,
    endedAtUs,
    // An operation that reads no body may be sent anything; the log has room for objects.
    request: isObject(keptBody.value) ? keptBody.value : undefined,
    response: keptAnswer.value ?? undefined,
    metadata: {
      status_code: statusCode,
      ...(error !== undefined && { error: textOf(error) }),
      ...(principal && { api_key_id: principal.keyId }),
      ...(Object.keys(params).length > 0 && { path: { ...params } }),
    },
    tenantId: principal?.tenantId ?? "",
  };
  return { entry, bytes: keptBody.bytes + keptAnswer.bytes + ENTRY_BYTES };
}

/** The text that the caller got. */
function textOf(error: unknown): string {
  return String((JSON.parse(answerOf(error).body) as { detail: unknown }).detail);
}
