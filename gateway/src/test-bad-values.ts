import type { TSchema } from "typebox";
import { componentOf } from "./validation/schema.ts";

/** A fault as the contract words it; `input` is the bad value itself unless told. */
export interface ExpectedFault {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input?: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** A value that one place of a request does not take, and how the refusal is worded. Only the type and place are known for a union. */
export interface BadValue {
  readonly value: unknown;
  readonly fault: ExpectedFault;
  /** True when the place reports one fault per branch, each below the name of the branch. */
  readonly isBranched?: true;
}

/** JSON schema, loosely: the tables below read it as data, so that they do not share code with what they judge. */
type Node = Readonly<Record<string, unknown>> & { readonly type?: string };

/** The schema without its null branch, and named ones looked up. */
function nodeOf(schema: TSchema): Node {
  const component = componentOf(schema);
  if (component) return nodeOf(component.resolve());
  const branches = (schema as { anyOf?: TSchema[] }).anyOf;
  const real = branches?.filter((branch) => (branch as Node).type !== "null");
  return real?.length === 1 ? nodeOf(real[0]!) : (schema as Node);
}

/** Two levels into a schema that holds itself are as good as all. */
const SELF_DEPTH_MAX = 2;

/** Every kind of bad value of the contract for a member of a JSON body, and for all members below it. */
export function badValues(schema: TSchema, loc: readonly (string | number)[]): BadValue[] {
  const node = nodeOf(schema);
  if (componentOf(schema) && loc.length > SELF_DEPTH_MAX + 2) return [];
  const bad = (value: unknown, type: string, msg: string, ctx?: Readonly<Record<string, unknown>>): BadValue => ({
    value,
    fault: { type, loc, msg, ...(ctx && { ctx }) },
  });
  if (Array.isArray(node["anyOf"])) return badForUnion(node["anyOf"] as TSchema[], loc);
  switch (node.type) {
    case "string":
      return badForText(node, loc, bad);
    case "integer":
      return [
        ...["abc", "", "1.5"].map((text) => bad(text, intParsing.type, intParsing.msg)),
        bad(1.5, "int_from_float", "Input should be a valid integer, got a number with a fractional part"),
        ...[[], {}].map((value) => bad(value, "int_type", "Input should be a valid integer")),
        ...outOfBounds(node, bad),
      ];
    case "number":
      return [
        bad("abc", "float_parsing", "Input should be a valid number, unable to parse string as a number"),
        ...[[], {}].map((value) => bad(value, "float_type", "Input should be a valid number")),
        ...outOfBounds(node, bad),
      ];
    case "boolean":
      return [
        ...["maybe", "", 2, 1.5].map((value) =>
          bad(value, "bool_parsing", "Input should be a valid boolean, unable to interpret input"),
        ),
        ...[[], {}].map((value) => bad(value, "bool_type", "Input should be a valid boolean")),
      ];
    case "array":
      return badForList(node, loc, bad);
    case "object":
      return node["properties"] ? badForModel(node, loc, bad) : badForMap(node, loc, bad);
    default:
      return []; // any JSON value is fine
  }
}

/** The same for a query parameter, whose values are text. */
export function badQueryValues(schema: TSchema, name: string): BadValue[] {
  const node = nodeOf(schema);
  const isList = node.type === "array";
  const loc = ["query", name];
  const values = isList ? badValues(node["items"] as TSchema, [...loc, 0]) : badValues(schema, loc);
  const texts = values.filter(({ value, fault }) => typeof value === "string" || (typeof value === "number" && !isText(fault)));
  return texts.map(({ value, fault }) => {
    const text = String(value);
    // What is a number in JSON is text here.
    const worded = fault.type === "int_from_float" ? { ...fault, ...intParsing } : fault;
    return { value: text, fault: worded };
  });
}

/** A number for a member that takes any text is text here. */
const isText = ({ type }: ExpectedFault) => type === "string_type";
const intParsing = { type: "int_parsing", msg: "Input should be a valid integer, unable to parse string as an integer" };

type Bad = (value: unknown, type: string, msg: string, ctx?: Readonly<Record<string, unknown>>) => BadValue;

const notText = [5, true, [], {}];

function badForText(node: Node, loc: readonly (string | number)[], bad: Bad): BadValue[] {
  const words = node["enum"] as readonly string[] | undefined;
  if (words) {
    const quoted = words.map((word) => `'${word}'`);
    const expected = quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
    // The contract words the budget as an enumeration, and every other closed set as a literal.
    const type = loc.at(-1) === "budget" ? "enum" : "literal_error";
    return ["no-such-word", ...notText].map((value) => bad(value, type, `Input should be ${expected}`, { expected }));
  }
  if (node["format"] === "date-time") return badForInstant(bad);
  if (node["format"] === "uuid") {
    const errors = {
      zz: "invalid character: found `z` at 1",
      abcd: "invalid length: expected length 32 for simple format, found 4",
    };
    return Object.entries(errors).map(([text, error]) =>
      bad(text, "uuid_parsing", `Input should be a valid UUID, ${error}`, { error }),
    );
  }
  const { minLength: min, maxLength: max, pattern } = node as { minLength?: number; maxLength?: number; pattern?: string };
  const found = notText.map((value) => bad(value, "string_type", "Input should be a valid string"));
  if (min !== undefined && min > 0) {
    const msg = `String should have at least ${min} character${min === 1 ? "" : "s"}`;
    found.push(bad("x".repeat(min - 1), "string_too_short", msg, { min_length: min }));
  }
  if (max !== undefined) {
    const msg = `String should have at most ${max} characters`;
    found.push(bad("x".repeat(max + 1), "string_too_long", msg, { max_length: max }));
  }
  if (pattern !== undefined) {
    found.push(bad("a\u0007b", "string_pattern_mismatch", `String should match pattern '${pattern}'`, { pattern }));
  }
  return found;
}

function badForInstant(bad: Bad): BadValue[] {
  const errors = {
    "": "input is too short",
    soon: "input is too short",
    "20x6-01-01": "invalid character in year",
    "2026-13-01": "month value is outside expected range of 1-12",
    "2026-02-30": "day value is outside expected range",
    "2026-02-03 or so": "unexpected extra characters at the end of the input",
  };
  return [
    ...Object.entries(errors).map(([text, error]) =>
      bad(text, "datetime_from_date_parsing", `Input should be a valid datetime or date, ${error}`, { error }),
    ),
    ...[true, [], {}].map((value) => bad(value, "datetime_type", "Input should be a valid datetime")),
  ];
}

function outOfBounds(node: Node, bad: Bad): BadValue[] {
  const { minimum, maximum } = node as { minimum?: number; maximum?: number };
  return [
    ...(minimum === undefined
      ? []
      : [bad(minimum - 1, "greater_than_equal", `Input should be greater than or equal to ${minimum}`, { ge: minimum })]),
    ...(maximum === undefined
      ? []
      : [bad(maximum + 1, "less_than_equal", `Input should be less than or equal to ${maximum}`, { le: maximum })]),
  ];
}

function badForList(node: Node, loc: readonly (string | number)[], bad: Bad): BadValue[] {
  const found = ["x", 5, {}].map((value) => bad(value, "list_type", "Input should be a valid list"));
  const min = node["minItems"] as number | undefined;
  if (min === 1) {
    const ctx = { field_type: "List", min_length: 1, actual_length: 0 };
    found.push(bad([], "too_short", "List should have at least 1 item after validation, not 0", ctx));
  }
  return [...found, ...within(badValues(node["items"] as TSchema, [...loc, 0]), (value) => [value])];
}

function badForModel(node: Node, loc: readonly (string | number)[], bad: Bad): BadValue[] {
  const msg = "Input should be a valid dictionary or object to extract fields from";
  const found = ["x", 5, []].map((value) => bad(value, "model_attributes_type", msg));
  const properties = node["properties"] as Readonly<Record<string, TSchema>>;
  const required = (node["required"] ?? []) as readonly string[];
  for (const [name, schema] of Object.entries(properties)) {
    const others = () => sampleMembers(properties, required, name);
    if (required.includes(name)) {
      const owner = others();
      found.push({ value: owner, fault: { type: "missing", loc: [...loc, name], msg: "Field required", input: owner } });
    }
    const below = badValues(schema, [...loc, name]);
    found.push(...within(below, (value) => ({ ...others(), [name]: value })));
  }
  return found;
}

function badForMap(node: Node, loc: readonly (string | number)[], bad: Bad): BadValue[] {
  const found = ["x", 5, []].map((value) => bad(value, "dict_type", "Input should be a valid dictionary"));
  const value = node["additionalProperties"];
  if (typeof value !== "object" || value === null) return found;
  return [...found, ...within(badValues(value as TSchema, [...loc, "k"]), (bad) => ({ k: bad }))];
}

/** A list that a lone text may stand for is only refused where neither fits; other unions report each of their branches. */
function badForUnion(branches: readonly TSchema[], loc: readonly (string | number)[]): BadValue[] {
  const nodes = branches.map(nodeOf);
  const list = nodes.find((node) => node.type === "array");
  if (list && nodes.length === 2 && nodes.some((node) => node.type === "string" && !node["enum"])) {
    return badValues(list as TSchema, loc).filter(({ value }) => typeof value !== "string");
  }
  return [5, true].map((value) => ({ value, fault: { type: "", loc, msg: "" }, isBranched: true as const }));
}

/** Puts each bad value into what holds it. Its `input` in the fault stays the bad value itself. */
function within(values: readonly BadValue[], put: (value: unknown) => unknown): BadValue[] {
  return values.map((inner) => ({
    ...inner,
    value: put(inner.value),
    fault: { ...inner.fault, input: "input" in inner.fault ? inner.fault.input : inner.value },
  }));
}

/** The smallest value that a schema takes. */
export function sample(schema: TSchema): unknown {
  const node = nodeOf(schema);
  if (Array.isArray(node["anyOf"])) return sample(node["anyOf"][0] as TSchema);
  const words = node["enum"] as readonly unknown[] | undefined;
  if (words) return words[0];
  switch (node.type) {
    case "string":
      if (node["format"] === "date-time") return "2026-01-01";
      return node["format"] === "uuid" ? "00000000-0000-4000-8000-000000000000" : "a";
    case "integer":
    case "number":
      return Math.max((node["minimum"] as number | undefined) ?? 1, 1);
    case "boolean":
      return true;
    case "array":
      return node["minItems"] ? [sample(node["items"] as TSchema)] : [];
    case "object":
      return sampleMembers((node["properties"] ?? {}) as Record<string, TSchema>, (node["required"] ?? []) as readonly string[]);
    default:
      return null;
  }
}

function sampleMembers(
  properties: Readonly<Record<string, TSchema>>,
  required: readonly string[],
  except?: string,
): Record<string, unknown> {
  return Object.fromEntries(required.filter((name) => name !== except).map((name) => [name, sample(properties[name]!)]));
}

/** What the contract also takes for a member that is not text: the lax forms of its coercion table. */
export function laxForms(schema: TSchema): unknown[] {
  const node = nodeOf(schema);
  const value = sample(schema);
  switch (node.type) {
    case "integer":
      return [value, String(value), ` +${value} `, `${value}.0`, ...(value === 1 ? [true] : [])];
    case "number":
      return [value, String(value), `${value}.50`, true];
    case "boolean":
      return [..."true false 1 0 t f y n yes no on off TRUE Off".split(" "), true, false, 1, 0];
    default:
      return node["format"] === "date-time"
        ? ["2026-01-01", "2026-01-01 10:00:00+02:00", "2026-01-01T10:00:00Z", 1767225600]
        : [];
  }
}
