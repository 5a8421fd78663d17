import type { RankingRecord } from "../fact.ts";
import { analyze } from "../text/analyzer.ts";

/** What was said, without the name of who said it: a window must not fill with names. */
export function ownWords(record: RankingRecord): string {
  const prefix = `${record.author}: `;
  return record.author !== undefined && record.text.startsWith(prefix) ? record.text.slice(prefix.length) : record.text;
}

/** Terms that find a passage although they are not among its words: its author, the day it was told, the entities it was resolved to. */
export function fieldTerms(units: readonly RankingRecord[]): Set<string> {
  const first = units[0];
  if (first === undefined) return new Set();
  const names = new Set(units.flatMap((unit) => unit.entityNames));
  if (first.author !== undefined) names.add(first.author);
  const terms = new Set<string>();
  for (const name of names) for (const term of analyze(name)) terms.add(term);
  if (first.mentionedAtUs !== undefined) for (const term of dayTerms(first.mentionedAtUs)) terms.add(term);
  return terms;
}

const dayAsWritten = new Intl.DateTimeFormat("en", { timeZone: "UTC", day: "numeric", month: "long", year: "numeric" });
const DAY_US = 86_400_000_000;
/** A bank tells many facts a day; the days of a few years fit. */
const CACHED_DAYS_MAX = 2_000;
const termsByDay = new Map<number, readonly string[]>();

/** Index terms of an instant's day as people write it: "8 May 2023". */
function dayTerms(instantUs: number): readonly string[] {
  const day = Math.floor(instantUs / DAY_US);
  let terms = termsByDay.get(day);
  if (terms === undefined) {
    terms = analyze(dayAsWritten.format(new Date(day * (DAY_US / 1000))));
    if (termsByDay.size >= CACHED_DAYS_MAX) termsByDay.clear();
    termsByDay.set(day, terms);
  }
  return terms;
}

/** Order within a passage. */
export function inReadingOrder(a: RankingRecord, b: RankingRecord): number {
  if (a.sentenceIndex !== b.sentenceIndex) return a.sentenceIndex - b.sentenceIndex;
  return a.unitId < b.unitId ? -1 : 1;
}

/** Objects, map entries and ids of one record: with it the estimate met the measured heap of 7,586 chat sentences (2 kB each). */
const RECORD_BYTES = 1_500;
const LIST_ENTRY_BYTES = 60;

export function bytesOf(record: RankingRecord): number {
  const lists = record.entityIds.length + record.entityNames.length + record.tags.length + record.intervals.length;
  return RECORD_BYTES + record.text.length * 2 + lists * LIST_ENTRY_BYTES;
}
