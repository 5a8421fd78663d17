import { clampInstant, type DateTimeText, fromUnixTime, parseDateTime } from "./date-time-text.ts";
import { type NumberText, parseInteger, parseNumber } from "./number-text.ts";
import { makeSchema, type Schema } from "./schema.ts";
import { cleanText, codePointCount } from "./text.ts";
import { parseUuid } from "./uuid-text.ts";
import { fault, type Invalid, type Walk } from "./walk.ts";

interface Described {
  readonly description?: string;
}

export interface StrOptions extends Described {
  /** Code points, both inclusive. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** Text. Only a JSON string is accepted; NUL and lone surrogates are cleaned away before the bounds are checked. */
export function str(options: StrOptions = {}): Schema<string> {
  const pattern = options.pattern === undefined ? undefined : new RegExp(options.pattern, "u");
  return makeSchema(
    { type: "string", ...options },
    { read: (walk, input) => readText(walk, input, options, pattern, cleanText) },
  );
}

const ID_LENGTH_MAX = 255;
// Without control characters. Lone surrogates do not fit either, but no pattern that other languages read can say so.
const idPattern = String.raw`^[^\x00-\x1f\x7f-\x9f]*$`;
const segmentPattern = String.raw`^[^/\x00-\x1f\x7f-\x9f]*$`;

/** A caller-chosen id in a body or query, 1 to 255 code points. Never cleaned: two different ids must not become one. */
export function id(options: StrOptions = {}): Schema<string> {
  const bounded = { minLength: 1, maxLength: ID_LENGTH_MAX, pattern: idPattern, ...options };
  const pattern = new RegExp(bounded.pattern, "u");
  const untouched = (text: string) => text;
  return makeSchema(
    { type: "string", ...bounded },
    { read: (walk, input) => readText(walk, input, bounded, pattern, untouched) },
  );
}

/** An id that stands in a path: like `id`, and without a slash. */
export function pathId(options: Described = {}): Schema<string> {
  return id({ pattern: segmentPattern, ...options });
}

function readText(
  walk: Walk,
  input: unknown,
  bounds: StrOptions,
  pattern: RegExp | undefined,
  prepare: (text: string) => string,
): string | Invalid {
  if (typeof input !== "string") return fault(walk, "string_type", "Input should be a valid string", input);
  const text = prepare(input);
  const { minLength: min, maxLength: max } = bounds;
  // A text has at most as many code points as UTF-16 units and at least half as many: most need no counting.
  if (max !== undefined && text.length > max && codePointCount(text) > max) {
    return fault(walk, "string_too_long", `String should have at most ${characters(max)}`, input, { max_length: max });
  }
  if (min !== undefined && text.length < min * 2 && codePointCount(text) < min) {
    return fault(walk, "string_too_short", `String should have at least ${characters(min)}`, input, { min_length: min });
  }
  if (pattern && !(pattern.test(text) && text.isWellFormed())) {
    const context = { pattern: pattern.source };
    return fault(walk, "string_pattern_mismatch", `String should match pattern '${pattern.source}'`, input, context);
  }
  return text;
}

function characters(count: number): string {
  return count === 1 ? "1 character" : `${count} characters`;
}

export interface NumberOptions extends Described {
  /** Inclusive bounds; outside is a fault. */
  readonly ge?: number;
  readonly le?: number;
}

export interface IntOptions extends NumberOptions {
  /** Larger values are accepted and applied as this one. */
  readonly cap?: number;
}

// Integers of a request travel as 32-bit fields; no bound, offset or count of the contract means anything beyond.
const INT_MAX = 2 ** 31 - 1;

/** A whole number; also `9.0`, `" 9 "`, `"1_000"` and booleans. Without `ge` or `le` it saturates at 32 bits. */
export function int(options: IntOptions = {}): Schema<number> {
  const { ge, le, cap = INT_MAX, description } = options;
  const read = (walk: Walk, input: unknown): number | Invalid => {
    const value = readInteger(walk, input);
    if (typeof value !== "number") return value;
    const bounded = withinBounds(walk, value, options, input);
    return typeof bounded === "number" ? Math.max(Math.min(bounded, cap), -INT_MAX - 1) : bounded;
  };
  return makeSchema({ type: "integer", ...bounds(ge, le), ...(description && { description }) }, { read });
}

/** A finite number; also numeric strings and booleans. */
export function num(options: NumberOptions = {}): Schema<number> {
  const { ge, le, description } = options;
  const read = (walk: Walk, input: unknown): number | Invalid => {
    const value = readNumber(walk, input);
    return typeof value === "number" ? withinBounds(walk, value, options, input) : value;
  };
  return makeSchema({ type: "number", ...bounds(ge, le), ...(description && { description }) }, { read });
}

function readInteger(walk: Walk, input: unknown): number | Invalid {
  if (typeof input === "number") {
    if (!Number.isFinite(input)) return notFinite(walk, input);
    if (Number.isInteger(input)) return input + 0;
    return fault(walk, "int_from_float", "Input should be a valid integer, got a number with a fractional part", input);
  }
  if (typeof input === "boolean") return Number(input);
  if (typeof input === "string") return fromText(walk, parseInteger(input), input, "int_parsing", "integer", "an integer");
  return fault(walk, "int_type", "Input should be a valid integer", input);
}

function readNumber(walk: Walk, input: unknown): number | Invalid {
  if (typeof input === "number") return Number.isFinite(input) ? input : notFinite(walk, input);
  if (typeof input === "boolean") return Number(input);
  if (typeof input === "string") return fromText(walk, parseNumber(input), input, "float_parsing", "number", "a number");
  return fault(walk, "float_type", "Input should be a valid number", input);
}

function fromText(walk: Walk, parsed: NumberText, input: string, type: string, noun: string, withArticle: string) {
  if (parsed.kind === "value") return parsed.value;
  if (parsed.kind === "not_finite") return notFinite(walk, input);
  if (parsed.kind === "too_long") {
    return fault(walk, "int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size", input);
  }
  return fault(walk, type, `Input should be a valid ${noun}, unable to parse string as ${withArticle}`, input);
}

function notFinite(walk: Walk, input: unknown): Invalid {
  return fault(walk, "finite_number", "Input should be a finite number", input);
}

function withinBounds(walk: Walk, value: number, { ge, le }: NumberOptions, input: unknown): number | Invalid {
  if (le !== undefined && value > le) {
    return fault(walk, "less_than_equal", `Input should be less than or equal to ${le}`, input, { le });
  }
  if (ge !== undefined && value < ge) {
    return fault(walk, "greater_than_equal", `Input should be greater than or equal to ${ge}`, input, { ge });
  }
  return value;
}

function bounds(ge: number | undefined, le: number | undefined) {
  return { ...(ge !== undefined && { minimum: ge }), ...(le !== undefined && { maximum: le }) };
}

const booleanWords: ReadonlyMap<string | number, boolean> = new Map<string | number, boolean>([
  ...["true", "1", "t", "y", "yes", "on"].map((word) => [word, true] as const),
  ...["false", "0", "f", "n", "no", "off"].map((word) => [word, false] as const),
  [1, true],
  [0, false],
]);

/** True or false; also 1, 0 and the usual words in any case, without surrounding blanks. */
export function bool(options: Described = {}): Schema<boolean> {
  const read = (walk: Walk, input: unknown): boolean | Invalid => {
    if (typeof input === "boolean") return input;
    if (typeof input !== "string" && typeof input !== "number") {
      return fault(walk, "bool_type", "Input should be a valid boolean", input);
    }
    const value = booleanWords.get(typeof input === "string" ? input.toLowerCase() : input);
    if (value !== undefined) return value;
    return fault(walk, "bool_parsing", "Input should be a valid boolean, unable to interpret input", input);
  };
  return makeSchema({ type: "boolean", ...options }, { read });
}

/**
 * A bound in time, in integer microseconds: ISO 8601 text or Unix seconds or milliseconds. Instants that a number cannot
 * hold exactly are cut to the nearest one that it can, which changes no range; text that is to be stored as an instant of
 * its own is a `str` read with `parseDateTime`, which does not cut.
 */
export function dateTime(options: Described = {}): Schema<number> {
  const read = (walk: Walk, input: unknown): number | Invalid => {
    const parsed = readInstant(input);
    if (parsed === undefined) return fault(walk, "datetime_type", "Input should be a valid datetime", input);
    if ("us" in parsed) return clampInstant(parsed.us);
    const { error } = parsed;
    if (parsed.fault === "range") {
      return fault(walk, "datetime_parsing", `Input should be a valid datetime, ${error}`, input, { error });
    }
    return fault(walk, "datetime_from_date_parsing", `Input should be a valid datetime or date, ${error}`, input, { error });
  };
  return makeSchema({ type: "string", format: "date-time", ...options }, { read });
}

function readInstant(input: unknown): DateTimeText | undefined {
  if (typeof input === "string") return parseDateTime(input);
  return typeof input === "number" ? fromUnixTime(input) : undefined;
}

/** A UUID in any usual form; answers lower case with hyphens. */
export function uuid(options: Described = {}): Schema<string> {
  const read = (walk: Walk, input: unknown): string | Invalid => {
    if (typeof input !== "string") {
      return fault(walk, "uuid_type", "UUID input should be a string, bytes or UUID object", input);
    }
    const parsed = parseUuid(input);
    if ("uuid" in parsed) return parsed.uuid;
    return fault(walk, "uuid_parsing", `Input should be a valid UUID, ${parsed.error}`, input, { error: parsed.error });
  };
  return makeSchema({ type: "string", format: "uuid", ...options }, { read });
}

/** One of a closed list of words, reported as `literal_error`. */
export function literal<const W extends string>(words: readonly W[], options: Described = {}): Schema<W> {
  return oneOf("literal_error", words, options);
}

/** Like `literal`, reported as `enum`: which of the two a member uses is part of the contract. */
export function enumeration<const W extends string>(words: readonly W[], options: Described = {}): Schema<W> {
  return oneOf("enum", words, options);
}

function oneOf<W extends string>(type: string, words: readonly W[], options: Described): Schema<W> {
  const quoted = words.map((word) => `'${word}'`);
  const expected = quoted.length > 1 ? `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}` : quoted.join("");
  const read = (walk: Walk, input: unknown): W | Invalid => {
    const word = words.find((candidate) => candidate === input);
    return word ?? fault(walk, type, `Input should be ${expected}`, input, { expected });
  };
  return makeSchema({ type: "string", enum: [...words], ...options }, { read });
}
