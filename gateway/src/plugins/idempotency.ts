import { type CallContext, systemContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import { systemTimers, type TimerHandle, type Timers } from "@memory-bank/lifecycle";
import { IdempotentOutcome } from "@memory-bank/proto/bank/v1/bank";
import { bearerKey } from "@memory-bank/rpc";
import type { Logger } from "@memory-bank/telemetry";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { takesIdempotencyKey } from "../audit/actions.ts";
import type { GatewayClients } from "../clients.ts";
import { type AnswerSeal, createAnswerSeal, type StoredAnswer } from "./idempotency-seal.ts";
import { jsonBody } from "./json-body.ts";

export interface IdempotencyDeps {
  readonly bank: Pick<GatewayClients["bankInternal"], "beginIdempotent" | "finishIdempotent">;
  readonly log: Logger;
  /** Microseconds since 1970. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  readonly timers?: Timers;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Present while this request alone may be carried out under its key. */
    claim: Claim | null;
  }
}

interface Claim {
  readonly tenantId: string;
  readonly keyHash: string;
  readonly requestHash: string;
  readonly holder: string;
  readonly seal: AnswerSeal;
  renewal: TimerHandle;
}

const HEADER = "idempotency-key";
const KEY_LENGTH_MAX = 255; // a UUID has 36
const saneKey = new RegExp(`^[\\x21-\\x7e]{1,${KEY_LENGTH_MAX}}$`);
/** A claim ends a minute after it was last made, so two renewals may fail. */
const RENEW_AFTER_MS = 20_000;
const CALL_MS_MAX = 5_000;
/** What bank keeps of one answer, sealed. */
const ANSWER_BYTES_MAX = 1024 * 1024 - 1024;

/**
 * Lets callers repeat a POST that creates something: under the same `Idempotency-Key` the same request is carried out once, and for
 * 24 hours its answer comes again, marked by `Idempotent-Replayed`. Another request under the key, and a second one while the
 * first is under way, are 409. Only success is kept: a call that failed may be repeated under its key. A key belongs to one API key and
 * one path. Must be registered after the audit, so that a replay leaves no second entry, and before the first route.
 */
export function registerIdempotency(app: FastifyInstance, deps: IdempotencyDeps): void {
  const { bank, log, nowUs, newId, timers = systemTimers } = deps;
  const context = (): CallContext => systemContext(newId(), Math.ceil(nowUs() / 1000) + CALL_MS_MAX);

  const begin = async (request: FastifyRequest, reply: FastifyReply) => {
    const claim = claimOf(request, newId);
    if (!claim) return;
    const { tenantId, keyHash, requestHash, holder, seal } = claim;
    const { outcome, answer } = await bank.beginIdempotent(context(), { tenantId, keyHash, requestHash, holder });
    if (outcome === IdempotentOutcome.CLAIMED) {
      request.claim = claim;
      keepUp(claim);
      return;
    }
    if (outcome === IdempotentOutcome.REPLAY) return replay(request, reply, seal.open(answer));
    if (outcome === IdempotentOutcome.RUNNING) throw stillRunning();
    throw otherRequest();
  };

  const keepUp = (claim: Claim) => {
    const { tenantId, keyHash, requestHash, holder } = claim;
    claim.renewal = timers.setTimeout(() => {
      keepUp(claim);
      bank.beginIdempotent(context(), { tenantId, keyHash, requestHash, holder }).catch((error: unknown) => {
        log.warn({ err: error }, "claim of an idempotent request could not be renewed");
      });
    }, RENEW_AFTER_MS);
  };

  const finish = async (request: FastifyRequest, answer: StoredAnswer | undefined) => {
    const { claim } = request;
    if (!claim) return;
    request.claim = null;
    timers.clearTimeout(claim.renewal);
    const { tenantId, keyHash, holder, seal } = claim;
    const sealed = answer && seal.close(answer);
    const kept = sealed && sealed.byteLength <= ANSWER_BYTES_MAX ? sealed : undefined;
    try {
      await bank.finishIdempotent(context(), { tenantId, keyHash, holder, answer: kept });
    } catch (error) {
      // The work is done or has failed, and the caller must learn which; the claim ends by itself.
      log.warn({ err: error, requestId: request.id }, "outcome of an idempotent request could not be kept");
    }
  };

  app.decorateRequest("claim", null);
  app.addHook("onRoute", (options) => {
    const { operation } = options.config ?? {};
    if (!operation || !takesIdempotencyKey(operation)) return;
    options.preHandler = [options.preHandler ?? [], begin].flat();
    options.preSerialization = [
      options.preSerialization ?? [],
      async (request: FastifyRequest, reply: FastifyReply, answer: unknown) => {
        // Before the answer leaves, so that whoever has got it can have it again.
        if (request.claim && reply.statusCode < 300) {
          await finish(request, { status: reply.statusCode, body: JSON.stringify(answer) });
        }
        return answer;
      },
    ].flat();
    options.onError = [options.onError ?? [], (request: FastifyRequest) => finish(request, undefined)].flat();
  });
}

function claimOf(request: FastifyRequest, newId: () => string): Claim | undefined {
  const key = request.headers[HEADER];
  const { principal } = request;
  const body = jsonBody(request);
  // What cannot be read is refused by the route, with all its faults.
  if (key === undefined || !principal || body.kind === "malformed") return undefined;
  if (typeof key !== "string" || !saneKey.test(key)) {
    const text = `Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} visible ASCII characters`;
    throw new AppError("invalid_argument", "INVALID_IDEMPOTENCY_KEY", text);
  }
  const [path = "", query = ""] = request.url.split("?", 2);
  const { tenantId, keyId } = principal;
  const seal = createAnswerSeal({
    scope: [tenantId, keyId, request.method, path, key],
    secret: bearerKey(request.headers.authorization) ?? "",
  });
  const requestHash = seal.hash([query, body.kind === "value" ? body.value : null]);
  return { tenantId, keyHash: seal.keyHash, requestHash, holder: newId(), seal, renewal: undefined };
}

function replay(request: FastifyRequest, reply: FastifyReply, { status, body }: StoredAnswer): FastifyReply {
  request.audited = null; // its entry was written when it was carried out
  return reply.code(status).header("idempotent-replayed", "true").type("application/json").send(body);
}

const stillRunning = () =>
  new AppError("conflict", "IDEMPOTENT_REQUEST_RUNNING", "A request with this Idempotency-Key is still being carried out");
const otherRequest = () =>
  new AppError("conflict", "IDEMPOTENCY_KEY_REUSED", "This Idempotency-Key was used for another request");
