import type { RankingRecord } from "../fact.ts";
import { type ArmName, armNames, type CandidateSources, findCandidates } from "./candidates.ts";
import { FEATURE_COUNT } from "./features.ts";
import { admitUnits, type RecallFilter } from "./filter.ts";
import type { RecallQuery } from "./query.ts";
import type { RecallIndexView } from "./recall-index-view.ts";
import { weightsFor } from "./score.ts";

/*
 * A recall from outside, in order: `understandQuery`; embed its `embeddingText`; `VectorIndex.search` within `searchScope`;
 * the links of the first `GRAPH_SEEDS_MAX` hits; `planRecall`; `VectorIndex.scores` of `unitIdsToScore`; `rankRecall`.
 */

/**
 * The passages under consideration, copied out of the index so that the bank may change while vectors are fetched. Flat
 * lists: what belongs to candidate `i` stands from `...From[i]` up to `...From[i + 1]`.
 */
export interface RecallPlan {
  readonly query: RecallQuery;
  readonly candidateCount: number;
  /** One feature row per candidate, still without the meaning features. */
  readonly rows: Float64Array;
  /** By candidate: what its row is weighted with. */
  readonly weights: readonly Float64Array[];
  /** Place in each arm from 0, four per candidate in the order of `armNames`; -1 when the arm did not bring it. */
  readonly ranks: Int32Array;
  readonly pairNorms: Float64Array;
  /** Units whose similarity with the question `rankRecall` wants; ask the vector index's `scores`. */
  readonly unitIdsToScore: readonly string[];
  /** Admitted units of each candidate in reading order, their places in `unitIdsToScore`, and how much of the topic each holds (0..1). */
  readonly recordsFrom: Int32Array;
  readonly records: readonly RankingRecord[];
  readonly recordsToScore: readonly number[];
  readonly coverage: readonly number[];
  /** All units of the passage before and of this one, as places in `unitIdsToScore`. */
  readonly exchangesFrom: Int32Array;
  readonly exchanges: readonly number[];
}

/** First half of a recall: which passages to look at, and everything about them that needs no vectors. */
export function planRecall(
  view: RecallIndexView,
  query: RecallQuery,
  filter: RecallFilter,
  sources: CandidateSources,
): RecallPlan {
  const { passages } = view;
  const admitted = admitUnits(view, filter);
  const weights = weightsFor(query, sources.meaningShare);
  const found = findCandidates(view, query, sources, weights, admitted);
  const candidateCount = found.passages.length;

  const unitIdsToScore: string[] = [];
  const places = new Int32Array(view.records.length).fill(-1);
  const placeOf = (unit: number): number => {
    if (places[unit] === -1) places[unit] = unitIdsToScore.push(view.records[unit]!.unitId) - 1;
    return places[unit]!;
  };

  const rows = new Float64Array(candidateCount * FEATURE_COUNT);
  const rowWeights: Float64Array[] = [];
  const pairNorms = new Float64Array(candidateCount);
  const recordsFrom = new Int32Array(candidateCount + 1);
  const records: RankingRecord[] = [];
  const recordsToScore: number[] = [];
  const coverage: number[] = [];
  const exchangesFrom = new Int32Array(candidateCount + 1);
  const exchanges: number[] = [];
  for (let i = 0; i < candidateCount; i++) {
    const passage = found.passages[i]!;
    const units = passages.units[passage]!;
    found.read(passage, rows, i * FEATURE_COUNT);
    rowWeights.push(passages.author[passage]! < 0 ? weights.note : weights.turn);
    for (const unit of units) {
      if (admitted[unit] === 0) continue;
      records.push(view.records[unit]!);
      recordsToScore.push(placeOf(unit));
      coverage.push(units.length === 1 ? 1 : coverageOf(view.unitTerms[unit]!, found.words.topicRarity));
    }
    const previous = passages.previous[passage]!;
    if (previous >= 0) for (const unit of passages.units[previous]!) exchanges.push(placeOf(unit));
    for (const unit of units) exchanges.push(placeOf(unit));
    pairNorms[i] = view.records[units[0]!]!.pairNorm;
    recordsFrom[i + 1] = records.length;
    exchangesFrom[i + 1] = exchanges.length;
  }
  return {
    ...{
      query,
      candidateCount,
      rows,
      weights: rowWeights,
      ranks: ranksOf(found.arms, found.passages, passages.slotCount),
      pairNorms,
      unitIdsToScore,
    },
    ...{ recordsFrom, records, recordsToScore, coverage, exchangesFrom, exchanges },
  };
}

/** What a trace tells of a plan: how the question was read and how many passages each arm brought. */
export interface PlanTrace {
  readonly query: RecallQuery;
  readonly candidateCount: number;
  readonly arms: Readonly<Record<ArmName, number>>;
}

export function tracePlan({ query, candidateCount, ranks }: RecallPlan): PlanTrace {
  const arms = { semantic: 0, keyword: 0, graph: 0, temporal: 0 };
  for (let at = 0; at < ranks.length; at++) if (ranks[at]! >= 0) arms[armNames[at % armNames.length]!]++;
  return { query, candidateCount, arms };
}

function ranksOf(arms: Readonly<Record<string, readonly number[]>>, passages: readonly number[], slotCount: number): Int32Array {
  const ranks = new Int32Array(passages.length * armNames.length).fill(-1);
  const candidateOf = new Int32Array(slotCount);
  for (let i = 0; i < passages.length; i++) candidateOf[passages[i]!] = i;
  for (let arm = 0; arm < armNames.length; arm++) {
    const brought = arms[armNames[arm]!]!;
    for (let rank = 0; rank < brought.length; rank++) ranks[candidateOf[brought[rank]!]! * armNames.length + arm] = rank;
  }
  return ranks;
}

function coverageOf(terms: readonly number[], rarity: ReadonlyMap<number, number>): number {
  let whole = 0;
  let held = 0;
  for (const [termId, weight] of rarity) {
    whole += weight;
    if (terms.includes(termId)) held += weight;
  }
  return whole > 0 ? held / whole : 0;
}
