import { describe, expect, test } from "vitest";
import { type FailedAttempt, RETRY_JITTER, retryAfterSeconds, retryWaitSeconds, retryWaitUs } from "./retry-ladder.ts";

const nowUs = Date.UTC(2026, 2, 4, 12) * 1_000;
const waitSeconds = (parts: Partial<FailedAttempt>) =>
  (retryWaitUs({ failures: 1, status: 500, retryAfter: null, nowUs, random: () => 0.5, ...parts }) ?? Number.NaN) / 1_000_000;

describe("waits", () => {
  test("five waits as in the contract, and none after the sixth failure", () => {
    expect([1, 2, 3, 4, 5].map((failures) => waitSeconds({ failures }))).toEqual([5, 300, 1_800, 7_200, 18_000]);
    expect(retryWaitUs({ failures: 6, status: 500, retryAfter: "5", nowUs, random: () => 0.5 })).toBeNull();
  });

  test("ten thousand jittered waits stay within a fifth and use the whole width", () => {
    const factors = Array.from(
      { length: 10_000 },
      (_, index) => waitSeconds({ failures: 1 + (index % 5), random: Math.random }) / retryWaitSeconds[index % 5]!,
    );
    expect(Math.min(...factors)).toBeGreaterThanOrEqual(1 - RETRY_JITTER);
    expect(Math.max(...factors)).toBeLessThanOrEqual(1 + RETRY_JITTER);
    expect(Math.min(...factors)).toBeLessThan(0.81);
    expect(Math.max(...factors)).toBeGreaterThan(1.19);
  });

  test.each([
    { status: 429, retryAfter: "60", seconds: 60 },
    { status: 503, retryAfter: " 60 ", seconds: 60 },
    { status: 503, retryAfter: "2", seconds: 5 },
    { status: 503, retryAfter: "3600", seconds: 3_600 },
    { status: 503, retryAfter: "3601", seconds: 3_600 },
    { status: 503, retryAfter: "9".repeat(400), seconds: 3_600 },
    { status: 503, retryAfter: "-60", seconds: 5 },
    { status: 503, retryAfter: "1e3", seconds: 5 },
    { status: 503, retryAfter: "soon", seconds: 5 },
    { status: 503, retryAfter: "", seconds: 5 },
    { status: 500, retryAfter: "60", seconds: 5 },
    { status: 404, retryAfter: "60", seconds: 5 },
    { status: null, retryAfter: "60", seconds: 5 },
    { status: 503, retryAfter: "Wed, 04 Mar 2026 12:02:00 GMT", seconds: 120 },
    { status: 429, retryAfter: "Wed, 04 Mar 2026 11:00:00 GMT", seconds: 5 },
    { status: 429, retryAfter: "Wed, 04 Mar 2099 12:00:00 GMT", seconds: 3_600 },
    { status: 429, retryAfter: "Wed, 99 Foo 2026 12:02:00 GMT", seconds: 5 },
    { status: 429, retryAfter: "2026-03-04T12:02:00Z", seconds: 5 },
  ])("$status with Retry-After '$retryAfter' waits $seconds s", ({ status, retryAfter, seconds }) => {
    expect(waitSeconds({ status, retryAfter })).toBe(seconds);
  });

  test("asking for less than the ladder's wait does not shorten it, even where that is over an hour", () => {
    expect(waitSeconds({ failures: 5, status: 503, retryAfter: "60" })).toBe(18_000);
  });

  test("a missing header asks for nothing", () => {
    expect(retryAfterSeconds(null, nowUs)).toBe(0);
  });
});
