import { describe, expect, test } from "vitest";
import { bool, dateTime, enumeration, id, int, literal, num, pathId, str, uuid } from "./scalars.ts";
import { ruleOf, type Schema } from "./schema.ts";
import { invalid, startWalk } from "./walk.ts";

/** The value that is read, or the kind and text of the one fault. */
function readOne<T>(schema: Schema<T>, input: unknown): unknown {
  const walk = startWalk();
  const value = ruleOf(schema).read(walk, input);
  if (value !== invalid) return value;
  expect(walk.faults).toHaveLength(1);
  const { type, message, input: given, context } = walk.faults[0]!;
  expect(given).toBe(input);
  return context ? [type, message, context] : [type, message];
}

const integerText = ["int_parsing", "Input should be a valid integer, unable to parse string as an integer"];
const numberText = ["float_parsing", "Input should be a valid number, unable to parse string as a number"];
const notFinite = ["finite_number", "Input should be a finite number"];

test.each([
  [9, 9],
  [-0, 0],
  [9.0, 9],
  [true, 1],
  [false, 0],
  ["9", 9],
  [" +9 ", 9],
  ["\u00a0\u00859", 9],
  ["-9", -9],
  ["1.0", 1],
  ["1.00", 1],
  ["007", 7],
  ["-0", 0],
  ["1_000", 1000],
  ["1_000.0", 1000],
  [1e300, 2 ** 31 - 1],
  ["-99999999999999999999", -(2 ** 31)],
  ["", integerText],
  [" ", integerText],
  ["abc", integerText],
  ["1.5", integerText],
  ["1.", integerText],
  [".0", integerText],
  ["1e3", integerText],
  ["1__0", integerText],
  ["_1", integerText],
  ["1_", integerText],
  ["1.0_0", integerText],
  ["- 1", integerText],
  ["--1", integerText],
  ["0-7", integerText],
  ["0x10", integerText],
  ["1,000", integerText],
  ["1\0", integerText],
  ["\ufeff1", integerText],
  ["\u0661", integerText],
  ["9".repeat(4301), ["int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size"]],
  [1.5, ["int_from_float", "Input should be a valid integer, got a number with a fractional part"]],
  [Number.POSITIVE_INFINITY, notFinite],
  [null, ["int_type", "Input should be a valid integer"]],
  [[], ["int_type", "Input should be a valid integer"]],
  [{}, ["int_type", "Input should be a valid integer"]],
])("int reads %j", (input, expected) => expect(readOne(int(), input)).toStrictEqual(expected));

test("int has bounds that refuse and a cap that does not", () => {
  const schema = int({ ge: 1, le: 5000, cap: 100 });
  expect(readOne(schema, "0")).toEqual(["greater_than_equal", "Input should be greater than or equal to 1", { ge: 1 }]);
  expect(readOne(schema, 5001)).toEqual(["less_than_equal", "Input should be less than or equal to 5000", { le: 5000 }]);
  expect([readOne(schema, 1), readOne(schema, 100), readOne(schema, 5000)]).toEqual([1, 100, 100]);
});

test.each([
  [1.5, 1.5],
  [true, 1],
  [" 9.5 ", 9.5],
  ["1_000.5", 1000.5],
  [".5", 0.5],
  ["5.", 5],
  ["1E+5", 100_000],
  ["1e-400", 0],
  ["", numberText],
  [".", numberText],
  ["1e", numberText],
  [" 1_0", numberText],
  ["1__0", numberText],
  ["0x10", numberText],
  ["1e400", notFinite],
  ["-Infinity", notFinite],
  ["NaN", notFinite],
  [null, ["float_type", "Input should be a valid number"]],
])("num reads %j", (input, expected) => expect(readOne(num(), input)).toStrictEqual(expected));

const booleanText = ["bool_parsing", "Input should be a valid boolean, unable to interpret input"];
test.each([
  ...["TRUE", "1", "t", "Y", "yes", "On", 1, 1.0, true].map((input) => [input, true] as const),
  ...["False", "0", "F", "n", "NO", "oFF", 0, false].map((input) => [input, false] as const),
  ...["", " true", "2", "ja", 2, -1, 0.5].map((input) => [input, booleanText] as const),
  ...[null, [], {}].map((input) => [input, ["bool_type", "Input should be a valid boolean"]] as const),
])("bool reads %j", (input, expected) => expect(readOne(bool(), input)).toStrictEqual(expected));

