import { contentWords, namesIn } from "./content-words.ts";
import { speaksOf } from "./word-classes.ts";

/** A retrieved memory as far as the judgement needs it. */
export interface Candidate {
  readonly id: string;
  readonly text: string;
  readonly context: string;
  readonly entities: readonly string[];
  /** Cosine to the question, when known. */
  readonly semantic: number | undefined;
  /** Memories that an observation is drawn from. */
  readonly sourceIds: readonly string[];
}

/**
 * Cosine plus half the covered share of the question's words, from which on a memory counts as evidence. Measured over 333 answered
 * and 370 unanswerable questions about long conversations: nine in ten of the former pass, three in four of the latter do not.
 */
const EVIDENCE_MIN = 0.63;
const COVERAGE_WEIGHT = 0.5;
/** Below this a memory is about something else and is not shown. */
const RELATED_MIN = 0.4;

/** Judges memories against one question. */
export interface Judge {
  /** Whether the memory says something about what is asked, so that it may stand in an answer. */
  isRelated(candidate: Candidate): boolean;
  /** Whether the memories hold an answer. One without anything particular to ask ("What do you know?") is answered by whatever there is. */
  readonly holdsAnswer: boolean;
}

/**
 * Reads the question together with what was found for it: a name that occurs among the memories is what they are searched by and
 * tells nothing about the rest of the question; one that does not occur is a word that nothing covers.
 */
export function judgeEvidence(query: string, candidates: readonly Candidate[]): Judge {
  const words = new Set(contentWords(query));
  const said = new Set(candidates.flatMap((candidate) => [...wordsOf(candidate)]));
  const names = namesIn(query);
  const knownNames = new Set(names.filter((name) => said.has(name)));
  const wanted = [...words].filter((word) => !knownNames.has(word));
  const ownStrength = (candidate: Candidate): number => {
    const own = wordsOf(candidate);
    const covered = wanted.length === 0 ? 1 : wanted.filter((word) => speaksOf(own, word)).length / wanted.length;
    // Words speak for the meaning, too, where the cosine says less: a memory found by words alone has none, and hashed words have a
    // poor one. Not those of a memory about others than the question names: "live" in it says nothing about Maria's home.
    const isAboutNamed = knownNames.size === 0 || [...knownNames].some((name) => own.has(name));
    const byWords = isAboutNamed || candidate.semantic === undefined ? covered / 2 : 0;
    return Math.max(candidate.semantic ?? 0, byWords) + COVERAGE_WEIGHT * covered;
  };
  const strengths = new Map(candidates.map((candidate) => [candidate.id, ownStrength(candidate)]));
  // What is drawn from a memory that fits the question fits it, too: "I moved to Porto" took the place of "I live in Berlin".
  const strengthOf = ({ id, sourceIds }: Candidate): number =>
    Math.max(...[id, ...sourceIds].map((one) => strengths.get(one) ?? 0));
  const isAboutStrangers = names.length > 0 && knownNames.size === 0;
  return {
    isRelated: (candidate) => words.size === 0 || strengthOf(candidate) >= RELATED_MIN,
    holdsAnswer:
      candidates.length > 0 &&
      (words.size === 0 || (!isAboutStrangers && candidates.some((candidate) => strengthOf(candidate) >= EVIDENCE_MIN))),
  };
}

function wordsOf({ text, context, entities }: Candidate): ReadonlySet<string> {
  return new Set(contentWords(`${text}\n${context}\n${entities.join("\n")}`));
}
