import type { RankingRecord } from "../fact.ts";

export interface CutOptions {
  /** Most hits before the token budget; two per candidate and arm is usual. */
  readonly hitsMax: number;
  /** Tokens of all hit texts together; 0 answers nothing. */
  readonly maxTokens: number;
  readonly countTokens: (record: RankingRecord) => number;
  readonly minScores?: { readonly semantic?: number; readonly keyword?: number; readonly final?: number };
  /** Leaves out raw facts that an observation among the hits is drawn from. */
  readonly prefersObservations: boolean;
}

interface Scored {
  readonly record: RankingRecord;
  readonly score: number;
}

/** From a final order to what fits: the best `hitsMax`, thresholds, observations for their sources, then tokens up to the first that does not fit. */
export function cutToBudget<T extends Scored>(
  ranked: readonly T[],
  options: CutOptions,
  read: { readonly keyword: (unit: T) => number; readonly semantic: (unit: T) => number | undefined },
): T[] {
  const { semantic, keyword, final } = options.minScores ?? {};
  // A unit without a vector has no similarity that a threshold could admit.
  const passing = ranked
    .slice(0, options.hitsMax)
    .filter(
      (unit) =>
        (final === undefined || unit.score >= final) &&
        (keyword === undefined || read.keyword(unit) >= keyword) &&
        (semantic === undefined || (read.semantic(unit) ?? Number.NEGATIVE_INFINITY) >= semantic),
    );
  const cited = new Set(options.prefersObservations ? passing.flatMap((unit) => unit.record.sourceUnitIds) : []);
  const kept: T[] = [];
  let tokens = 0;
  for (const unit of passing) {
    if (unit.record.type !== "observation" && cited.has(unit.record.unitId)) continue;
    tokens += options.countTokens(unit.record);
    if (tokens > options.maxTokens || options.maxTokens === 0) break;
    kept.push(unit);
  }
  return kept;
}
