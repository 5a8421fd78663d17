import type { JsonSchema, OpenApiDocument, operationsOf } from "../support/openapi.ts";
import type { Random } from "../support/random.ts";

export interface FuzzRequest {
  readonly method: string;
  /** With its query string, as it goes over the wire. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

type DescribedCall = ReturnType<typeof operationsOf>[number];

export interface FuzzSource {
  readonly document: OpenApiDocument;
  readonly random: Random;
  readonly bankIds: readonly string[];
  /** Ids that answers have shown so far; what is drawn from it exists, or did. */
  readonly seenIds: readonly string[];
}

/** Texts at the edges of what a parser, a store or a clock takes. */
const nastyTexts = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "x\udfffy",
  "\u202e\ufeff",
  "💥".repeat(200),
  "é".repeat(256),
  "a".repeat(5_000),
  "../..",
  "..",
  "%2e%2e%2f",
  "%",
  "' OR 1=1 --",
  "$where",
  "__proto__",
  "constructor",
  "{}",
  "[",
  '["a","b"]',
  "null",
  "NaN",
  "-0",
  "1e400",
  "9".repeat(400),
  "0x10",
  "unset",
  "0000-00-00",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999999+23:59",
  "1969-12-31T23:59:59.9999999Z",
  "2016-12-31T23:59:60Z",
  "2024-02-30",
  "+275760-09-13T00:00:00.000Z",
  "*",
  "**a**",
  "\\d+(a+)+$",
];
const nastyNumbers = [0, -1, 1, 1.5, -0, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 + 2, 1e308, -1e308, 1e-320];
const plainTexts = [
  "Maria runs the Lisbon office.",
  "Tom likes tea.",
  "Where does Maria work?",
  "user:maria",
  "a",
  "Yesterday I moved to Delft.",
];

const MUTATED_SHARE = 0.25;
const DEPTH_MAX = 6;

/** One request to an operation: fitting its schemas in most places, and wrong, hostile or cut off in some. */
export function generateRequest(source: FuzzSource, { method, url, operation }: DescribedCall): FuzzRequest {
  const { random } = source;
  const path = url.replace(/\{(\w+)\}/g, (_, name: string) => wireText(random, pathText(source, name)));
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === "query" && random.next() < (parameter.required ? 0.95 : 0.35))
    .flatMap(({ name, schema }) => queryTexts(source, schema).map((text) => `${name}=${wireText(random, text)}`));
  if (random.next() < 0.05) query.push(`${wireText(random, random.pick(nastyTexts))}=1`);
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return {
    method,
    path: query.length > 0 ? `${path}?${query.join("&")}` : path,
    headers: headersOf(random, method),
    body: schema ? bodyText(source, schema) : random.next() < 0.05 ? "{}" : null,
  };
}

function headersOf(random: Random, method: string): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": random.next() < 0.9 ? "application/json" : "text/plain; charset=\u00ff",
  };
  if (random.next() < 0.1) headers["x-request-id"] = random.pick(["r-1", "x".repeat(300), "\u00e9", "a b"]);
  if (method === "POST" && random.next() < 0.1) headers["idempotency-key"] = random.pick(["k1", "k2", "k".repeat(300)]);
  return headers;
}

function pathText({ random, bankIds, seenIds }: FuzzSource, name: string): string {
  if (random.next() < 0.06) return random.pick(nastyTexts) || "-";
  if (name === "bank_id") return random.pick(bankIds);
  if (random.next() < 0.6 && seenIds.length > 0) return random.pick(seenIds);
  return random.pick(["00000000-0000-4000-8000-000000000000", "doc-1", "doc-2", "model-1", "zz"]);
}

/** Percent-encoded; a lone surrogate goes over the wire as the bytes that no text has, and a rare one half-encoded. */
function wireText(random: Random, text: string): string {
  const bytes = text.isWellFormed() ? encodeURIComponent(text) : "%ED%A0%80";
  return random.next() < 0.01 ? `${bytes}%` : bytes;
}

function queryTexts(source: FuzzSource, schema: JsonSchema): string[] {
  const value = valueFor(source, schema, 0);
  return [value]
    .flat()
    .slice(0, 20)
    .map((one) => (typeof one === "object" ? JSON.stringify(one) : String(one)));
}

