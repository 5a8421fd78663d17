import type { Claim } from "./english-claims.ts";
import type { Reading } from "./read-statement.ts";

/** How two claims of one topic stand to each other. */
export type Relation = "agrees" | "excludes" | "unrelated";

export function relationOf(a: Claim, b: Claim): Relation {
  if (a.topic !== b.topic) return "unrelated";
  if (a.isSingle && b.isSingle) {
    const isSame = isPart(a.value, b.value) || isPart(b.value, a.value);
    if (a.holds === b.holds) return isSame ? "agrees" : a.holds ? "excludes" : "unrelated";
    return isSame ? "excludes" : "unrelated";
  }
  if (a.holds === b.holds) return isDetail(a.value, b.value) || isDetail(b.value, a.value) ? "agrees" : "unrelated";
  // "No coffee" ends "coffee with milk"; "no coffee after five" does not end "coffee".
  const [denied, stated] = a.holds ? [b, a] : [a, b];
  return isPart(denied.value, stated.value) ? "excludes" : "unrelated";
}

/** Shared words that two texts need to be one statement: the smaller of them, and its share of the larger. */
const restatedTermsMin = 2;
const restatedShareMin = 0.6;

/** Whether one of two facts says what the other says: its words, at most with more detail, and the same denial. */
export function restates(a: Reading, b: Reading): boolean {
  if (a.isNegated !== b.isNegated) return false;
  const [small, large] = a.terms.size <= b.terms.size ? [a.terms, b.terms] : [b.terms, a.terms];
  if (small.size < restatedTermsMin || small.size < restatedShareMin * large.size) return false;
  if (![...small].every((term) => large.has(term))) return false;
  // A number more is another quantity or another time, not more detail.
  return [...large].every((term) => small.has(term) || !/\d/.test(term));
}

/** Whether `whole` says the same as `part`, at most in more detail. */
function isDetail(part: readonly string[], whole: readonly string[]): boolean {
  return part.length >= restatedShareMin * whole.length && isPart(part, whole);
}

function isPart(part: readonly string[], whole: readonly string[]): boolean {
  if (part.length === 0) return whole.length === 0;
  const terms = new Set(whole);
  return part.every((term) => terms.has(term)) && sameTerms(part.filter(isNumber), whole.filter(isNumber));
}

function sameTerms(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((term) => right.has(term));
}

const isNumber = (term: string): boolean => /\d/.test(term);
