import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

const REQUEST_ID_LENGTH_MAX = 128; // a UUID has 36; traces of other systems use up to about 100
const saneRequestId = new RegExp(`^[\\x21-\\x7e]{1,${REQUEST_ID_LENGTH_MAX}}$`);

/** The caller's request id when it is fit for logs and headers, otherwise a new one. Given to Fastify as `genReqId`. */
export function requestIdOf(request: IncomingMessage, newId: () => string): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && saneRequestId.test(given) ? given : newId();
}

/** Puts `X-Request-Id` on every response. */
export function registerRequestId(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
}
