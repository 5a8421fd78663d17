import type { RankingRecord } from "../fact.ts";
import { armNames } from "./candidates.ts";
import { type CutOptions, cutToBudget } from "./cut.ts";
import { FEATURE_COUNT, featureAt } from "./features.ts";
import { scoreMeaning } from "./meaning.ts";
import type { RecallPlan } from "./plan.ts";
import { dot, nominalMaximum, passageTerms, type ScoreTerm, unitScore, unitTerms } from "./score.ts";
import { putBehindSuperseding } from "./superseded.ts";

export interface RecallHit {
  readonly record: RankingRecord;
  /** Weighted sum of all terms over the sum of the positive weights: 1 would be perfect in every respect, 0.2 to 0.4 is usual for a good hit. */
  readonly score: number;
  /** Cosine with the question; undefined when the unit has no vector. */
  readonly semantic: number | undefined;
  /** BM25 of the passage as a share of the best in the bank, 0..1. */
  readonly keyword: number;
  /** What the score consists of, without zero terms; the contributions add up to it. Empty unless traced. */
  readonly terms: readonly ScoreTerm[];
}

export interface RankOptions extends CutOptions {
  /** False: the arms' reciprocal ranks decide instead of the scoring function. */
  readonly isRerankingEnabled: boolean;
  /** Lists the terms of each hit. */
  readonly isTraced: boolean;
}

/** A unit with its place in the plan, before the cut. */
interface RankedUnit {
  readonly record: RankingRecord;
  readonly candidate: number;
  /** NaN when unknown. */
  readonly cosine: number;
  /** Words and meaning of this sentence alone. */
  readonly fit: number;
  besideBest: number;
  score: number;
  /** What supersession took off the score. */
  behind: number;
}

/**
 * Second half of a recall: the final order, cut to size. `cosines` holds what the vector index answered for the plan's
 * `unitIdsToScore`. Order: score, then told later, then unit id, so that equal input gives equal output.
 */
export function rankRecall(plan: RecallPlan, cosines: ReadonlyMap<string, number>, options: RankOptions): RecallHit[] {
  const scored = new Float64Array(plan.unitIdsToScore.length);
  for (let at = 0; at < scored.length; at++) scored[at] = cosines.get(plan.unitIdsToScore[at]!) ?? Number.NaN;
  const rows = plan.rows.slice();
  const meaning = scoreMeaning(plan, scored);
  const units: RankedUnit[] = [];
  for (let i = 0; i < plan.candidateCount; i++) {
    const from = i * FEATURE_COUNT;
    rows[from + featureAt.sentence] = meaning.sentence[i]!;
    rows[from + featureAt.exchange] = meaning.exchange[i]!;
    const base = options.isRerankingEnabled ? dot(rows, plan.weights[i]!, from) / nominalMaximum : sumOf(armTerms(plan, i));
    const first = units.length;
    for (let at = plan.recordsFrom[i]!; at < plan.recordsFrom[i + 1]!; at++) {
      const record = plan.records[at]!;
      const cosine = scored[plan.recordsToScore[at]!]!;
      const fit = plan.coverage[at]! + (Number.isNaN(cosine) ? 0 : cosine);
      units.push({ record, candidate: i, cosine, fit, score: base, besideBest: 0, behind: 0 });
    }
    if (options.isRerankingEnabled) addUnitScores(units, first);
  }
  putBehindSuperseding(units);
  units.sort(byScoreThenRecency);

  const keywordOf = (unit: RankedUnit): number => rows[unit.candidate * FEATURE_COUNT + featureAt.turn]!;
  const semanticOf = (unit: RankedUnit): number | undefined => (Number.isNaN(unit.cosine) ? undefined : unit.cosine);
  const termsOf = (unit: RankedUnit): ScoreTerm[] =>
    options.isRerankingEnabled
      ? [...passageTerms(rows, plan.weights[unit.candidate]!, unit.candidate * FEATURE_COUNT), ...unitTerms(unit, unit.behind)]
      : armTerms(plan, unit.candidate);
  return cutToBudget(units, options, { keyword: keywordOf, semantic: semanticOf }).map((unit) => ({
    record: unit.record,
    score: unit.score,
    semantic: semanticOf(unit),
    keyword: keywordOf(unit),
    terms: options.isTraced ? termsOf(unit) : [],
  }));
}

/** Sets apart the units of one passage, which stand at the end of the list from `first` on. */
function addUnitScores(units: RankedUnit[], first: number): void {
  let best = Number.NEGATIVE_INFINITY;
  for (let at = first; at < units.length; at++) best = Math.max(best, units[at]!.fit);
  for (let at = first; at < units.length; at++) {
    const unit = units[at]!;
    unit.besideBest = Math.min(1, best - unit.fit);
    unit.score += unitScore(unit);
  }
}

function byScoreThenRecency(a: RankedUnit, b: RankedUnit): number {
  if (a.score !== b.score) return b.score - a.score;
  const told = (b.record.mentionedAtUs ?? Number.NEGATIVE_INFINITY) - (a.record.mentionedAtUs ?? Number.NEGATIVE_INFINITY);
  if (told !== 0 && !Number.isNaN(told)) return told;
  return a.record.unitId < b.record.unitId ? -1 : 1;
}

/** Damping of reciprocal rank fusion: the first few places of one arm do not outvote agreement between arms. */
const FUSION_DAMPING = 60;

/** The reciprocal ranks that a candidate has in the arms that brought it. */
function armTerms({ ranks }: RecallPlan, candidate: number): ScoreTerm[] {
  return armNames.flatMap((name, arm) => {
    const rank = ranks[candidate * armNames.length + arm]!;
    if (rank < 0) return [];
    const value = 1 / (FUSION_DAMPING + rank + 1);
    return [{ name, value, weight: 1, contribution: value }];
  });
}

function sumOf(terms: readonly ScoreTerm[]): number {
  return terms.reduce((sum, term) => sum + term.contribution, 0);
}
