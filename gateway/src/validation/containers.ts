import { num } from "./scalars.ts";
import { makeSchema, type Output, type Rule, ruleOf, type Schema } from "./schema.ts";
import { cleanText } from "./text.ts";
import { fault, type Invalid, ignore, invalid, missing, valueFault, type Walk } from "./walk.ts";

export type Members = Readonly<Record<string, Schema<unknown>>>;

/** Every declared member is present in what is read; one that may be absent is then `undefined` or its default. */
export type Read<M extends Members> = { readonly [K in keyof M]: Output<M[K]> };

interface Described {
  readonly description?: string;
}

/** An object with declared members. Unknown members are ignored and their names noted. */
export function model<M extends Members>(members: M, options: Described = {}): Schema<Read<M>> {
  const required = Object.keys(members).filter((name) => !ruleOf(members[name]!).whenAbsent);
  const json = { type: "object", properties: members, ...(required.length > 0 && { required }), ...options };
  const readAll = membersReader(members);
  const read = (walk: Walk, input: unknown): Read<M> | Invalid => {
    if (isObject(input)) return readAll(walk, input);
    const text = "Input should be a valid dictionary or object to extract fields from";
    return fault(walk, "model_attributes_type", text, input);
  };
  return makeSchema<Read<M>>(json, { read });
}

/** Reads the declared members of an object in the order of their declaration. `input` may also hold query parameters. */
export function membersReader<M extends Members>(members: M): (walk: Walk, input: JsonObject) => Read<M> | Invalid {
  const entries = Object.entries(members).map(([name, schema]) => ({ name, rule: ruleOf(schema) }));
  const names = new Set(Object.keys(members));
  return (walk, input) => {
    const output: Record<string, unknown> = {};
    let isValid = true;
    let known = 0;
    for (const { name, rule } of entries) {
      const given = Object.hasOwn(input, name) ? input[name] : undefined;
      if (given !== undefined) known++;
      const value = readMember(walk, input, name, given, rule);
      if (value === invalid) isValid = false;
      else output[name] = value;
    }
    const given = Object.keys(input);
    if (given.length > known) for (const name of given) if (!names.has(name)) ignore(walk, name);
    return isValid ? (output as Read<M>) : invalid;
  };
}

function readMember(walk: Walk, owner: JsonObject, name: string, given: unknown, rule: Rule<unknown>): unknown {
  const isAbsent = given === undefined || (given === null && !rule.acceptsNull && rule.whenAbsent !== undefined);
  if (isAbsent && rule.whenAbsent) return rule.whenAbsent();
  walk.path.push(name);
  const value = given === undefined ? missing(walk, owner) : rule.read(walk, given);
  walk.path.pop();
  return value;
}

/** A member that may be absent; an explicit null counts as absent. Without a default its value is then `undefined`. */
export function optional<T>(schema: Schema<T>): Schema<T | undefined>;
export function optional<T, const D extends T>(schema: Schema<T>, whenAbsent: D): Schema<T>;
export function optional<T>(schema: Schema<T>, whenAbsent?: T): Schema<T | undefined> {
  const rule = ruleOf(schema);
  const json = rule.acceptsNull ? { ...schema } : { anyOf: [schema, nullSchema] };
  const described = whenAbsent === undefined ? json : { ...json, default: whenAbsent };
  return makeSchema<T | undefined>(described, { ...rule, whenAbsent: () => whenAbsent });
}

/** A member for which null is a value of its own, for example one that null clears. */
export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  const rule = ruleOf(schema);
  const read = (walk: Walk, input: unknown) => (input === null ? null : rule.read(walk, input));
  return makeSchema<T | null>({ anyOf: [schema, nullSchema] }, { ...rule, read, acceptsNull: true });
}

const nullSchema = { type: "null" };

export interface ListOptions extends Described {
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** An array; a repeated parameter in a query. */
export function list<T>(item: Schema<T>, options: ListOptions = {}): Schema<T[]> {
  const { read: readItem } = ruleOf(item);
  const { minItems, maxItems } = options;
  const read = (walk: Walk, input: unknown): T[] | Invalid => {
    if (!Array.isArray(input)) return fault(walk, "list_type", "Input should be a valid list", input);
    const size = input.length;
    if (maxItems !== undefined && size > maxItems) {
      const text = `List should have at most ${items(maxItems)} after validation, not ${size}`;
      return fault(walk, "too_long", text, input, { field_type: "List", max_length: maxItems, actual_length: size });
    }
    const output: T[] = [];
    let isValid = true;
    for (let index = 0; index < size; index++) {
      walk.path.push(index);
      const value = readItem(walk, input[index]);
      walk.path.pop();
      if (value === invalid) isValid = false;
      else output.push(value);
    }
    if (!isValid) return invalid;
    if (minItems !== undefined && size < minItems) {
      const text = `List should have at least ${items(minItems)} after validation, not ${size}`;
      return fault(walk, "too_short", text, input, { field_type: "List", min_length: minItems, actual_length: size });
    }
    return output;
  };
  return makeSchema<T[]>({ type: "array", items: item, ...options }, { read, isList: true });
}

function items(count: number): string {
  return count === 1 ? "1 item" : `${count} items`;
}

/** A list that some callers send as one string, either the only item or a JSON array in text. */
export function listOrString<T>(item: Schema<T>, options: ListOptions = {}): Schema<T[]> {
  const inner = list(item, options);
  const rule = ruleOf(inner);
  const read = (walk: Walk, input: unknown) => rule.read(walk, typeof input === "string" ? listFromText(input) : input);
  return makeSchema<T[]>({ anyOf: [inner, { type: "string" }] }, { ...rule, read });
}

function listFromText(text: string): unknown[] {
  if (!text.trimStart().startsWith("[")) return [text];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : [text];
  } catch {
    // An opening bracket is legal in a lone item, so text that is no JSON is that item.
    return [text];
  }
}

