import { contentWords, namesIn } from "./content-words.ts";

/** A retrieved memory as far as the judgement needs it. */
export interface Candidate {
  readonly text: string;
  readonly context: string;
  readonly entities: readonly string[];
  /** Cosine to the question, when known. */
  readonly semantic: number | undefined;
}

/** What a question asks for, read once. */
export interface Asked {
  readonly words: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

export function readQuestion(query: string): Asked {
  return { words: new Set(contentWords(query)), names: new Set(namesIn(query)) };
}

// Fitted on the answerable and unanswerable questions of long conversations; see `evidence.test.ts` for what must hold.
const COVERED_ENOUGH = 0.5;
const MEANING_ENOUGH = 0.55;
const COVERED_SOME = 0.25;
const MEANING_SOME = 0.42;
const MEANING_RELATED = 0.35;

/** The share of the question's words, names excepted, that the memory says itself; 1 for a question that only names things. */
export function coverageOf({ words, names }: Asked, candidate: Candidate): number {
  const wanted = [...words].filter((word) => !names.has(word));
  if (wanted.length === 0) return 1;
  const said = wordsOf(candidate);
  return wanted.filter((word) => said.has(word)).length / wanted.length;
}

/** Whether the memory says something about what is asked, so that it may stand in an answer. */
export function isRelated(asked: Asked, candidate: Candidate): boolean {
  return coverageOf(asked, candidate) > 0 || (candidate.semantic ?? 0) >= MEANING_RELATED;
}

/** Whether the memory by itself may answer the question. */
export function isEvidence(asked: Asked, candidate: Candidate): boolean {
  const covered = coverageOf(asked, candidate);
  const meaning = candidate.semantic ?? 0;
  return covered >= COVERED_ENOUGH || meaning >= MEANING_ENOUGH || (covered >= COVERED_SOME && meaning >= MEANING_SOME);
}

/**
 * Whether these memories hold an answer: each name of the question occurs among them, and at least one of them is evidence.
 * A question that asks for nothing in particular ("What do you know?") is answered by whatever there is.
 */
export function holdAnswer(asked: Asked, candidates: readonly Candidate[]): boolean {
  if (candidates.length === 0) return false;
  if (asked.words.size === 0) return true;
  const said = new Set(candidates.flatMap((candidate) => [...wordsOf(candidate)]));
  if (![...asked.names].every((name) => said.has(name))) return false;
  return candidates.some((candidate) => isEvidence(asked, candidate));
}

function wordsOf({ text, context, entities }: Candidate): ReadonlySet<string> {
  return new Set(contentWords(`${text}\n${context}\n${entities.join("\n")}`));
}
