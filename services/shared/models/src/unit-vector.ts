/** True when the text has a letter, a digit or a symbol: something that a vector can stand for. */
export function hasFeature(text: string): boolean {
  return /[\p{L}\p{N}\p{S}]/u.test(text);
}

/** Brings the vector to length one, in place; a zero vector stays. Answers it. */
export function toUnitLength(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (squares === 0) return vector;
  const factor = 1 / Math.sqrt(squares);
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! * factor;
  return vector;
}

export function addScaled(to: Float32Array, from: Float32Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i] = to[i]! + from[i]! * factor;
}
