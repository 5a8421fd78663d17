import type { Interval } from "../fact.ts";

/** Whole UTC days counted from 1970-01-01; calendar arithmetic on them has no time zone and no clock change in it. */
export type Day = number;

/** A run of days, both ends included. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}

export interface CalendarDate {
  readonly year: number;
  /** 0 = January. */
  readonly month: number;
  readonly date: number;
}

const DAY_US = 86_400_000_000;
const DAY_MS = 86_400_000;

export function dayAt(instantUs: number): Day {
  return Math.floor(instantUs / DAY_US);
}

/** Out-of-range months and dates carry over ("month -1" is December of the year before). */
export function dayOf(year: number, month: number, date: number): Day {
  const instant = new Date(0);
  instant.setUTCFullYear(year, month, date); // unlike Date.UTC, takes the years 0 to 99 literally
  return Math.floor(instant.getTime() / DAY_MS);
}

export function dateOf(day: Day): CalendarDate {
  const instant = new Date(day * DAY_MS);
  return { year: instant.getUTCFullYear(), month: instant.getUTCMonth(), date: instant.getUTCDate() };
}

/** 0 = Monday ... 6 = Sunday. */
export function weekdayOf(day: Day): number {
  return (((day + 3) % 7) + 7) % 7; // 1970-01-01 was a Thursday
}

export function oneDay(day: Day): DayRange {
  return { from: day, to: day };
}

/** Monday to Sunday of the week that is `offset` weeks from the week of `day`. */
export function weekOf(day: Day, offset: number): DayRange {
  const monday = day - weekdayOf(day) + 7 * offset;
  return { from: monday, to: monday + 6 };
}

/** The month that is `offset` months from the given one, and `count - 1` further ones. */
export function monthsOf(year: number, month: number, count = 1): DayRange {
  return { from: dayOf(year, month, 1), to: dayOf(year, month + count, 1) - 1 };
}

export function yearsOf(year: number, count = 1): DayRange {
  return monthsOf(year, 0, 12 * count);
}

/** From the first microsecond of the first day to the last of the last. */
export function intervalOf(range: DayRange): Interval {
  return { startUs: range.from * DAY_US, endUs: (range.to + 1) * DAY_US - 1 };
}