const dateFault = (error: string) => [
  "datetime_from_date_parsing",
  `Input should be a valid datetime or date, ${error}`,
  { error },
];
const rangeFault = (error: string) => ["datetime_parsing", `Input should be a valid datetime, ${error}`, { error }];
const extra = dateFault("unexpected extra characters at the end of the input");
const at = (iso: string, extraUs = 0) => Date.parse(iso) * 1000 + extraUs;

test.each([
  ["2024-01-02", at("2024-01-02T00:00:00Z")],
  ["2024-01-02T03:04", at("2024-01-02T03:04:00Z")],
  ["2024-01-02 03:04:05", at("2024-01-02T03:04:05Z")],
  ["2024-02-29t23:59:59z", at("2024-02-29T23:59:59Z")],
  ["2000-02-29", at("2000-02-29T00:00:00Z")],
  ["2024-01-02T03:04:05.1234567Z", at("2024-01-02T03:04:05Z", 123_456)],
  ["1969-12-31T23:59:59,5Z", at("1969-12-31T23:59:59Z", 500_000)],
  ["2024-01-02T03:04:05+0530", at("2024-01-01T21:34:05Z")],
  ["2024-01-02T03:04:05-05:30", at("2024-01-02T08:34:05Z")],
  ["2024-01-02T03:04:05\u221223:59", at("2024-01-03T03:03:05Z")],
  ["1700000000", 1_700_000_000_000_000],
  ["-1.5", -1_500_000],
  [1_700_000_000.123456, 1_700_000_000_123_456],
  [1_700_000_000_000, 1_700_000_000_000_000],
  [2e10, Number.MAX_SAFE_INTEGER],
  [2e10 + 1, 20_000_000_001_000],
  ["0001-01-01", Number.MIN_SAFE_INTEGER],
  ["9999-12-31T23:59:59-23:59", Number.MAX_SAFE_INTEGER],
  ["", dateFault("input is too short")],
  ["2024-1-2", dateFault("input is too short")],
  ["1_000", dateFault("input is too short")],
  ["20x4-01-02", dateFault("invalid character in year")],
  [" 2024-01-02", dateFault("invalid character in year")],
  ["\uff12024-01-02", dateFault("invalid character in year")],
  ["2024/01/02", dateFault("invalid date separator, expected `-`")],
  ["99999999999999999999", dateFault("invalid date separator, expected `-`")],
  ["2024-0x-01", dateFault("invalid character in month")],
  ["2024-01-0x", dateFault("invalid character in day")],
  ["2024-13-01", dateFault("month value is outside expected range of 1-12")],
  ["2024-00-01", dateFault("month value is outside expected range of 1-12")],
  ["2023-02-29", dateFault("day value is outside expected range")],
  ["1900-02-29", dateFault("day value is outside expected range")],
  ["2024-04-31", dateFault("day value is outside expected range")],
  ["2024-01-00", dateFault("day value is outside expected range")],
  ["2024-01-02T", extra],
  ["2024-01-02T24:00", extra],
  ["2024-01-02T03:60", extra],
  ["2024-01-02T03:04:60", extra],
  ["2024-01-02T03:04:05.Z", extra],
  ["2024-01-02T03:04:05+05", extra],
  ["2024-01-02T03:04:05+24:00", extra],
  ["2024-01-02T03:04:05 Z", extra],
  ["2024-01-02Z", extra],
  ["2024-01-02x03:04", extra],
  ["0000-01-01", rangeFault("year 0 is out of range")],
  ["442604405940022", dateFault("dates after 9999 are not supported as unix timestamps")],
  [1e300, rangeFault("dates after 9999 are not supported as unix timestamps")],
  [-1e300, rangeFault("dates before 0000 are not supported as unix timestamps")],
  [true, ["datetime_type", "Input should be a valid datetime"]],
  [null, ["datetime_type", "Input should be a valid datetime"]],
])("dateTime reads %j", (input, expected) => expect(readOne(dateTime(), input)).toStrictEqual(expected));

