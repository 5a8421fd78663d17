import { AppError, isAppError } from "@memory-bank/errors";
import type { Completion, LanguageModel, TokenUsage } from "@memory-bank/models";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import type { EntityMention, ExtractedFact, FactType, Interval } from "../fact.ts";
import { addUsage, noUsage } from "../token-usage.ts";
import { type Chunk, type ChunkSizes, chunkText } from "./chunk.ts";
import { labelEntities } from "./entity-labels.ts";
import { type Extraction, extractFacts } from "./extract.ts";
import { type ExtractionGuidance, type ExtractionMaterial, extractionPrompt, extractionSchema } from "./extraction-prompt.ts";
import { datePhrase } from "./read-sentence.ts";

export type CallableModel = Extract<LanguageModel, { kind: "openai" }>;

export interface ModelExtractionInput extends ChunkSizes, Omit<ExtractionMaterial, "text"> {
  readonly content: string;
  readonly guidance: ExtractionGuidance;
  /** False: only labels of the vocabulary are kept as entities. */
  readonly keepsFreeEntities: boolean;
}

export interface ModelExtraction extends Extraction {
  readonly usage: TokenUsage;
}

/** Chunks of one item that are read at once; the model's own limit holds across items. */
const parallelChunks = 8;
/** A chunk that is this short and still too much for the model fails (contract 12.2). */
const chunkCharsMin = 500;
/** Tries with an answer that cannot be read: a second one is often right, a fourth never was. */
const attemptsMax = 3;
/** Contract 3.4: `retain_temperature`, `retain_max_completion_tokens`. */
const temperature = 0.1;
const answerTokensMax = 64_000;
const causesMax = 2;

/** Draws facts from text with a language model, one call per chunk. A chunk that cannot be read fails the whole (`unavailable`). */
export async function extractWithModel(
  model: CallableModel,
  input: ModelExtractionInput,
  signal: AbortSignal,
): Promise<ModelExtraction> {
  const chunks = chunkText(input.content, input).filter((chunk) => hasWords(chunk.text));
  let usage = noUsage;
  const count = (spent: TokenUsage): void => {
    usage = addUsage(usage, spent);
  };
  const answers: RawFact[][] = [];
  for (let from = 0; from < chunks.length; from += parallelChunks) {
    const part = chunks.slice(from, from + parallelChunks);
    answers.push(...(await Promise.all(part.map((chunk) => readChunk(model, input, chunk.text, count, signal)))));
  }
  const facts: ExtractedFact[] = [];
  for (const [i, chunk] of chunks.entries()) {
    if (input.guidance.mode === "verbatim") facts.push(wholeChunk(input, chunk, answers[i]!, facts.length));
    else facts.push(...factsOf(input, chunk, answers[i]!, facts.length));
  }
  return { chunks: chunkText(input.content, input), facts, usage };
}

const rawFact = Type.Object({
  what: Type.String(),
  when: Type.Optional(Type.String()),
  who: Type.Optional(Type.String()),
  why: Type.Optional(Type.String()),
  kind: Type.Optional(Type.String()),
  class: Type.Optional(Type.String()),
  occurred_start: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  occurred_end: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  entities: Type.Optional(Type.Array(Type.Object({ name: Type.String(), kind: Type.Optional(Type.String()) }))),
  caused_by: Type.Optional(Type.Array(Type.Integer())),
  labels: Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: Type.String() }))),
});
const answerShape = Type.Object({ facts: Type.Array(rawFact) });
type RawFact = Static<typeof rawFact>;

/** The model's facts of a text; one whose answer does not fit is read in halves. */
async function readChunk(
  model: CallableModel,
  input: ModelExtractionInput,
  text: string,
  count: (usage: TokenUsage) => void,
  signal: AbortSignal,
): Promise<RawFact[]> {
  const { guidance, context, timestampUs } = input;
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const completion = await complete(model, extractionPrompt(guidance, { text, context, timestampUs }), signal);
    if (completion !== "too long") count(completion.usage);
    if (completion === "too long" || completion.finishReason === "length") {
      if (text.length <= chunkCharsMin) break;
      const half = Math.ceil([...text].length / 2);
      const halves = chunkText(text, { chunkSize: half, structuredChunkSize: half });
      const read: RawFact[] = [];
      for (const part of halves) {
        const offset = read.length;
        for (const fact of await readChunk(model, input, part.text, count, signal)) {
          read.push({ ...fact, caused_by: (fact.caused_by ?? []).map((cause) => cause + offset) });
        }
      }
      return read;
    }
    if (completion.kind === "json" && Check(answerShape, completion.json)) return completion.json.facts;
  }
  throw new AppError("unavailable", "EXTRACTION_FAILED", "The language model gave no facts that can be read");
}

async function complete(
  model: CallableModel,
  messages: ReturnType<typeof extractionPrompt>,
  signal: AbortSignal,
): Promise<Completion | "too long"> {
  try {
    return await model.complete({
      task: "retain",
      schema: extractionSchema,
      maxTokens: answerTokensMax,
      ...{ messages, temperature, signal },
    });
  } catch (error) {
    if (isAppError(error, "PROMPT_TOO_LONG")) return "too long";
    throw error;
  }
}

