import { Ajv2020, type AnySchemaObject, type ValidateFunction } from "ajv/dist/2020.js";

/** What a test sent and what came back. */
export interface Exchange {
  readonly method: string;
  /** With its query string. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** As it was received. */
  readonly text: string;
}

/** One operation as the served document describes it; only what tests read of it. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
  /** Absent: as everywhere, a key. Empty: none is needed. */
  readonly security?: readonly unknown[];
}
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly schema: JsonSchema;
}
type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;
/** Loose on purpose: a schema is data here. */
export type JsonSchema = Readonly<AnySchemaObject>;

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** Every operation of a document, with the method in capitals. */
export function operationsOf(document: OpenApiDocument) {
  return Object.entries(document.paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), url, operation })),
  );
}

/** Throws when an answer is not one that the document allows. */
export type ContractCheck = (exchange: Exchange) => void;

/** Reads the document that a running service serves. */
export async function fetchOpenApi(url: string): Promise<OpenApiDocument> {
  const response = await fetch(`${url}/openapi.json`);
  if (response.status !== 200) throw new Error(`/openapi.json answers ${response.status}`);
  return (await response.json()) as OpenApiDocument;
}

/**
 * Checks answers against an OpenAPI document: the status is documented, the media type is the documented one, the body is
 * valid and holds no member that is not described. Instants must have the one form that the contract gives them.
 */
export function createContractCheck(document: OpenApiDocument): ContractCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  ajv.addFormat("uuid", /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const components = closed(document.components) as object;
  const validators = new Map<JsonSchema, ValidateFunction>();
  const validatorOf = (schema: JsonSchema) => {
    const known = validators.get(schema);
    if (known) return known;
    const made = ajv.compile({ ...(closed(schema) as object), components });
    validators.set(schema, made);
    return made;
  };
  const findOperation = operationFinder(document);

  return (exchange) => {
    const { method, path, status, headers, text } = exchange;
    const refuse = (why: string) => {
      throw new Error(`${method} ${path} answered ${status}, ${why}:\n${text.slice(0, 2000)}`);
    };
    if (!headers.get("x-request-id")) refuse("without X-Request-Id");
    const operation = findOperation(method, path);
    if (!operation) return checkUnknownRoute(status, text, refuse);
    const response = operation.responses[status];
    if (!response) return refuse(`which ${operation.operationId} does not document`);
    const [[mediaType, { schema }]] = Object.entries(response.content) as [[string, { schema: JsonSchema }]];
    const sentType = headers.get("content-type")?.split(";")[0];
    if (sentType !== mediaType) refuse(`as ${sentType} instead of ${mediaType}`);
    const validate = validatorOf(schema);
    if (!validate(mediaType === "application/json" ? JSON.parse(text) : text)) {
      refuse(`which ${operation.operationId} does not describe: ${ajv.errorsText(validate.errors)}`);
    }
  };
}

function checkUnknownRoute(status: number, text: string, refuse: (why: string) => void): void {
  const expected = status === 405 ? "Method Not Allowed" : "Not Found";
  if (status !== 404 && status !== 405) refuse("and is not in the document");
  if (text !== JSON.stringify({ detail: expected })) refuse("with an unexpected body");
}

/** Fixed words win over parameters, as in the router. */
function operationFinder(document: OpenApiDocument) {
  const routes = operationsOf(document).map(({ method, url, operation }) => ({ method, segments: url.split("/"), operation }));
  const isParameter = (segment: string) => segment.startsWith("{");
  return (method: string, path: string): DescribedOperation | undefined => {
    const given = path.replace(/[?#].*$/s, "").split("/");
    if (!given.every(isDecodable)) return undefined;
    const fitting = routes.filter(
      (route) =>
        route.method === method &&
        route.segments.length === given.length &&
        route.segments.every((segment, i) => (isParameter(segment) ? given[i] !== "" : segment === given[i])),
    );
    return fitting.sort((a, b) => a.segments.filter(isParameter).length - b.segments.filter(isParameter).length)[0]?.operation;
  };
}

/** A path with broken escapes is no path of the API. */
function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}

/** The same schema without room for members that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  // A free object has no list of members, or an empty one.
  const isListed = typeof members["properties"] === "object" && members["type"] === "object";
  return isListed && members["additionalProperties"] === undefined ? { ...members, additionalProperties: false } : members;
}