/** An object with free names and values of one kind. The result has no prototype, so `__proto__` is a name like any other. */
export function map<T>(value: Schema<T>, options: Described = {}): Schema<Record<string, T>> {
  const { read: readValue } = ruleOf(value);
  const read = (walk: Walk, input: unknown): Record<string, T> | Invalid => {
    if (!isObject(input)) return fault(walk, "dict_type", "Input should be a valid dictionary", input);
    const output: Record<string, T> = Object.create(null);
    let isValid = true;
    for (const [name, given] of Object.entries(input)) {
      walk.path.push(name);
      const read = readValue(walk, given);
      walk.path.pop();
      if (read === invalid) isValid = false;
      else output[cleanText(name)] = read;
    }
    return isValid ? output : invalid;
  };
  return makeSchema<Record<string, T>>({ type: "object", additionalProperties: value, ...options }, { read });
}

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: unknown;
}

/** A free JSON object, with its text cleaned. Its depth is bounded where the body is parsed. */
export function jsonObject(options: Described = {}): Schema<JsonObject> {
  const read = (walk: Walk, input: unknown): JsonObject | Invalid => {
    if (!isObject(input)) return fault(walk, "dict_type", "Input should be a valid dictionary", input);
    return readJson(walk, input) as JsonObject | Invalid;
  };
  return makeSchema<JsonObject>({ type: "object", additionalProperties: true, ...options }, { read });
}

/** Any JSON value, with its text cleaned. */
export function jsonValue(options: Described = {}): Schema<JsonValue> {
  const read = (walk: Walk, input: unknown) => readJson(walk, input) as JsonValue | Invalid;
  return makeSchema<JsonValue>({ ...options }, { read, acceptsNull: true });
}

const jsonNumber = num();
const jsonList = list(makeSchema<unknown>({}, { read: readJson }));
const jsonMembers = map(makeSchema<unknown>({}, { read: readJson }));

function readJson(walk: Walk, input: unknown): unknown {
  if (typeof input === "string") return cleanText(input);
  if (typeof input === "number") return ruleOf(jsonNumber).read(walk, input); // 1e400 parses to infinity
  if (typeof input !== "object" || input === null) return input;
  return Array.isArray(input) ? ruleOf(jsonList).read(walk, input) : ruleOf(jsonMembers).read(walk, input);
}

/**
 * The first branch that reads without a fault. When none does, the faults of all are reported, each below the name of its
 * branch, so the names are part of the contract. Branches should not overlap, or order decides.
 */
export function union<B extends Members>(branches: B, options: Described = {}): Schema<Output<B[keyof B]>> {
  const entries = Object.entries(branches).map(([name, schema]) => ({ name, rule: ruleOf(schema) }));
  const read = (walk: Walk, input: unknown): Output<B[keyof B]> | Invalid => {
    const before = walk.faults.length;
    walk.unionDepth++;
    let value: unknown = invalid;
    for (const { name, rule } of entries) {
      walk.path.push(name);
      value = rule.read(walk, input);
      walk.path.pop();
      if (value !== invalid) break;
    }
    walk.unionDepth--;
    if (value !== invalid) walk.faults.length = before;
    return value as Output<B[keyof B]> | Invalid;
  };
  return makeSchema<Output<B[keyof B]>>({ anyOf: Object.values(branches), ...options }, { read });
}

/** Adds a rule of meaning: `problem` answers the text of a `value_error`, or `undefined` when the value is fine. */
export function refine<T>(schema: Schema<T>, problem: (value: T) => string | undefined): Schema<T> {
  return convert(schema, (value, refuse) => {
    const text = problem(value);
    return text === undefined ? value : refuse(text);
  });
}

/** Turns what a schema reads into something else, or refuses it with a `value_error` of the given text. */
export function convert<T, U>(
  schema: Schema<T>,
  change: (value: T, refuse: (text: string) => Invalid) => U | Invalid,
): Schema<U> {
  const rule = ruleOf(schema);
  if (rule.whenAbsent) throw new TypeError("An optional schema cannot be converted: make the converted one optional");
  const read = (walk: Walk, input: unknown): U | Invalid => {
    const value = rule.read(walk, input);
    return value === invalid ? invalid : change(value, (text) => valueFault(walk, text, input));
  };
  return makeSchema<U>(
    { ...schema },
    { read, ...(rule.acceptsNull && { acceptsNull: true }), ...(rule.isList && { isList: true }) },
  );
}

export function isObject(input: unknown): input is JsonObject {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}
