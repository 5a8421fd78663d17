import { createRequire } from "node:module";
import type * as Chrono from "chrono-node/en";
import { type DayRange, dayOf, monthsOf, oneDay } from "../utc-calendar.ts";
import { monthSource } from "./calendar-words.ts";

export interface ExplicitDate {
  readonly range: DayRange;
  readonly start: number;
  readonly text: string;
  /** No year was written; the one nearest to the reference was assumed. */
  readonly yearIsImplied: boolean;
}

/** Dates written with a month name and a number, or all in numbers with the year: "May 7", "3-5 July 2023", "2023-05-07". */
export function explicitDates(text: string, reference: Date): ExplicitDate[] {
  if (!mayHoldDate.test(text)) return [];
  const { strict } = chrono();
  const dates: ExplicitDate[] = [];
  for (const { text: matched, index, start, end } of strict.parse(text, { instant: reference, timezone: 0 })) {
    // The parser also reads "at 7", "2/3" and "for two years"; times of day and fractions are no dates.
    if (!mayHoldDate.test(matched)) continue;
    const first = daysOf(start);
    const last = end ? daysOf(end) : first;
    if (last.to < first.from) continue;
    const range = { from: first.from, to: last.to };
    dates.push({ range, start: index, text: matched, yearIsImplied: !start.isCertain("year") });
  }
  return dates;
}

const mayHoldDate = new RegExp(
  `\\b${monthSource}.{0,12}\\d|\\d.{0,8}\\b${monthSource}|\\d{4}[-/.]\\d{1,2}[-/.]\\d|\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{2}`,
  "i",
);

function daysOf(part: Chrono.ParsedResult["start"]): DayRange {
  const year = part.get("year")!;
  const month = part.get("month")! - 1;
  if (!part.isCertain("day")) return monthsOf(year, month);
  return oneDay(dayOf(year, month, part.get("day")!));
}

const require = createRequire(import.meta.url);
let loaded: typeof Chrono | undefined;

/** Loading takes about 50 ms, so it waits for the first text that looks like a date. */
function chrono(): typeof Chrono {
  loaded ??= require("chrono-node/en") as typeof Chrono;
  return loaded;
}

/** Loads the date parser ahead of its first use. */
export function loadExplicitDates(): void {
  chrono();
}
