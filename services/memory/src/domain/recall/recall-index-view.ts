import type { RankingRecord } from "../fact.ts";
import type { Contexts } from "./contexts.ts";
import type { Interned } from "./interned.ts";
import type { PassageTable } from "./passage-table.ts";
import type { People } from "./people.ts";
import type { Postings } from "./postings.ts";

/** The columns that scoring reads. Slots are reused after removals: never keep one past a later `apply`. */
export interface RecallIndexView {
  readonly postings: Postings;
  readonly people: People;
  readonly contexts: Contexts;
  /** Types and tags of the units, see `filterClassOf`. */
  readonly filterClasses: Interned;
  readonly passages: PassageTable;
  readonly sessions: readonly (Session | undefined)[];
  /** By unit slot. */
  readonly records: readonly (RankingRecord | undefined)[];
  readonly unitPassage: readonly number[];
  readonly unitSubject: readonly number[];
  readonly unitFilterClass: readonly number[];
  /** Terms of a unit in order, function words left out. */
  readonly unitTerms: readonly (readonly number[])[];
  readonly unitsByEntity: ReadonlyMap<string, ReadonlySet<number>>;
  slotOf(unitId: string): number | undefined;
  readonly totals: Readonly<Totals>;
}

export interface Session {
  readonly id: string;
  /** Passage slots in reading order. */
  readonly passages: number[];
  readonly numbers: number[];
  textTerms: number;
}

/** Sums over all live passages, kept as integers so that updates never drift. */
export interface Totals {
  textTerms: number;
  turnTerms: number;
  pairs: number;
  windowTerms: number;
  sessions: number;
  /** Units that others superseded. */
  superseded: number;
}
