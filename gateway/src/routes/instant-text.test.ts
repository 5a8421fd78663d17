import { expect, test } from "vitest";
import { INSTANT_US_MAX, INSTANT_US_MIN, parseDateTime } from "../validation/date-time-text.ts";
import { instantText } from "./instant-text.ts";

test.each([
  [0, "1970-01-01T00:00:00.000000Z"],
  [1_772_625_600_123_456, "2026-03-04T12:00:00.123456Z"],
  [-1, "1969-12-31T23:59:59.999999Z"],
  [-1_000_001, "1969-12-31T23:59:58.999999Z"],
  [5, "1970-01-01T00:00:00.000005Z"],
])("%i is %s", (us, text) => {
  expect(instantText(us)).toBe(text);
});

test.each([INSTANT_US_MIN, INSTANT_US_MAX, 0, -62, 1_772_625_600_000_001])("%i is read back as itself", (us) => {
  expect(parseDateTime(instantText(us))).toEqual({ us });
});