function bodyText(source: FuzzSource, schema: JsonSchema): string | Buffer | null {
  const { random } = source;
  const roll = random.next();
  if (roll < 0.02) return null;
  const text = stringified(valueFor(source, schema, 0));
  if (roll < 0.05) return text.slice(0, random.int(0, text.length));
  if (roll < 0.06)
    return Buffer.concat([
      Buffer.from(text.slice(0, 20)),
      Buffer.from([0xff, 0xc0, 0x00, 0xed, 0xa0]),
      Buffer.from(text.slice(20)),
    ]);
  if (roll < 0.07) return "[".repeat(random.pick([100, 20_000])) + "]".repeat(random.pick([100, 20_000]));
  if (roll < 0.08)
    return random.pick(["", " ", "null", "true", "[]", '"x"', "{} {}", "\ufeff{}", "{'a':1}", "NaN", '{"a":1,"a":2}']);
  return text;
}

/** JSON that keeps the numbers that JSON.stringify turns into null. */
const stringified = (value: unknown) => JSON.stringify(value === undefined ? null : value).replaceAll('"1e400"', "1e400");

/** A value for a schema; at any place, by chance, one of another kind. */
function valueFor(source: FuzzSource, given: JsonSchema, depth: number): unknown {
  const { random, document } = source;
  const schema = resolve(document, given);
  if (random.next() < MUTATED_SHARE / (depth + 1)) return oddValue(random);
  if (depth > DEPTH_MAX) return null;
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as JsonSchema[] | undefined;
  if (branches) return valueFor(source, random.pick(branches), depth);
  if (Array.isArray(schema["enum"])) return random.pick(schema["enum"]);
  switch (schema["type"]) {
    case "string":
      return textOf(source, schema);
    case "integer":
      return random.next() < 0.2 ? random.pick(nastyNumbers) : random.int(Math.max(Number(schema["minimum"] ?? 0), -5), 40);
    case "number":
      return random.next() < 0.2 ? random.pick(nastyNumbers) : random.next();
    case "boolean":
      return random.next() < 0.5;
    case "null":
      return null;
    case "array":
      return Array.from({ length: arrayLength(random) }, () => valueFor(source, schema["items"] as JsonSchema, depth + 1));
    case "object":
      return objectOf(source, schema, depth);
    default:
      return oddValue(random);
  }
}

/** Refused at once, and allowed by the operator of the test: webhooks come to be, and nothing leaves the machine. */
const hook = "http://127.0.0.1:1/hook";
const isHook = (random: Random, name: string) => name === "url" && random.next() < 0.7;

const arrayLength = (random: Random) => (random.next() < 0.02 ? 400 : random.int(0, 3));

function objectOf(source: FuzzSource, schema: JsonSchema, depth: number): unknown {
  const { random } = source;
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  const required = new Set((schema["required"] ?? []) as string[]);
  const members = properties.filter(([name]) => random.next() < (required.has(name) ? 0.97 : 0.4));
  const object: Record<string, unknown> = Object.fromEntries(
    members.map(([name, value]) => [name, isHook(random, name) ? hook : valueFor(source, value, depth + 1)]),
  );
  const extra = schema["additionalProperties"];
  if (extra) {
    for (let i = random.int(0, 2); i > 0; i--) {
      object[random.pick([...nastyTexts, "k"])] =
        extra === true ? oddValue(random) : valueFor(source, extra as JsonSchema, depth + 1);
    }
  }
  if (random.next() < 0.05) object[random.pick(nastyTexts)] = oddValue(random);
  return object;
}

function textOf({ random, seenIds }: FuzzSource, schema: JsonSchema): string {
  const roll = random.next();
  if (roll < 0.15) return random.pick(nastyTexts);
  if (roll < 0.25 && seenIds.length > 0) return random.pick(seenIds);
  if (schema["format"] === "date-time") return `20${random.int(10, 30)}-0${random.int(1, 9)}-${random.int(10, 31)}`;
  if (schema["format"] === "uuid") return crypto.randomUUID();
  if (roll < 0.35)
    return random.pick(["http://127.0.0.1:1/hook", "2026-02-11T08:45:00Z", "doc-1", "model-1", "retain.completed"]);
  return random.pick(plainTexts);
}

function oddValue(random: Random): unknown {
  const nested = (levels: number): unknown =>
    levels === 0 ? 1 : random.next() < 0.5 ? [nested(levels - 1)] : { k: nested(levels - 1) };
  return random.pick<() => unknown>([
    () => random.pick(nastyTexts),
    () => random.pick(nastyNumbers),
    () => null,
    () => random.next() < 0.5,
    () => [],
    () => ({}),
    () => nested(random.pick([3, 40, 200])),
    () => Array.from({ length: 1_000 }, (_, i) => i),
    () => Array.from({ length: 300 }, (_, i) => `tag-${i}`),
  ])();
}

function resolve(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema["$ref"] ?? ""))?.[1];
  return name === undefined ? schema : resolve(document, document.components.schemas[name]!);
}
