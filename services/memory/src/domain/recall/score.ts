import type { RankingRecord } from "../fact.ts";
import { FEATURE_COUNT, type PassageFeature, passageFeatures } from "./features.ts";
import type { RecallQuery } from "./query.ts";

/**
 * The one scoring function: a weighted sum of passage features plus what sets a unit apart within its passage. Fitted on
 * conversations by a linear listwise model, then rounded to halves: exact values carry nothing over to other banks.
 */
const passageWeights: Readonly<Record<PassageFeature, number>> = {
  turn: 1.5,
  phrase: 1,
  window: 2.5,
  session: 1.5,
  previousQuestion: 1.5,
  context: 1,
  person: 2.5,
  endsWithQuestion: -1,
  time: 0.5,
  timeAsked: 1.5,
  nameAsked: 1,
  placeAsked: 1.5,
  toldThen: 3,
  aboutThen: 1,
  toldAfter: 1,
  graph: 0,
  sentence: 1,
  exchange: 1,
};

/** The answer to a question for a list is spread over the bank: where much is said at once tells less. */
const listWeights: Partial<Record<PassageFeature, number>> = { window: 2, session: 0 };

/** Notes and paragraphs stand for themselves more than turns do: what is around them counts half, and their own meaning more. */
const noteWeights: Partial<Record<PassageFeature, number>> = { window: 1, session: 1, exchange: 0.5, sentence: 1.5 };
const noteListWeights: Partial<Record<PassageFeature, number>> = { session: 0 };

/** Sum of the positive weights: dividing by it keeps scores within about 0..1 in every bank. */
export const nominalMaximum = Object.values(passageWeights).reduce((sum, weight) => sum + Math.max(0, weight), 0);

/** Weights of a feature row, parallel to `passageFeatures`. */
export interface RowWeights {
  /** For passages that somebody says. */
  readonly turn: Float64Array;
  /** For passages without an author. */
  readonly note: Float64Array;
}

/**
 * How much the vectors of an embedder say about meaning: 1 for a sentence encoder. Hashed words repeat what word scores
 * say already; at half weight they still help with inflections and misspellings (recall in ten 82.6 instead of 81.6).
 */
export function meaningShareOf(embedderProvider: string): number {
  return embedderProvider === "lexical" ? 0.5 : 1;
}

/** The weights for this question; `meaningShare` scales the two meaning features. */
export function weightsFor({ aims }: RecallQuery, meaningShare: number): RowWeights {
  const rowOf = (named: Readonly<Record<PassageFeature, number>>): Float64Array =>
    Float64Array.from(passageFeatures, (name) =>
      name === "sentence" || name === "exchange" ? named[name] * meaningShare : named[name],
    );
  const turn = { ...passageWeights, ...(aims.list ? listWeights : {}) };
  const note = { ...passageWeights, ...noteWeights, ...(aims.list ? noteListWeights : {}) };
  return { turn: rowOf(turn), note: rowOf(note) };
}

export function dot(row: Float64Array, weights: Float64Array, from = 0): number {
  let sum = 0;
  for (let i = 0; i < FEATURE_COUNT; i++) sum += row[from + i]! * weights[i]!;
  return sum;
}

/** One summand of a score. */
export interface ScoreTerm {
  readonly name: string;
  readonly value: number;
  readonly weight: number;
  /** What it adds to the score: value times weight, on the score's scale. */
  readonly contribution: number;
}

/** What sets a unit apart from the other units of its passage. */
export interface UnitFeatures {
  readonly record: RankingRecord;
  /** 0 for the sentence of the passage that fits the question best, up to 1 for one that has nothing of it. */
  readonly besideBest: number;
}

/** Small against the passage's weights: it orders what is otherwise equal. */
const unitWeights = { besideBest: -2, proof: 0.5, superseded: -1 } as const;
/** From this many sources on an observation counts as fully proven. */
const PROOFS_FULL = 32;

function proofOf({ record }: UnitFeatures): number {
  return record.proofCount <= 1 ? 0 : Math.min(1, Math.log(record.proofCount) / Math.log(PROOFS_FULL));
}

function supersededOf({ record }: UnitFeatures): number {
  return record.supersededBy.length > 0 ? 1 : 0;
}

export function unitScore(unit: UnitFeatures): number {
  const sum =
    unit.besideBest * unitWeights.besideBest + proofOf(unit) * unitWeights.proof + supersededOf(unit) * unitWeights.superseded;
  return sum / nominalMaximum;
}

/** The non-zero terms of the row that starts at `from`. */
export function passageTerms(rows: Float64Array, weights: Float64Array, from: number): ScoreTerm[] {
  return passageFeatures.flatMap((name, at) => term(name, rows[from + at]!, weights[at]!));
}

/** The non-zero terms of a unit; `behind` is what it lost to stay below the unit that superseded it. */
export function unitTerms(unit: UnitFeatures, behind: number): ScoreTerm[] {
  return [
    ...term("besideBest", unit.besideBest, unitWeights.besideBest),
    ...term("proof", proofOf(unit), unitWeights.proof),
    ...term("superseded", supersededOf(unit), unitWeights.superseded),
    ...term("behindSuperseding", behind * nominalMaximum, -1),
  ];
}

function term(name: string, value: number, weight: number): ScoreTerm[] {
  return value === 0 || weight === 0 ? [] : [{ name, value, weight, contribution: (value * weight) / nominalMaximum }];
}
