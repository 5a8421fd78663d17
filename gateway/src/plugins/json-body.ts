import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type JsonText, parseJson } from "../validation/json-text.ts";

/** Larger bodies are refused before they are read; enough for several books of text in one call. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads every body as JSON, whatever its content type says. What is wrong with it is not an error here but a fault that
 * the route reports together with those of path and query.
 */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, bytes, done) => {
    done(null, parseJson(bytes as Buffer));
  });
  app.addHook("onRequest", (request, _reply, done) => {
    // Fastify chooses the parser by this header, and answers 415 on its own when the header is malformed.
    request.raw.headers["content-type"] = "application/json";
    done();
  });
  app.addHook("onSend", async (request, reply, payload) => {
    if (reply.statusCode === 413 && !request.raw.complete) await discardRest(request.raw);
    return payload;
  });
}

/** What is read of a refused body, so that a client that is still writing gets to see the refusal instead of a broken pipe. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
const DISCARD_MS_MAX = 5_000;

function discardRest(body: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, DISCARD_MS_MAX);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    body.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DISCARDED_BYTES_MAX) stop();
    });
    for (const event of ["end", "close", "error"]) body.once(event, stop);
    body.resume();
  });
}

/** What the caller sent as body. */
export function jsonBody(request: FastifyRequest): JsonText {
  return (request.body as JsonText | undefined) ?? noBody;
}

const noBody: JsonText = { kind: "empty" };
