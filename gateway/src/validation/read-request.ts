import type { FieldViolation } from "@memory-bank/errors";
import { type Members, membersReader, type Read } from "./containers.ts";
import type { JsonText } from "./json-text.ts";
import { ruleOf, type Schema } from "./schema.ts";
import { fault, type Invalid, missing, startWalk, type Walk } from "./walk.ts";

export interface RequestShape<P extends Members, Q extends Members, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: Schema<B> | undefined;
}

export interface RawRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryValues;
  readonly body: JsonText;
}

export interface RequestInput<P extends Members, Q extends Members, B> {
  readonly params: Read<P>;
  readonly query: Read<Q>;
  readonly body: B;
}

export interface ReadOutcome<P extends Members, Q extends Members, B> {
  /** Meaningful only when there are no faults. */
  readonly input: RequestInput<P, Q, B>;
  /** Of the path, then the query, then the body, each in the order of declaration. */
  readonly faults: readonly FieldViolation[];
  readonly ignored: readonly string[];
}

/** Prepares one function that reads all parts of a request and reports all their faults together. */
export function requestReader<P extends Members, Q extends Members, B>(
  shape: RequestShape<P, Q, B>,
): (raw: RawRequest) => ReadOutcome<P, Q, B> {
  const readParams = membersReader(shape.params);
  const readQuery = membersReader(shape.query);
  const lists = new Set(Object.keys(shape.query).filter((name) => ruleOf(shape.query[name]!).isList));
  return (raw) => {
    const walk = startWalk();
    const params = within(walk, "path", () => readParams(walk, raw.params));
    const query = within(walk, "query", () => readQuery(walk, queryMembers(raw.query, lists)));
    const body = within(walk, "body", () => readBody(walk, shape.body, raw.body));
    // With faults some parts are `invalid`; the type says so in words, because every caller looks at the faults first.
    return { input: { params, query, body } as RequestInput<P, Q, B>, faults: walk.faults, ignored: walk.ignored };
  };
}

function within<T>(walk: Walk, part: string, read: () => T): T {
  walk.path.push(part);
  const value = read();
  walk.path.pop();
  return value;
}

function readBody<B>(walk: Walk, schema: Schema<B> | undefined, body: JsonText): B | Invalid | undefined {
  if (!schema) return undefined;
  const rule = ruleOf(schema);
  if (body.kind === "malformed") {
    walk.path.push(body.offset);
    const refused: Invalid = fault(walk, "json_invalid", "JSON decode error", {}, { error: body.error });
    walk.path.pop();
    return refused;
  }
  if (body.kind === "value" && body.value !== null) return rule.read(walk, body.value);
  return rule.whenAbsent ? rule.whenAbsent() : missing(walk, null);
}

/** All values of each query parameter, in the order of the query string. */
export type QueryValues = Readonly<Record<string, readonly string[]>>;

const noValues: QueryValues = Object.freeze({});

/** Splits a query string. Broken percent-escapes stay as they are, and bytes that are no UTF-8 become U+FFFD. */
export function parseQuery(text: string): QueryValues {
  if (text === "") return noValues;
  const values: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const seen = values[name];
    if (seen) seen.push(value);
    else values[name] = [value];
  }
  return values;
}

/** A parameter that is no list counts with its last value. */
function queryMembers(values: QueryValues, lists: ReadonlySet<string>): Record<string, unknown> {
  const members: Record<string, unknown> = Object.create(null);
  for (const name in values) members[name] = lists.has(name) ? values[name] : values[name]!.at(-1);
  return members;
}