function factsOf(input: ModelExtractionInput, chunk: Chunk, raw: readonly RawFact[], first: number): ExtractedFact[] {
  const texts = raw.map(storedText);
  // Positions of the answer to positions among the facts that are kept.
  const positions = new Map<number, number>();
  for (const [i, text] of texts.entries()) if (hasWords(text)) positions.set(i, first + positions.size);
  return raw.flatMap((fact, i) => {
    const position = positions.get(i);
    if (position === undefined) return [];
    const causes = (fact.caused_by ?? []).filter((cause) => cause < i).flatMap((cause) => positions.get(cause) ?? []);
    return [
      { ...describe(input, texts[i]!, [fact]), ...placeOf(chunk, position), causedBy: [...new Set(causes)].slice(0, causesMax) },
    ];
  });
}

/** In mode `verbatim` the text is the chunk's own; the answer only says what it is about. */
function wholeChunk(input: ModelExtractionInput, chunk: Chunk, raw: readonly RawFact[], position: number): ExtractedFact {
  return { ...describe(input, chunk.text, raw), ...placeOf(chunk, position), causedBy: [] };
}

/** Facts of a model stand by themselves, so each is a passage of its own. */
function placeOf(chunk: Chunk, position: number) {
  return { chunkIndex: chunk.index, passageIndex: position, sentenceIndex: 0 };
}

function describe(input: ModelExtractionInput, text: string, raw: readonly RawFact[]) {
  const read = readByRules(input, text);
  const entities = entitiesOf(input, raw);
  const event = raw.find((fact) => fact.kind === "event");
  const occurred = event && (intervalOf(event) ?? ownInterval(read));
  const phrase = occurred ? ` (happened ${datePhrase(occurred)})` : "";
  const names = entities.length > 0 ? ` [${entities.map((entity) => entity.name).join(", ")}]` : "";
  return {
    text,
    type: typeOf(raw[0]?.class),
    entities,
    ...(occurred && { occurredStartUs: occurred.startUs, occurredEndUs: occurred.endUs }),
    intervals: occurred ? [occurred, ...read.intervals] : read.intervals,
    flags: read.flags,
    embeddedText: `${text}${phrase}${names}`,
  };
}

/** What ranking wants of any text is decided by rules, whoever wrote it. */
function readByRules({ timestampUs }: ModelExtractionInput, text: string): ExtractedFact {
  const whole = { chunkSize: Number.MAX_SAFE_INTEGER, structuredChunkSize: Number.MAX_SAFE_INTEGER };
  return extractFacts({ content: text, context: "", timestampUs, mode: "verbatim", ...whole }).facts[0]!;
}

function ownInterval({ occurredStartUs, occurredEndUs }: ExtractedFact): Interval | undefined {
  return occurredStartUs === undefined ? undefined : { startUs: occurredStartUs, endUs: occurredEndUs ?? occurredStartUs };
}

function intervalOf({ occurred_start, occurred_end }: RawFact): Interval | undefined {
  const startUs = instantOf(occurred_start);
  if (startUs === undefined) return undefined;
  return { startUs, endUs: Math.max(startUs, instantOf(occurred_end) ?? startUs) };
}

/** An ISO date or instant; without a zone it is UTC. */
function instantOf(text: string | null | undefined): number | undefined {
  if (!text || !/^\d{4}-\d{2}/.test(text)) return undefined;
  const zoned = /T.*(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) || !text.includes("T") ? text : `${text}Z`;
  const ms = Date.parse(zoned);
  return Number.isNaN(ms) ? undefined : ms * 1000;
}

function entitiesOf({ guidance, keepsFreeEntities }: ModelExtractionInput, raw: readonly RawFact[]): EntityMention[] {
  const free = keepsFreeEntities ? raw.flatMap((fact) => fact.entities ?? []) : [];
  const named = free
    .map(({ name, kind = "" }) => ({ name: name.replace(/\s+/gu, " ").trim(), kind: kind.trim().toUpperCase() || "OTHER" }))
    .filter((entity) => hasWords(entity.name));
  const labels = labelEntities(
    raw.flatMap((fact) => fact.labels ?? []),
    guidance.labels,
  );
  return [...new Map([...named, ...labels].map((entity) => [entity.name.toLowerCase(), entity])).values()];
}

function typeOf(word: string | undefined): FactType {
  return word === "assistant" ? "experience" : word === "preference" || word === "world" ? word : "fact";
}

/** What, then when, who and why where the text said so (contract 12.2). */
function storedText({ what, when, who, why }: RawFact): string {
  const said = (value: string | undefined): string =>
    value === undefined || /^\s*(?:n\/a|none|unknown)?\s*$/i.test(value) ? "" : value.trim();
  return [said(what), said(when) && `When: ${said(when)}`, said(who) && `Involving: ${said(who)}`, said(why)]
    .filter((part) => part !== "")
    .join(" | ");
}

function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
