import { isAppError } from "@memory-bank/errors";
import { Type } from "typebox";
import { Check } from "typebox/value";
import type { Question } from "../answer/question.ts";
import { concludePrompt, concludeSchema } from "../prompts/conclude-prompt.ts";
import { digestPrompt, digestSchema } from "../prompts/digest-prompt.ts";
import { CONTEXT_TOKENS_MAX, type WrittenAnswer } from "./agent-loop.ts";
import { type EvidenceBook, splitMaterial } from "./evidence-book.ts";
import type { ModelSession } from "./model-session.ts";

/** A prompt leaves room for its rules and for the answer. */
const MATERIAL_SHARE = 0.8;
/** Characters of JSON with ids per token, on the safe side. */
const CHARS_PER_TOKEN = 3;
const MATERIAL_CHARS_MAX = CONTEXT_TOKENS_MAX * MATERIAL_SHARE * CHARS_PER_TOKEN;
/** Models that read less than this are of no use here. */
const MATERIAL_CHARS_MIN = 4_000;
const DIGEST_TOKENS = 4_000;
/** Digests of digests, at most; what is still too long then is cut. */
const DIGEST_LEVELS_MAX = 3;

const answerSchema = Type.Object({
  answer: Type.String(),
  memory_ids: Type.Optional(Type.Array(Type.String())),
  mental_model_ids: Type.Optional(Type.Array(Type.String())),
  observation_ids: Type.Optional(Type.Array(Type.String())),
});
const statementsSchema = Type.Object({ statements: Type.Array(Type.Unknown()) });

/**
 * Writes the answer from what was gathered. Material that is too long for one prompt is shortened part by part first; what
 * is too long for this model is tried again in smaller parts.
 */
export async function conclude(
  session: ModelSession,
  system: string,
  question: Pick<Question, "query" | "maxTokens">,
  book: EvidenceBook,
): Promise<WrittenAnswer> {
  for (let charsMax = MATERIAL_CHARS_MAX; ; charsMax /= 2) {
    try {
      return await concludeWithin(session, system, question, book, charsMax);
    } catch (error) {
      if (!isAppError(error, "PROMPT_TOO_LONG") || charsMax / 2 < MATERIAL_CHARS_MIN) throw error;
    }
  }
}

async function concludeWithin(
  session: ModelSession,
  system: string,
  { query, maxTokens }: Pick<Question, "query" | "maxTokens">,
  book: EvidenceBook,
  charsMax: number,
): Promise<WrittenAnswer> {
  const material = await fittingMaterial(session, query, book.material(), charsMax);
  const prompt = concludePrompt(system, query, material, maxTokens);
  const { json, text } = await session.json("conclude", prompt, concludeSchema, maxTokens);
  // A model that writes prose instead of JSON has still answered; it only cites nothing.
  if (!Check(answerSchema, json)) return { text, memoryIds: [], modelIds: [] };
  return {
    text: json.answer,
    memoryIds: [...(json.observation_ids ?? []), ...(json.memory_ids ?? [])],
    modelIds: json.mental_model_ids ?? [],
  };
}

async function fittingMaterial(
  session: ModelSession,
  query: string,
  whole: readonly unknown[],
  charsMax: number,
): Promise<readonly unknown[]> {
  let material = whole;
  for (let level = 0; level < DIGEST_LEVELS_MAX; level++) {
    const parts = splitMaterial(material, charsMax);
    if (parts.length <= 1) return material;
    const digests = await Promise.all(parts.map((part) => digest(session, query, part)));
    material = digests.flat();
  }
  return splitMaterial(material, charsMax)[0] ?? [];
}

async function digest(session: ModelSession, query: string, part: readonly unknown[]): Promise<readonly unknown[]> {
  const { json, text } = await session.json("digest", digestPrompt(query, part), digestSchema, DIGEST_TOKENS);
  if (Check(statementsSchema, json)) return json.statements;
  return text === "" ? [] : [{ text }];
}
