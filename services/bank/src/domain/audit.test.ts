import { describe, expect, test } from "vitest";
import { auditPeriod, fillBuckets } from "./audit.ts";

const HOUR_US = 3_600_000_000;
const nowUs = Date.UTC(2026, 2, 4, 12, 34, 56) * 1_000;

describe("periods", () => {
  test.each([
    ["1d", "hour", 24, Date.UTC(2026, 2, 3, 13)],
    ["7d", "day", 7, Date.UTC(2026, 1, 26)],
    ["30d", "day", 30, Date.UTC(2026, 1, 3)],
  ])("%s", (period, trunc, bucketCount, startMs) => {
    expect(auditPeriod(period, nowUs)).toMatchObject({ period, trunc, bucketCount, startUs: startMs * 1_000 });
  });
  test.each(["", "2d", "toString"])("%j is refused", (period) => {
    expect(() => auditPeriod(period, nowUs)).toThrow("period must be one of 1d, 7d, 30d");
  });
});

test("every bucket is there, oldest first, with its sum", () => {
  const period = auditPeriod("1d", nowUs);
  const buckets = fillBuckets(period, [
    { bucket: 23, action: "recall", count: 2 },
    { bucket: 23, action: "retain", count: 3 },
    { bucket: 0, action: "recall", count: 1 },
  ]);
  expect(buckets).toHaveLength(24);
  expect(buckets[0]).toEqual({ timeUs: period.startUs, actions: { recall: 1 }, total: 1 });
  expect(buckets[1]).toEqual({ timeUs: period.startUs + HOUR_US, actions: {}, total: 0 });
  expect(buckets[23]).toEqual({ timeUs: period.startUs + 23 * HOUR_US, actions: { recall: 2, retain: 3 }, total: 5 });
});
