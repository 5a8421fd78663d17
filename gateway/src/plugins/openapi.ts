import { createHash } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { FastifyInstance } from "fastify";
import { type TSchema, Type } from "typebox";
import { takesIdempotencyKey } from "../audit/actions.ts";
import type { Operation } from "../route.ts";
import type { Members } from "../validation/containers.ts";
import { type OpenApiSchema, toOpenApi } from "../validation/open-api-schema.ts";
import { component, ruleOf } from "../validation/schema.ts";
import { docsPage, docsScript, docsStyle } from "./docs-page.ts";

/**
 * Serves `/openapi.json`, made from the same schemas that check the requests, and `/docs`, a page that shows it. Must be
 * registered before the first route, since it learns the operations while they are added.
 */
export function registerOpenApi(app: FastifyInstance, deps: { version: string }): void {
  const operations: Operation[] = [];
  app.addHook("onRoute", ({ config, method }) => {
    if (config?.operation && config.operation.method === method) operations.push(config.operation);
  });
  let document: string | undefined;
  app.get("/openapi.json", { config: { isPublic: true } }, (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(operations, deps.version));
    return reply.type("application/json").send(document);
  });
  const policy = `default-src 'none'; connect-src 'self'; script-src '${sourceHash(docsScript)}'; style-src '${sourceHash(docsStyle)}'`;
  app.get("/docs", { config: { isPublic: true } }, (_request, reply) => {
    return reply.type("text/html; charset=utf-8").header("content-security-policy", policy).send(docsPage);
  });
}

function sourceHash(source: string): string {
  return `sha256-${createHash("sha256").update(source).digest("base64")}`;
}

const errorBody = component("Error", Type.Object({ detail: Type.String() }));
const validationErrorBody = component(
  "ValidationError",
  Type.Object({
    detail: Type.Array(
      Type.Object({
        type: Type.String(),
        loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
        msg: Type.String(),
        input: Type.Unknown(),
        ctx: Type.Optional(Type.Object({}, { additionalProperties: true })),
        url: Type.Optional(Type.String()),
      }),
    ),
  }),
);

/** What any operation that needs a key may answer instead of success; 404 where the bank may be deleted meanwhile. */
const commonErrors = [401, 403, 404, 413, 422, 500, 503];
const publicErrors = [500, 503];

/** The OpenAPI 3.1 document of the given operations, in their order. */
export function openApiDocument(operations: readonly Operation[], version: string): Record<string, unknown> {
  const components = new Map<string, OpenApiSchema>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    paths[operation.url] ??= {};
    paths[operation.url]![operation.method.toLowerCase()] = describe(operation, components);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Memory Bank", version, description: "Memory banks for agents: retain, recall and reflect over REST." },
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "An API key, which starts with `hsk_`." } },
      schemas: Object.fromEntries(components),
    },
  };
}

function describe(operation: Operation, components: Map<string, OpenApiSchema>): Record<string, unknown> {
  const { operationId, summary, description, tag, params = {}, query = {}, body, isPublic } = operation;
  const parameters = [
    ...parametersOf("path", params, components),
    ...parametersOf("query", query, components),
    ...(takesIdempotencyKey(operation) ? [idempotencyKey] : []),
  ];
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [tag],
    ...(isPublic && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !ruleOf(body).whenAbsent, content: content(body, components) } }),
    responses: responsesOf(operation, components),
  };
}

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Under the same key the same request is carried out once; for 24 hours its answer comes again.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

function parametersOf(place: "path" | "query", members: Members, components: Map<string, OpenApiSchema>): unknown[] {
  return Object.entries(members).map(([name, schema]) => {
    const required = !ruleOf(schema).whenAbsent;
    return { name, in: place, required, schema: toOpenApi(schema, components) };
  });
}

function responsesOf(operation: Operation, components: Map<string, OpenApiSchema>): Record<string, unknown> {
  const { status = 200, errors = [], isPublic, params = {}, query = {}, body } = operation;
  const takesInput = Object.keys({ ...params, ...query }).length > 0 || body !== undefined;
  const common = (isPublic ? publicErrors : commonErrors).filter(
    (code) => (code !== 422 || takesInput) && (code !== 413 || body) && (code !== 404 || "bank_id" in params),
  );
  const ofKey = takesIdempotencyKey(operation) ? [400, 409] : [];
  const failures = [...new Set([...common, ...errors, ...ofKey])].sort((a, b) => a - b);
  const entries = failures.map((code) => [code, response(code, code === 422 ? validationErrorBody : errorBody, components)]);
  const { mediaType, response: answer } = operation;
  return { [status]: response(status, answer, components, mediaType), ...Object.fromEntries(entries) };
}

function response(status: number, schema: TSchema, components: Map<string, OpenApiSchema>, mediaType?: string) {
  return { description: STATUS_CODES[status], content: content(schema, components, mediaType) };
}

function content(schema: TSchema, components: Map<string, OpenApiSchema>, mediaType = "application/json") {
  return { [mediaType]: { schema: toOpenApi(schema, components) } };
}
