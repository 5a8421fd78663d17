import type { FactFamily } from "./fact.ts";

const minuteUs = 60_000_000;
const hourUs = 60 * minuteUs;
const dayUs = 24 * hourUs;

const periods: Readonly<Record<string, { trunc: "minute" | "hour" | "day"; stepUs: number; count: number }>> = {
  "1h": { trunc: "minute", stepUs: minuteUs, count: 60 },
  "12h": { trunc: "hour", stepUs: hourUs, count: 12 },
  "1d": { trunc: "hour", stepUs: hourUs, count: 24 },
  "7d": { trunc: "day", stepUs: dayUs, count: 7 },
  "30d": { trunc: "day", stepUs: dayUs, count: 30 },
  "90d": { trunc: "day", stepUs: dayUs, count: 90 },
};

/** The buckets of a period that ends with the one of `nowUs`: their width and their starts, oldest first (UTC). */
export function buckets(period: string, nowUs: number): { readonly trunc: string; readonly starts: readonly number[] } {
  const { trunc, stepUs, count } = periods[period] ?? periods["7d"]!;
  const last = Math.floor(nowUs / stepUs) * stepUs;
  return { trunc, starts: Array.from({ length: count }, (_, i) => last - (count - 1 - i) * stepUs) };
}

export interface FamilyCounts {
  readonly timeUs: number;
  world: number;
  experience: number;
  observation: number;
}

/** Counts instants by bucket and family; instants after the last bucket's end belong to no bucket. */
export function timeSeriesOf(
  starts: readonly number[],
  instants: readonly { readonly atUs: number; readonly family: FactFamily }[],
): FamilyCounts[] {
  const stepUs = starts.length > 1 ? starts[1]! - starts[0]! : dayUs;
  const counts = starts.map((timeUs): FamilyCounts => ({ timeUs, world: 0, experience: 0, observation: 0 }));
  for (const { atUs, family } of instants) {
    const bucket = counts[Math.floor((atUs - starts[0]!) / stepUs)];
    if (bucket) bucket[family]++;
  }
  return counts;
}
