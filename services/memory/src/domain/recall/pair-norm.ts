/**
 * Length of the sum of the sentence vectors of a passage and the one before it. Stored with each unit of the passage, so
 * that recall gets the cosine of a question with the pair from the single sentences' scores: their sum divided by this.
 */
export function pairNorm(previousPassage: readonly Float32Array[], passage: readonly Float32Array[]): number {
  const vectors = [...previousPassage, ...passage];
  const sum = new Float64Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) for (let i = 0; i < sum.length; i++) sum[i]! += vector[i]!;
  return Math.hypot(...sum);
}
