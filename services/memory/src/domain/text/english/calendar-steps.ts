import type { Tense } from "../time-expressions.ts";
import { type Day, type DayRange, dateOf, dayOf, monthsOf, oneDay, weekdayOf, weekOf, yearsOf } from "../utc-calendar.ts";
import { numberOf } from "./calendar-words.ts";

/** What an expression is relative to. */
export interface Setting {
  readonly today: Day;
  readonly tense: Tense;
}

/** A number of units in words or digits; a vague word stands for a range of numbers. */
export interface Amount {
  readonly least: number;
  readonly most: number;
  readonly isVague: boolean;
}

export function amountOf(count: string | undefined, vague: string | undefined): Amount {
  if (vague === undefined) {
    const exact = numberOf(count ?? "one");
    return { least: exact, most: exact, isVague: false };
  }
  return /couple/i.test(vague) ? { least: 1, most: 3, isVague: true } : { least: 2, most: 5, isVague: true };
}

const daysPerUnit: Readonly<Record<string, number>> = {
  day: 1,
  week: 7,
  weekend: 7,
  month: 30,
  quarter: 91,
  year: 365,
  decade: 3650,
};

export function unitDays(unit: string): number {
  return daysPerUnit[unit.toLowerCase()] ?? 1;
}

/**
 * The days an amount of units away: -1 before today, +1 after. A month or year counted exactly is that calendar month or
 * year and a week gives three days either way, for people count those loosely.
 */
export function daysAway(amount: Amount, unitWord: string, { today }: Setting, direction: -1 | 1): DayRange {
  const unit = unitWord.toLowerCase();
  const near = direction * amount.least;
  const far = direction * amount.most;
  if (unit === "weekend" && !amount.isVague) return weekend(today, near);
  if (unit === "week" && !amount.isVague) return { from: today + 7 * near - 3, to: today + 7 * near + 3 };
  const { year, month } = dateOf(today);
  if (unit === "month" && !amount.isVague) return monthsOf(year, month + near);
  const years = unit === "decade" ? 10 : 1;
  if (unit === "year" || unit === "decade")
    return yearsOf(year + years * Math.min(near, far), 1 + years * (amount.most - amount.least));
  const days = unitDays(unit);
  return { from: today + days * Math.min(near, far), to: today + days * Math.max(near, far) };
}

/** -1 for "last", 0 for "this", +1 for "next". */
export function offsetOf(step: string): number {
  if (/^this$/i.test(step)) return 0;
  return /next|coming/i.test(step) ? 1 : -1;
}

/** The calendar week (Monday first), weekend, month, quarter or year `offset` periods from today's. */
export function periodAt(unitWord: string, offset: number, { today }: Setting): DayRange {
  const { year, month } = dateOf(today);
  switch (unitWord.toLowerCase()) {
    case "weekend":
      return weekend(today, offset);
    case "month":
      return monthsOf(year, month + offset);
    case "quarter":
      return monthsOf(year, 3 * (Math.floor(month / 3) + offset), 3);
    case "year":
      return yearsOf(year + offset);
    default:
      return weekOf(today, offset);
  }
}

/** Saturday and Sunday; "the coming weekend" is that of the running week, "next weekend" the one after. */
export function weekendAt(step: string, { today }: Setting): DayRange {
  return weekend(today, /coming/i.test(step) ? 0 : offsetOf(step));
}

/** "the weekend" without more: by tense the latest or the next, the running one included; else the nearer one. */
export function openWeekend({ today, tense }: Setting): DayRange {
  const weekday = weekdayOf(today);
  const isRunning = weekday >= 5;
  const isNearBack = tense === "open" && weekday <= 2;
  return weekend(today, !isRunning && (tense === "past" || isNearBack) ? -1 : 0);
}

function weekend(today: Day, offset: number): DayRange {
  const { to } = weekOf(today, offset);
  return { from: to - 1, to };
}

/** "last" is strictly before today, "next" in the week after this one; without a step word the tense decides. */
export function weekdayAt(weekday: number, step: string | undefined, { today, tense }: Setting): Day {
  const back = (weekdayOf(today) - weekday + 7) % 7;
  const ahead = (7 - back) % 7;
  if (step === undefined) {
    if (tense === "open") return back <= ahead ? today - back : today + ahead;
    return tense === "past" ? today - back : today + ahead;
  }
  if (/coming/i.test(step)) return today + (ahead || 7);
  const offset = offsetOf(step);
  return offset < 0 ? today - (back || 7) : weekOf(today, offset).from + weekday;
}

/** A month named without its year. */
export function monthAt(month: number, lead: string, setting: Setting): DayRange {
  const inYear = (year: number): DayRange => monthsOf(year, month);
  return /^(?:last|this past|next)$/i.test(lead) ? stepTo(inYear, lead, setting) : nearestYear(inYear, setting);
}

/** "last" is the latest that is over, "next" the first that has not begun, "this" the closest. */
export function stepTo(inYear: (year: number) => DayRange, step: string, { today }: Setting): DayRange {
  const offset = offsetOf(step);
  if (offset === 0) return nearestYear(inYear, { today, tense: "open" });
  const around = yearsAround(inYear, today);
  return offset < 0 ? around.findLast((range) => range.to < today)! : around.find((range) => range.from > today)!;
}

/** Of a range that comes every year the one the tense points to: begun at the latest today, not yet over, or closest. */
export function nearestYear(inYear: (year: number) => DayRange, { today, tense }: Setting): DayRange {
  const around = yearsAround(inYear, today);
  if (tense === "past") return around.findLast((range) => range.from <= today)!;
  if (tense === "future") return around.find((range) => range.to >= today)!;
  const distance = (range: DayRange): number => Math.abs((range.from + range.to) / 2 - today);
  return around.reduce((best, range) => (distance(range) < distance(best) ? range : best));
}

/** Two years back suffice: a range of up to a year that began in the last year may not be over. */
function yearsAround(inYear: (year: number) => DayRange, today: Day): DayRange[] {
  const { year } = dateOf(today);
  return [-2, -1, 0, 1, 2].map((offset) => inYear(year + offset));
}

/** The first, middle or last third of a period ("early June", "the end of 2022"). */
export function partOf<R extends DayRange | undefined>(range: R, part: string | undefined): R | DayRange {
  if (range === undefined || part === undefined) return range;
  const third = Math.round((range.to - range.from + 1) / 3);
  if (/early|beginning|start/i.test(part)) return { from: range.from, to: range.from + third - 1 };
  if (/late|end/i.test(part)) return { from: range.to - third + 1, to: range.to };
  return { from: range.from + third, to: range.to - third };
}

const feasts: readonly (readonly [RegExp, number, number])[] = [
  [/^christmas eve/, 11, 24],
  [/^christmas/, 11, 25],
  [/^halloween/, 9, 31],
  [/^valentine/, 1, 14],
  [/^new year.*eve/, 11, 31],
  [/^new year/, 0, 1],
];

/** Feasts with a fixed date. */
export function feastAt(name: string, lead: string, setting: Setting): DayRange {
  const [, month, date] = feasts.find(([pattern]) => pattern.test(name.toLowerCase()))!;
  const inYear = (year: number): DayRange => oneDay(dayOf(year, month, date));
  return /^(?:last|next)$/i.test(lead) ? stepTo(inYear, lead, setting) : nearestYear(inYear, setting);
}
