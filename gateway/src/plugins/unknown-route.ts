import type { FastifyInstance } from "fastify";
import { plainAnswer, send } from "./error-body.ts";

interface KnownPath {
  /** Text to match, or `undefined` for a parameter. */
  readonly segments: readonly (string | undefined)[];
  readonly methods: Set<string>;
}

/**
 * Answers 404 and 405 as the first step of a request, before its key is looked at: neither depends on who calls. Must be
 * registered before the first route, since it learns the routes while they are added.
 */
export function registerUnknownRoute(app: FastifyInstance): void {
  const known = new Map<string, KnownPath>();
  app.addHook("onRoute", ({ url, method }) => {
    const path = known.get(url) ?? { segments: segmentsOf(url), methods: new Set() };
    for (const one of [method].flat()) path.methods.add(one);
    known.set(url, path);
  });
  app.addHook("onRequest", (request, reply, done) => {
    const path = pathOf(request.url);
    // The router lets a parameter match nothing, which would make `/x/` the same as `/x/{id}` with an empty id.
    const endsInSlash = path.length > 1 && path.endsWith("/");
    if (!request.is404 && !endsInSlash) return done();
    const methods = endsInSlash ? [] : methodsOf(known, path);
    if (methods.length === 0) return send(reply, plainAnswer(404, "Not Found"));
    send(reply, plainAnswer(405, "Method Not Allowed", { allow: methods.join(", ") }));
  });
}

function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

function segmentsOf(pattern: string): (string | undefined)[] {
  return pattern.split("/").map((segment) => (segment.startsWith(":") ? undefined : segment));
}

/** Methods of all routes whose pattern the path fits; sorted, so that the answer does not depend on their order. */
function methodsOf(known: ReadonlyMap<string, KnownPath>, path: string): string[] {
  const given = path.split("/");
  const methods = new Set<string>();
  for (const { segments, methods: own } of known.values()) {
    const fits =
      segments.length === given.length && segments.every((segment, index) => (segment ?? given[index]) === given[index]);
    if (fits) for (const method of own) methods.add(method);
  }
  return [...methods].sort();
}
