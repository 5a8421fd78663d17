import { countTokens } from "@memory-bank/models";
import type { CitedModel, Fact } from "./answer.ts";
import { contentWords } from "./content-words.ts";
import { judgeEvidence } from "./evidence.ts";

/** A memory as recall answers it, best first. */
export interface RetrievedFact extends Fact {
  readonly entities: readonly string[];
  readonly semantic: number | undefined;
  /** Memories that an observation is drawn from. */
  readonly sourceIds: readonly string[];
  /** A later memory says otherwise. */
  readonly isSuperseded: boolean;
}

export interface LocalQuestion {
  readonly query: string;
  readonly facts: readonly RetrievedFact[];
  /** Fresh mental models whose question is close to this one, best first. */
  readonly models: readonly CitedModel[];
  readonly maxTokens: number;
  /** Facts in the answer at most. */
  readonly factsMax: number;
}

export interface LocalAnswer {
  readonly text: string;
  readonly facts: readonly RetrievedFact[];
  readonly models: readonly CitedModel[];
  /** False when the answer says that the bank does not hold one. */
  readonly isAnswered: boolean;
}

export const NOT_HELD = "The memory bank does not hold an answer to this question.";
const NEAREST = "The closest memories are:";
export const EARLIER_HEADING = "## Earlier, since replaced";
const NEAREST_MAX = 3;
const MODEL_LINES_MAX = 5;

/**
 * An answer in the memories' own words: lines of a list, observations first, what a later memory replaced under a heading
 * of its own. When the memories do not answer the question it says so, and shows the closest ones.
 */
export function composeLocalAnswer({ query, facts, models, maxTokens, factsMax }: LocalQuestion): LocalAnswer {
  const judge = judgeEvidence(query, facts);
  const lines = createLines(maxTokens);
  const usedModels = models.filter((model) => addModel(lines, model, query));
  if (!judge.holdsAnswer) {
    if (usedModels.length > 0) return { text: lines.text(), facts: [], models: usedModels, isAnswered: true };
    lines.add(NOT_HELD);
    const nearest = facts.filter(judge.isRelated).slice(0, NEAREST_MAX);
    const shown = addFacts(lines, nearest, `\n${NEAREST}\n`);
    return { text: lines.text(), facts: shown, models: [], isAnswered: false };
  }
  const chosen = withoutRestated(facts.filter(judge.isRelated)).slice(0, factsMax);
  const current = chosen.filter(({ isSuperseded }) => !isSuperseded);
  const ordered = [...current.filter(isObservation), ...current.filter((fact) => !isObservation(fact))];
  const shown = addFacts(lines, ordered, usedModels.length > 0 ? "" : undefined);
  const earlier = addFacts(
    lines,
    chosen.filter(({ isSuperseded }) => isSuperseded),
    `\n${EARLIER_HEADING}\n`,
  );
  return { text: lines.text(), facts: [...shown, ...earlier], models: usedModels, isAnswered: true };
}

/** Leaves out memories that an observation beside them sums up; what was replaced stays, because the observation no longer says it. */
export function withoutRestated<F extends RetrievedFact>(facts: readonly F[]): readonly F[] {
  const summedUp = new Set(facts.filter(({ isSuperseded }) => !isSuperseded).flatMap(({ sourceIds }) => sourceIds));
  return facts.filter(({ id, isSuperseded }) => isSuperseded || !summedUp.has(id));
}

/** A memory as a line of an answer: its own words, and the day that it is about or was said on. */
export function lineOf(fact: Fact): string {
  const atUs = fact.occurredStartUs ?? fact.mentionedAtUs;
  const day = atUs === undefined ? "" : ` (${new Date(atUs / 1_000).toISOString().slice(0, 10)})`;
  return `- ${fact.text.replaceAll(/\s+/g, " ").trim()}${day}`;
}

const isObservation = ({ type }: Fact): boolean => type === "observation";

interface Lines {
  /** False when the line does not fit any more. */
  add(...lines: string[]): boolean;
  text(): string;
}

function createLines(maxTokens: number): Lines {
  const kept: string[] = [];
  let tokens = 0;
  return {
    add(...lines) {
      const more = countTokens(lines.join("\n")) + lines.length;
      // The first line stays whatever its length: an answer is never empty.
      if (kept.length > 0 && tokens + more > maxTokens) return false;
      tokens += more;
      kept.push(...lines);
      return true;
    },
    text: () => kept.join("\n").trim(),
  };
}

/** The facts that fit, under the heading, which is left out when none does. */
function addFacts(lines: Lines, facts: readonly RetrievedFact[], heading: string | undefined): RetrievedFact[] {
  const added: RetrievedFact[] = [];
  for (const fact of facts) {
    const line = lineOf(fact);
    const fits = added.length === 0 && heading !== undefined ? lines.add(heading, line) : lines.add(line);
    if (!fits) break;
    added.push(fact);
  }
  return added;
}

/** The lines of the model that speak of what is asked. */
function addModel(lines: Lines, { name, text }: CitedModel, query: string): boolean {
  const words = new Set(contentWords(query));
  const fitting = text
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .filter((line) => contentWords(line).some((word) => words.has(word)))
    .slice(0, MODEL_LINES_MAX);
  return fitting.length > 0 && lines.add(`From **${name}**:`, ...fitting);
}