const canonical = "12345678-1234-1234-1234-1234567890ab";
const uuidFault = (error: string) => ["uuid_parsing", `Input should be a valid UUID, ${error}`, { error }];
test.each([
  [canonical, canonical],
  [canonical.toUpperCase(), canonical],
  [canonical.replaceAll("-", ""), canonical],
  [`{${canonical}}`, canonical],
  [`urn:uuid:${canonical}`, canonical],
  ["zz", uuidFault("invalid character: found `z` at 1")],
  [` ${canonical}`, uuidFault("invalid character: found ` ` at 1")],
  ["12é", uuidFault("invalid character: found `é` at 3")],
  ["abcd", uuidFault("invalid length: expected length 32 for simple format, found 4")],
  ["", uuidFault("invalid length: expected length 32 for simple format, found 0")],
  [canonical.slice(0, 23), uuidFault("invalid group count: expected 5, found 4")],
  [`${canonical}-`, uuidFault("invalid group count: expected 5, found 6")],
  [canonical.slice(1), uuidFault("invalid group length in group 0: expected 8, found 7")],
  [`${canonical}c`, uuidFault("invalid group length in group 4: expected 12, found 13")],
  [5, ["uuid_type", "UUID input should be a string, bytes or UUID object"]],
])("uuid reads %j", (input, expected) => expect(readOne(uuid(), input)).toStrictEqual(expected));

describe("text", () => {
  test("is cleaned of what no store keeps, and counted in characters", () => {
    expect(readOne(str(), "a\0b\ud800\u{1f600}")).toBe("ab\ufffd\u{1f600}");
    expect(readOne(str({ maxLength: 2 }), "😀😀")).toBe("😀😀");
    expect(readOne(str({ maxLength: 2 }), "😀😀😀")).toEqual([
      "string_too_long",
      "String should have at most 2 characters",
      { max_length: 2 },
    ]);
    expect(readOne(str({ minLength: 1 }), "\0")).toEqual([
      "string_too_short",
      "String should have at least 1 character",
      { min_length: 1 },
    ]);
    expect(readOne(str({ minLength: 2 }), "😀")).toEqual(expect.arrayContaining(["string_too_short"]));
    expect(readOne(str(), 5)).toEqual(["string_type", "Input should be a valid string"]);
  });

  test("of an id is taken as it is or refused", () => {
    expect(readOne(id(), "A b/\u{1f600}\ufffd")).toBe("A b/\u{1f600}\ufffd");
    for (const input of ["a\0", "\ud800", "a\u0085", "a\n"]) {
      expect(readOne(id(), input)).toEqual(expect.arrayContaining(["string_pattern_mismatch"]));
    }
    expect(readOne(pathId(), "a/b")).toEqual(expect.arrayContaining(["string_pattern_mismatch"]));
    expect(readOne(id({ pattern: "^[a-z]+$" }), "a\n")).toEqual([
      "string_pattern_mismatch",
      "String should match pattern '^[a-z]+$'",
      { pattern: "^[a-z]+$" },
    ]);
    expect(readOne(id(), "")).toEqual(expect.arrayContaining(["string_too_short"]));
    expect(readOne(id(), "x".repeat(256))).toEqual(expect.arrayContaining(["string_too_long"]));
  });

  test("of a closed list names the list", () => {
    expect(readOne(literal(["a"]), "x")).toEqual(["literal_error", "Input should be 'a'", { expected: "'a'" }]);
    expect(readOne(literal(["a", "b"]), 1)).toEqual(["literal_error", "Input should be 'a' or 'b'", { expected: "'a' or 'b'" }]);
    const expected = "'low', 'mid' or 'high'";
    expect(readOne(enumeration(["low", "mid", "high"]), "LOW")).toEqual(["enum", `Input should be ${expected}`, { expected }]);
    expect(readOne(enumeration(["low", "mid", "high"]), "mid")).toBe("mid");
  });
});
