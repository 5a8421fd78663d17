import type { RecallPlan } from "./plan.ts";

/** How near each candidate is to the question in meaning, in standard deviations over three, so that no encoder's scale matters. */
export interface MeaningScores {
  /** By candidate: its best admitted sentence. */
  readonly sentence: Float64Array;
  /** By candidate: the passage with the one before it, as one text. */
  readonly exchange: Float64Array;
}

/** Cosines of a few sentences can lie closer together than any two meanings; without a floor their noise would decide. */
const DEVIATION_MIN = 0.05;

/** `cosines` is parallel to the plan's `unitIdsToScore`, NaN where unknown. A candidate without any counts as the mean of all. */
export function scoreMeaning(plan: RecallPlan, cosines: Float64Array): MeaningScores {
  const sentence = new Float64Array(plan.candidateCount);
  const exchange = new Float64Array(plan.candidateCount);
  for (let i = 0; i < plan.candidateCount; i++) {
    let best = Number.NaN;
    for (let at = plan.recordsFrom[i]!; at < plan.recordsFrom[i + 1]!; at++) {
      const cosine = cosines[plan.recordsToScore[at]!]!;
      if (!(cosine <= best) && !Number.isNaN(cosine)) best = cosine;
    }
    let sum = 0;
    for (let at = plan.exchangesFrom[i]!; at < plan.exchangesFrom[i + 1]!; at++) {
      const cosine = cosines[plan.exchanges[at]!]!;
      if (!Number.isNaN(cosine)) sum += cosine;
    }
    sentence[i] = best;
    exchange[i] = plan.pairNorms[i]! > 0 && !Number.isNaN(best) ? sum / plan.pairNorms[i]! : best;
  }
  standardise(sentence);
  standardise(exchange);
  return { sentence, exchange };
}

function standardise(values: Float64Array): void {
  let sum = 0;
  let squares = 0;
  let known = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    sum += value;
    squares += value * value;
    known++;
  }
  const mean = known > 0 ? sum / known : 0;
  const deviation = known > 0 ? Math.sqrt(Math.max(0, squares / known - mean * mean)) : 0;
  const scale = 3 * Math.max(deviation, DEVIATION_MIN);
  for (let i = 0; i < values.length; i++) values[i] = Number.isNaN(values[i]!) ? 0 : (values[i]! - mean) / scale;
}
