import type { Interval } from "../fact.ts";
import { parseQueryWindow } from "../text/time-expressions.ts";
import type { RecallIndexView } from "./recall-index-view.ts";

/** The time a question names. */
export interface QuestionTime {
  /** Any of these; several when the question leaves the year open. */
  readonly intervals: readonly Interval[];
  /** Its words in the question; they say when, not what. */
  readonly written: string;
}

/** "In May" is looked for in this many of a bank's latest years; nobody means an older one without saying so. */
const OPEN_YEARS_MAX = 30;

/** Reads the time from the question; a date without a year stands for that date in each year that the bank tells of. */
export function readQuestionTime(question: string, referenceUs: number, view: RecallIndexView): QuestionTime | undefined {
  const named = parseQueryWindow(question, referenceUs);
  if (named === undefined) return undefined;
  const years = named.yearIsImplied ? yearsTold(view) : [];
  const intervals = years.length === 0 ? [named.interval] : years.map((year) => inYear(named.interval, year));
  return { intervals, written: named.text };
}

/** Moves an interval, with its length in calendar terms, to another year. */
function inYear({ startUs, endUs }: Interval, year: number): Interval {
  const start = new Date(startUs / 1000);
  const shift = year - start.getUTCFullYear();
  const move = (us: number): number => {
    const date = new Date(us / 1000);
    return date.setUTCFullYear(date.getUTCFullYear() + shift) * 1000;
  };
  // The end is the last microsecond of a day: moved as the start of the next day, so that 29 February stays a whole day.
  return { startUs: move(startUs), endUs: move(endUs + 1) - 1 };
}

function yearsTold({ passages }: RecallIndexView): number[] {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (let passage = 0; passage < passages.slotCount; passage++) {
    const at = passages.mentionedAtUs[passage]!;
    if (passages.units[passage]!.length === 0 || Number.isNaN(at)) continue;
    if (at < first) first = at;
    if (at > last) last = at;
  }
  if (first > last) return [];
  const lastYear = new Date(last / 1000).getUTCFullYear();
  const firstYear = Math.max(new Date(first / 1000).getUTCFullYear(), lastYear - OPEN_YEARS_MAX + 1);
  return Array.from({ length: lastYear - firstYear + 1 }, (_, i) => firstYear + i);
}
