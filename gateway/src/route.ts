import type { CallContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { callContext } from "./plugins/call-context.ts";
import { reportIgnored } from "./plugins/ignored-params.ts";
import { jsonBody } from "./plugins/json-body.ts";
import type { Members } from "./validation/containers.ts";
import { type QueryValues, type RequestInput, requestReader } from "./validation/read-request.ts";
import type { Schema } from "./validation/schema.ts";

/** One operation of the public API: everything that the server and the OpenAPI document need to know about it. */
export interface RouteDefinition<P extends Members, Q extends Members, B, R extends TSchema> extends Operation {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: Schema<B>;
  readonly response: R;
  readonly timeoutMs?: number;
  /** Gets a request without faults; answers the body, or throws an `AppError`. */
  readonly handler: (ctx: CallContext, input: HandlerInput<P, Q, B>) => Promise<Answer<Static<R>>>;
}

/** The part of a route that the OpenAPI document describes. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces, as the contract writes it: `/v1/default/banks/{bank_id}`. */
  readonly url: `/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The group of operations under which it is listed. */
  readonly tag: string;
  readonly params?: Members;
  readonly query?: Members;
  readonly body?: Schema<unknown>;
  readonly response: TSchema;
  /** Of the answer; JSON unless told, and then `response` is a string. */
  readonly mediaType?: "text/plain";
  /** Of success; 200 unless told. */
  readonly status?: 200 | 201 | 202;
  /** Statuses of its own failures, beyond those that every operation can answer. */
  readonly errors?: readonly number[];
  readonly isPublic?: boolean;
}

export interface HandlerInput<P extends Members, Q extends Members, B> extends RequestInput<P, Q, B> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What a response schema describes, with arrays and objects that need not be writable. */
export type Answer<T> = T extends readonly (infer Item)[]
  ? readonly Answer<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Answer<T[K]> }
    : T;

/** What `route` needs from the application it adds to. */
export interface RouteDeps {
  /** Microseconds since 1970. */
  readonly now: () => number;
  /** Fails a request whose answer does not match its schema. For tests: the check costs more than the request. */
  readonly checkResponses?: boolean;
}

declare module "fastify" {
  interface FastifyInstance {
    routeDeps: RouteDeps;
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Adds one operation: reads and checks the request, calls the handler, and sends what it answers. */
export function route<R extends TSchema, P extends Members = Members, Q extends Members = Members, B = undefined>(
  app: FastifyInstance,
  definition: RouteDefinition<P, Q, B, R>,
): void {
  const { method, handler, status = 200, isPublic = false, timeoutMs = DEFAULT_TIMEOUT_MS, response } = definition;
  const { params = {} as P, query = {} as Q, body } = definition;
  checkParams(definition, params);
  const readRequest = requestReader({ params, query, body });
  const { now, checkResponses } = app.routeDeps;
  app.route({
    method,
    url: definition.url.replace(/\{(\w+)\}/g, ":$1"),
    config: { operation: definition, isPublic },
    handler: async (request, reply) => {
      const { input, faults, ignored } = readRequest({
        params: request.params as Record<string, string>,
        query: request.query as QueryValues,
        body: jsonBody(request),
      });
      reportIgnored(reply, ignored);
      if (faults.length > 0) {
        throw new AppError("invalid_argument", "INVALID_REQUEST", "The request is not valid", { violations: faults });
      }
      const ctx = callContext(request, reply, now(), timeoutMs);
      const answer = await handler(ctx, { ...input, request, reply });
      if (checkResponses) checkAnswer(definition.operationId, response, answer);
      reply.code(status);
      return answer;
    },
  });
}

/** A parameter that is only in the path, or only in the schema, is a mistake in the route. */
function checkParams({ operationId, url }: Operation, params: Members): void {
  const inPath = [...url.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  const declared = Object.keys(params);
  if (inPath.length !== declared.length || inPath.some((name) => !declared.includes(name!))) {
    throw new TypeError(`${operationId}: the path has [${inPath}], the schema [${declared}]`);
  }
}

function checkAnswer(operationId: string, schema: TSchema, answer: unknown): void {
  const sent: unknown = JSON.parse(JSON.stringify(answer));
  const [first] = Value.Errors(schema, sent);
  if (first) throw new TypeError(`${operationId} answers what its schema does not allow: ${JSON.stringify(first)}`);
}
