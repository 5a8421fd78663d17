import { expect, test } from "vitest";
import { createClock } from "./time.ts";
import { createVirtualTime } from "./virtual-time.ts";

function clockOf() {
  const sources = { wallMs: 1_000_000, monotonicMs: 0 };
  const now = createClock({ wallMs: () => sources.wallMs, monotonicMs: () => sources.monotonicMs });
  const pass = (ms: number, wallMs = ms) => {
    sources.monotonicMs += ms;
    sources.wallMs += wallMs;
  };
  return { now, pass };
}

test("the clock follows the wall clock and never answers the same twice", () => {
  const { now, pass } = clockOf();
  const first = now();
  expect(now()).toBe(first + 1);
  pass(250);
  expect(now() - first).toBeGreaterThanOrEqual(250_000);
  expect(now() - first).toBeLessThan(251_010);
});

test("it goes on while the wall clock is set back, and follows it forward", () => {
  const { now, pass } = clockOf();
  const first = now();
  pass(1_000, -3_600_000);
  expect(now() - first).toBe(1_000_000);
  pass(1_000, 1_000);
  expect(now() - first).toBe(2_000_000);
  pass(1_000, 7_200_000);
  expect(now()).toBe((1_000_000 - 3_600_000 + 1_000 + 7_200_000) * 1_000);
});

test("whole milliseconds of the wall clock do not add up to a drift", () => {
  const sources = { monotonicMs: 0.9 };
  const now = createClock({ wallMs: () => 1_000_000 + Math.floor(sources.monotonicMs), monotonicMs: () => sources.monotonicMs });
  for (let step = 0; step < 10_000; step += 1) {
    sources.monotonicMs += 0.37;
    now();
  }
  expect(Math.abs(now() / 1_000 - 1_000_000 - sources.monotonicMs)).toBeLessThan(2);
});

test("virtual time runs timers in order and stops at the condition", async () => {
  const time = createVirtualTime(0);
  const fired: string[] = [];
  time.timers.setTimeout(() => fired.push("late"), 50);
  time.timers.setTimeout(() => time.timers.setTimeout(() => fired.push(`chained at ${time.now()}`), 10), 20);
  time.timers.clearTimeout(time.timers.setTimeout(() => fired.push("never"), 5));
  await time.advance(40);
  expect(fired).toEqual(["chained at 30000"]);
  await time.until(() => fired.length === 2);
  expect(time.monotonicMs()).toBe(50);
  await expect(time.until(() => false, 100)).rejects.toThrow(/within 100 ms/);
});
