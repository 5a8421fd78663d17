import type { Interval } from "../fact.ts";
import type { LexicalScores } from "./lexical.ts";
import { passageFlags } from "./passage-table.ts";
import type { RecallQuery } from "./query.ts";
import type { RecallIndexView } from "./recall-index-view.ts";

/**
 * What speaks for or against a passage, in the order of a feature row. Values are 0..1; `sentence` and `exchange` are
 * standard scores over three (about -1..2).
 */
export const passageFeatures = [
  /** Words of the question in the passage, its author, day and entities. */
  "turn",
  /** Adjacent words of the question, adjacent here too. */
  "phrase",
  /** Words of the question in the passage and its neighbours. */
  "window",
  /** Words of the question in the session. */
  "session",
  /** The passage before asks for it: this one may be the answer. */
  "previousQuestion",
  /** Words of the question in the context line. */
  "context",
  /** Said by the person the question is about, or about that person. */
  "person",
  /** It ends by asking, so it does not tell. */
  "endsWithQuestion",
  /** It holds a time expression. */
  "time",
  /** The question asks when, and it holds a time expression. */
  "timeAsked",
  /** The question asks for a name, and it holds names. */
  "nameAsked",
  /** The question asks for a place, and it holds one. */
  "placeAsked",
  /** Told within the time that the question names. */
  "toldThen",
  /** Tells of the time that the question names. */
  "aboutThen",
  /** Told soon after the time that the question names. */
  "toldAfter",
  /** Shares entities or links with what means nearly the same as the question. */
  "graph",
  /** Meaning of its best sentence. */
  "sentence",
  /** Meaning of the passage together with the one before. */
  "exchange",
] as const;
export type PassageFeature = (typeof passageFeatures)[number];
export const FEATURE_COUNT = passageFeatures.length;

/** Place of each feature in a row. Spelled out, because the engine folds a literal into constants. */
export const featureAt = {
  turn: 0,
  phrase: 1,
  window: 2,
  session: 3,
  previousQuestion: 4,
  context: 5,
  person: 6,
  endsWithQuestion: 7,
  time: 8,
  timeAsked: 9,
  nameAsked: 10,
  placeAsked: 11,
  toldThen: 12,
  aboutThen: 13,
  toldAfter: 14,
  graph: 15,
  sentence: 16,
  exchange: 17,
} as const satisfies Readonly<Record<PassageFeature, number>>;

const DAY_US = 86_400_000_000;
/** People tell of a thing within weeks; after this many days a later session no longer counts as "soon after". */
const TOLD_AFTER_DAYS_MAX = 45;
const TOLD_AFTER_DECAY_DAYS = 15;

/** Fills the row at `from` for one passage with everything but the two meaning features, which need vectors. */
export type ReadFeatures = (passage: number, rows: Float64Array, from: number) => void;

export function createFeatureReader(
  view: RecallIndexView,
  query: RecallQuery,
  words: LexicalScores,
  graph: ReadonlyMap<number, number>,
): ReadFeatures {
  const { passages } = view;
  const people = askedPeople(view, query);
  const { aims, intervals } = query;

  return (passage, rows, from) => {
    const flags = passages.flags[passage]!;
    const holdsTime = (flags & passageFlags.hasTimeExpression) !== 0 ? 1 : 0;
    rows[from + featureAt.turn] = words.turn[passage]!;
    rows[from + featureAt.phrase] = words.phrase[passage]!;
    rows[from + featureAt.window] = words.window[passage]!;
    rows[from + featureAt.session] = words.session[passages.session[passage]!]!;
    rows[from + featureAt.previousQuestion] = words.previousQuestion[passage]!;
    rows[from + featureAt.context] = words.context[passages.context[passage]!]!;
    rows[from + featureAt.person] = people.size > 0 ? concern(view, passage, people) : 0;
    rows[from + featureAt.endsWithQuestion] = (flags & passageFlags.endsWithQuestion) !== 0 ? 1 : 0;
    rows[from + featureAt.time] = holdsTime;
    rows[from + featureAt.timeAsked] = aims.time ? holdsTime : 0;
    rows[from + featureAt.nameAsked] = aims.name ? passages.names[passage]! / 2 : 0;
    rows[from + featureAt.placeAsked] = aims.place && (flags & passageFlags.hasPlace) !== 0 ? 1 : 0;
    rows[from + featureAt.toldThen] = 0;
    rows[from + featureAt.aboutThen] = 0;
    rows[from + featureAt.toldAfter] = 0;
    if (intervals.length > 0) readTimes(view, passage, intervals, rows, from);
    rows[from + featureAt.graph] = graph.get(passage) ?? 0;
    rows[from + featureAt.sentence] = 0;
    rows[from + featureAt.exchange] = 0;
  };
}

