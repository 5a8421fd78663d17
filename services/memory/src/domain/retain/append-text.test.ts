import { expect, test } from "vitest";
import { appendText } from "./append-text.ts";

test.each([
  ["prose goes on in a new line", "one", "two", "one\ntwo"],
  ["two conversations become one", '[{"a":1}]', ' [{"b":2}]', '[{"a":1},{"b":2}]'],
  ["an array of other things is prose", "[1]", "[2]", "[1]\n[2]"],
  ["an empty array is prose", "[]", '[{"b":2}]', '[]\n[{"b":2}]'],
  ["a bracket that is no JSON is prose", "[sic] well", '[{"b":2}]', '[sic] well\n[{"b":2}]'],
])("%s", (_, existing, added, expected) => {
  expect(appendText(existing, added)).toBe(expected);
});
