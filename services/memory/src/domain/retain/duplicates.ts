import type { FactFamily } from "../fact.ts";
import { foldText } from "../text/analyzer.ts";

/** What two facts must agree in before their meaning is compared. */
export interface DuplicateCandidate {
  readonly family: FactFamily;
  readonly text: string;
  readonly author: string | undefined;
  readonly eventUs: number | undefined;
  readonly tags: readonly string[];
  readonly entityNames: readonly string[];
}

const hourUs = 3_600_000_000;
/** Facts are compared within a day of the start of the new fact's half-day (contract 12.4). */
const bucketUs = 12 * hourUs;
const windowUs = 24 * hourUs;

/**
 * Whether a new fact may be a duplicate of an older one, similarity aside: same family, author and tag set, close in time, and
 * nothing that changes what is said: other numbers, other names or a negation make another fact however close the wording.
 */
export function isComparable(fresh: DuplicateCandidate, old: DuplicateCandidate): boolean {
  return (
    fresh.family === old.family &&
    fresh.author === old.author &&
    isInWindow(fresh.eventUs, old.eventUs) &&
    sameSet(fresh.tags, old.tags) &&
    sameSet(distinctions(fresh), distinctions(old))
  );
}

function isInWindow(freshUs: number | undefined, oldUs: number | undefined): boolean {
  if (freshUs === undefined || oldUs === undefined) return freshUs === oldUs;
  const bucketStart = Math.floor(freshUs / bucketUs) * bucketUs;
  return Math.abs(oldUs - bucketStart) <= windowUs;
}

const negation = /\b(?:not|no|never|none|nobody|nothing|without|cannot|nicht|kein\w*|nie|pas|jamais|nunca|no)\b|n['’]t\b/giu;

function distinctions({ text, entityNames }: DuplicateCandidate): string[] {
  const numbers = text.match(/\p{N}+(?:[.,:]\p{N}+)*/gu) ?? [];
  const isNegated = (text.match(negation)?.length ?? 0) % 2 === 1;
  return [...numbers, ...entityNames.map((name) => `name ${foldText(name)}`), ...(isNegated ? ["not"] : [])];
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((member) => right.has(member));
}
