import type { Interval } from "../fact.ts";
import { explicitDates } from "./english/explicit-dates.ts";
import { tenseOf } from "./english/tense.ts";
import { relativeTimes } from "./english/time-rules.ts";
import { type DayRange, dateOf, dayAt, dayOf, intervalOf } from "./utc-calendar.ts";

/** By the length of the interval: up to 6 days are `days`, up to 92 a `quarter` (or season), anything beyond a year a `range`. */
export type TimePrecision = "day" | "days" | "week" | "month" | "quarter" | "year" | "range";

/** What kind of words gave the time; decides between several expressions of one query. */
export type TimeKind = "date" | "relative" | "weekday" | "period";

export interface TimeExpression {
  /** Whole UTC days, both ends inclusive. */
  readonly interval: Interval;
  readonly precision: TimePrecision;
  readonly kind: TimeKind;
  /** The words as written, and where they start. */
  readonly text: string;
  readonly start: number;
  /** A month or date without a year: the year was guessed from tense and reference, so it may fit another year as well. */
  readonly yearIsImplied: boolean;
}

/** What a rule found, in days; `time-expressions` turns it into instants. */
export interface FoundTime extends Omit<TimeExpression, "interval" | "precision"> {
  readonly range: DayRange;
}

/** Which way an incomplete expression ("in June", "on Friday") points. */
export type Tense = "past" | "future" | "open";

/**
 * Every time expression of a text, in order of appearance, made absolute with the time of the text. English; other
 * languages give only dates in numbers. Expressions never overlap.
 */
export function resolveTimeExpressions(text: string, referenceUs: number): TimeExpression[] {
  return mayHoldTime.test(text) ? findTimes(text, referenceUs, tenseOf(text)) : [];
}

/**
 * The time window a query asks for, or `undefined`. Of several expressions the most specific wins (digits, then month or
 * relative day, then weekday, then period), then the narrowest, then the first. Incomplete dates are taken as past.
 */
export function parseQueryWindow(query: string, referenceUs: number): TimeExpression | undefined {
  if (!mayHoldTime.test(query)) return undefined;
  const tense = tenseOf(query) === "future" ? "future" : "past";
  const times = findTimes(query, referenceUs, tense);
  return times.toSorted((a, b) => specificity(b) - specificity(a) || width(a) - width(b))[0];
}

/** True for most texts with a time in them and few others; spares the rules for the rest. */
const mayHoldTime =
  /\d|\b(?:yesterday|today|tonight|tomorrow|last|next|this|past|ago|back|week(?:end)?s?|months?|years?|quarter|other day|from now|spring|summer|autumn|winter|in (?:a|an|one|two|three|four|five|six|seven|eight|nine|ten)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|christmas|halloween|valentine|new year)\b/i;

function findTimes(text: string, referenceUs: number, tense: Tense): TimeExpression[] {
  const today = dayAt(referenceUs);
  const taken: FoundTime[] = [];
  const relative = relativeTimes(text, { today, tense });
  for (const date of explicitDates(text, new Date(referenceUs / 1000))) {
    // "between June and August 2022" is one range, which the parser sees as two months; "on Monday, July 3" is its date.
    if (relative.some((time) => covers(time, date))) continue;
    taken.push({ ...date, range: withTense(date.range, date.yearIsImplied, today, tense), kind: "date" });
  }
  for (const time of relative) {
    if (!taken.some((other) => overlaps(time, other))) taken.push(time);
  }
  return taken
    .sort((a, b) => a.start - b.start)
    .map(({ range, ...time }) => ({ ...time, interval: intervalOf(range), precision: precisionOf(range.to - range.from + 1) }));
}

function precisionOf(days: number): TimePrecision {
  if (days === 1) return "day";
  if (days < 7) return "days";
  if (days === 7) return "week";
  if (days <= 31) return "month";
  if (days <= 92) return "quarter";
  return days <= 366 ? "year" : "range";
}

/** Moves a date whose year was guessed to the year its sentence points to. */
function withTense(range: DayRange, yearIsImplied: boolean, today: number, tense: Tense): DayRange {
  if (!yearIsImplied) return range;
  if (tense === "past" && range.from > today) return shiftYears(range, -1);
  if (tense === "future" && range.to < today) return shiftYears(range, 1);
  return range;
}

function shiftYears(range: DayRange, years: number): DayRange {
  const shift = (day: number): number => {
    const { year, month, date } = dateOf(day);
    return dayOf(year + years, month, date);
  };
  return { from: shift(range.from), to: shift(range.to) };
}

type Span = Pick<TimeExpression, "start" | "text">;

function overlaps(a: Span, b: Span): boolean {
  return a.start < b.start + b.text.length && b.start < a.start + a.text.length;
}

function covers(outer: Span, inner: Span): boolean {
  return outer.start <= inner.start && outer.start + outer.text.length >= inner.start + inner.text.length;
}

const specificityOfKind: Record<TimeKind, number> = { date: 50, relative: 50, weekday: 30, period: 20 };

function specificity(time: TimeExpression): number {
  return /\d/.test(time.text) ? 100 : specificityOfKind[time.kind];
}

function width(time: TimeExpression): number {
  return time.interval.endUs - time.interval.startUs;
}
