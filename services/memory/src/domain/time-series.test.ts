import { expect, test } from "vitest";
import { buckets, timeSeriesOf } from "./time-series.ts";

const now = Date.UTC(2026, 2, 4, 12, 34, 56) * 1000;

test.each([
  ["1h", "minute", 60, "2026-03-04T11:35:00.000Z", "2026-03-04T12:34:00.000Z"],
  ["12h", "hour", 12, "2026-03-04T01:00:00.000Z", "2026-03-04T12:00:00.000Z"],
  ["7d", "day", 7, "2026-02-26T00:00:00.000Z", "2026-03-04T00:00:00.000Z"],
  ["90d", "day", 90, "2025-12-05T00:00:00.000Z", "2026-03-04T00:00:00.000Z"],
])("%s has %s buckets up to now", (period, trunc, count, first, last) => {
  const { trunc: width, starts } = buckets(period, now);
  const text = (us: number | undefined) => new Date(us! / 1000).toISOString();
  expect([width, starts.length, text(starts[0]), text(starts.at(-1))]).toEqual([trunc, count, first, last]);
});

test("instants are counted by bucket and family, those after the last bucket not at all", () => {
  const { starts } = buckets("7d", now);
  const series = timeSeriesOf(starts, [
    { atUs: starts[0]!, family: "world" },
    { atUs: starts[1]! - 1, family: "experience" },
    { atUs: now, family: "observation" },
    { atUs: now + 86_400_000_000, family: "world" },
  ]);
  expect(series[0]).toEqual({ timeUs: starts[0], world: 1, experience: 1, observation: 0 });
  expect(series.at(-1)).toMatchObject({ observation: 1, world: 0 });
});