/** The weighted sum of the six word features alone: what a row would give without the rest. */
export function wordScore({ passages }: RecallIndexView, words: LexicalScores, passage: number, weighting: Float64Array): number {
  return (
    words.turn[passage]! * weighting[featureAt.turn]! +
    words.phrase[passage]! * weighting[featureAt.phrase]! +
    words.window[passage]! * weighting[featureAt.window]! +
    words.session[passages.session[passage]!]! * weighting[featureAt.session]! +
    words.previousQuestion[passage]! * weighting[featureAt.previousQuestion]! +
    words.context[passages.context[passage]!]! * weighting[featureAt.context]!
  );
}

/** Slots of the people that the question is about. */
export function askedPeople(view: RecallIndexView, query: RecallQuery): ReadonlySet<number> {
  const slots = query.people.map((key) => view.people.slotOf(key));
  return new Set(slots.filter((slot) => slot !== undefined));
}

/** 1 when one of them speaks: people talk about themselves. Half when nobody speaks and one of them is the subject, which is read from grammar. */
function concern(view: RecallIndexView, passage: number, people: ReadonlySet<number>): number {
  const author = view.passages.author[passage]!;
  if (author >= 0) return people.has(author) ? 1 : 0;
  return view.passages.units[passage]!.some((unit) => people.has(view.unitSubject[unit]!)) ? 0.5 : 0;
}

function readTimes(view: RecallIndexView, passage: number, asked: readonly Interval[], rows: Float64Array, from: number): void {
  const toldAt = view.passages.mentionedAtUs[passage]!;
  for (const interval of asked) {
    if (toldAt >= interval.startUs && toldAt <= interval.endUs) rows[from + featureAt.toldThen] = 1;
    const daysAfter = (toldAt - interval.endUs) / DAY_US;
    if (daysAfter > 0 && daysAfter <= TOLD_AFTER_DAYS_MAX) {
      raise(rows, from + featureAt.toldAfter, Math.exp(-daysAfter / TOLD_AFTER_DECAY_DAYS));
    }
    for (const unit of view.passages.units[passage]!) {
      const { intervals, occurredStartUs, occurredEndUs } = view.records[unit]!;
      for (const told of intervals) raise(rows, from + featureAt.aboutThen, agreement(interval, told));
      if (occurredStartUs === undefined) continue;
      raise(
        rows,
        from + featureAt.aboutThen,
        agreement(interval, { startUs: occurredStartUs, endUs: occurredEndUs ?? occurredStartUs }),
      );
    }
  }
}

function raise(rows: Float64Array, at: number, value: number): void {
  if (value > rows[at]!) rows[at] = value;
}

/** 1 when the told time lies within the asked one; less, the vaguer the told time is ("that year" for one asked day). */
function agreement(asked: Interval, told: Interval): number {
  if (told.startUs > asked.endUs || told.endUs < asked.startUs) return 0;
  return Math.min(1, (asked.endUs - asked.startUs + DAY_US) / (told.endUs - told.startUs + DAY_US));
}
