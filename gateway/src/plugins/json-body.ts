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
}

/** What the caller sent as body. */
export function jsonBody(request: FastifyRequest): JsonText {
  return (request.body as JsonText | undefined) ?? noBody;
}

const noBody: JsonText = { kind: "empty" };
