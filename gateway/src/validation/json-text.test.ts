import { describe, expect, test } from "vitest";
import { findFault, parseJson } from "./json-text.ts";

const parse = (text: string) => parseJson(Buffer.from(text));

test.each([
  ["", undefined],
  [" ", ["Expecting value", 1]],
  ["{", ["Expecting property name enclosed in double quotes", 1]],
  ["[", ["Expecting value", 1]],
  ['{"a"', ["Expecting ':' delimiter", 4]],
  ['{"a" 1}', ["Expecting ':' delimiter", 5]],
  ['{"a":', ["Expecting value", 5]],
  ['{"a":1', ["Expecting ',' delimiter", 6]],
  ['{"a":1 "b":2}', ["Expecting ',' delimiter", 7]],
  ['{"a":1,  }', ["Expecting property name enclosed in double quotes", 9]],
  ["[1,]", ["Expecting value", 3]],
  ["[1 2]", ["Expecting ',' delimiter", 3]],
  ["{'a':1}", ["Expecting property name enclosed in double quotes", 1]],
  ['"abc', ["Unterminated string starting at", 0]],
  ['["é😀", "abc\\', ["Unterminated string starting at", 7]],
  ['"a\\x"', ["Invalid \\escape", 2]],
  ['"a\\u12"', ["Invalid \\uXXXX escape", 3]],
  ['"\\u1234', ["Invalid \\uXXXX escape", 2]],
  ['"\\u12345', ["Unterminated string starting at", 0]],
  ['"a\nb"', ["Invalid control character at", 2]],
  ["nul", ["Expecting value", 0]],
  ["NaN", ["Expecting value", 0]],
  ["[-Infinity]", ["Expecting value", 1]],
  ["-", ["Expecting value", 0]],
  ["01", ["Extra data", 1]],
  ["1. ", ["Extra data", 1]],
  ["1 2", ["Extra data", 2]],
])("says what is wrong with %j", (text, fault) => {
  const parsed = parse(text);
  expect(parsed).toEqual(fault ? { kind: "malformed", error: fault[0], offset: fault[1] } : { kind: "empty" });
});

test("reads what a client may put in front, and numbers of any size", () => {
  expect(parse('\ufeff{"a":[1e400,123456789012345678901234567890]}')).toEqual({
    kind: "value",
    value: { a: [Number.POSITIVE_INFINITY, 1.2345678901234568e29] },
  });
});

test("finds the character at which bytes stop being text, past genuine replacement characters", () => {
  const bytes = Buffer.concat([Buffer.from('"é\ufffd😀\ufffd'), Buffer.from([0xff]), Buffer.from('"')]);
  expect(parseJson(bytes)).toEqual({ kind: "malformed", error: "Invalid UTF-8", offset: 5 });
});

describe("depth", () => {
  const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${"]}".repeat(levels / 2)}`;
  test("is bounded", () => {
    expect(parse(nested(100)).kind).toBe("value");
    expect(parse(nested(102))).toEqual({ kind: "malformed", error: "Nested deeper than 100 levels", offset: 300 });
  });
  test("does not exhaust the stack, whole or cut short", () => {
    for (const text of ["[".repeat(3_000_000), nested(1_000_000)]) expect(parse(text).kind).toBe("malformed");
  });
});

test("the scanner finds a fault exactly when the parser does", () => {
  const seed = Date.now() % 2 ** 31;
  let state = seed;
  const below = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * limit);
  };
  const texts = ['{"items":[{"content":"é 😀\\n","n":-1.5e3},{}],"async":null}', '["\\ud83d\\u12ab", 1, true, [[]]]', "12.5"];
  const pieces = ["{", "}", "[", "]", ",", ":", '"', "\\", "\\u12", "0", "-", ".", "e", " ", "\n", "\u0001", "nul", "\u2028"];
  for (let round = 0; round < 3000; round++) {
    const characters = [...texts[below(texts.length)]!];
    for (let edits = below(4); edits > 0; edits--) {
      const index = below(characters.length + 1);
      if (below(2) === 0) characters.splice(index, 1 + below(2));
      else characters.splice(index, 0, pieces[below(pieces.length)]!);
    }
    const text = characters.join("");
    expect([seed, text, findFault(text) === undefined]).toEqual([seed, text, isJson(text)]);
  }
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
