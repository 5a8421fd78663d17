/** Names shorter than this have too few trigrams to be compared by them. */
const paddedWidth = 2;

/** The trigrams of a folded name, padded so that its start and end count. */
export function trigrams(folded: string): ReadonlySet<string> {
  const padded = `${" ".repeat(paddedWidth)}${folded} `;
  const found = new Set<string>();
  for (let i = 0; i + 3 <= padded.length; i++) found.add(padded.slice(i, i + 3));
  return found;
}

/** Share of the trigrams that two names have in common, 0..1 (Jaccard). */
export function trigramSimilarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const trigram of a) if (b.has(trigram)) common++;
  return common / (a.size + b.size - common);
}

/** Ratcliff and Obershelp's measure: twice the characters in matching blocks over all characters, 0..1. */
export function sequenceRatio(a: string, b: string): number {
  const total = a.length + b.length;
  return total === 0 ? 1 : (2 * matchingCharacters(a, b)) / total;
}

function matchingCharacters(a: string, b: string): number {
  if (a.length === 0 || b.length === 0) return 0;
  let [bestLength, bestA, bestB] = [0, 0, 0];
  let previous = new Uint16Array(b.length + 1);
  for (let i = 0; i < a.length; i++) {
    const current = new Uint16Array(b.length + 1);
    for (let j = 0; j < b.length; j++) {
      if (a.charCodeAt(i) !== b.charCodeAt(j)) continue;
      const length = previous[j]! + 1;
      current[j + 1] = length;
      if (length > bestLength) [bestLength, bestA, bestB] = [length, i - length + 1, j - length + 1];
    }
    previous = current;
  }
  if (bestLength === 0) return 0;
  return (
    bestLength +
    matchingCharacters(a.slice(0, bestA), b.slice(0, bestB)) +
    matchingCharacters(a.slice(bestA + bestLength), b.slice(bestB + bestLength))
  );
}

/** The compared part of very long names; more would cost quadratic time and no name is told apart that late. */
export const comparedCharactersMax = 100;

/**
 * Whether two names may mean the same at all: nearly the same spelling, or one is the other with words left out ("Acme" and
 * "Acme Robotics") or shortened ("Mel" and "Melanie"). Without this, context alone would merge "John" with "Joan".
 */
export function mayBeSameName(a: string, b: string, ratio: number): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const [shortWords, longWords] = [short.split(" "), long.split(" ")];
  const isPart = shortWords.length < longWords.length && shortWords.every((word) => longWords.includes(word));
  const isShortened = shortWords.length === 1 && longWords.length === 1 && short.length >= 3 && long.startsWith(short);
  return isPart || isShortened || ratio >= sameSpellingMin;
}

/** "Katherine" and "Katharine" reach it, "John" and "Joan" do not. */
const sameSpellingMin = 0.88;
