import type { CallContext } from "@memory-bank/context";
import type { FastifyReply, FastifyRequest } from "fastify";

const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What every service call of a request carries. `nowUs` in microseconds; the deadline counts from it. */
export function callContext(request: FastifyRequest, reply: FastifyReply, nowUs: number, timeoutMs: number): CallContext {
  let signal: AbortSignal | undefined;
  const ctx: Writable<CallContext> = {
    requestId: request.id,
    transport: "http",
    deadlineMs: Math.floor(nowUs / 1000) + timeoutMs,
    // Most requests end before anybody asks, so the signal is made on demand.
    get signal() {
      signal ??= goneSignal(reply);
      return signal;
    },
  };
  if (request.principal) ctx.principal = request.principal;
  const traceparent = request.headers["traceparent"];
  if (typeof traceparent === "string" && traceparentForm.test(traceparent)) ctx.traceparent = traceparent;
  return ctx;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Aborts when the connection closes before the answer is written. The request itself "closes" as soon as its body is read. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply;
  const onClose = () => {
    if (!raw.writableFinished) controller.abort();
  };
  if (raw.destroyed) onClose();
  else raw.once("close", onClose);
  return controller.signal;
}
