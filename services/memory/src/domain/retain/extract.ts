import type { ExtractedFact } from "../fact.ts";
import { foldText } from "../text/analyzer.ts";
import { loadExplicitDates } from "../text/english/explicit-dates.ts";
import { isFiller } from "../text/english/fact-words.ts";
import { loadLexicon } from "../text/english/lexicon.ts";
import { type FoundEntity, findEntities } from "../text/entities.ts";
import { parseTurns, type Turn } from "../text/speaker.ts";
import { type Chunk, type ChunkSizes, chunkText } from "./chunk.ts";
import { type Passage, passagesOf } from "./passages.ts";
import { createSentenceReader, type ItemSetting, type ReadSentence } from "./read-sentence.ts";

export type ExtractionMode = "concise" | "verbose" | "custom" | "verbatim" | "chunks";

export interface ExtractionInput extends ChunkSizes {
  readonly content: string;
  /** The item's context label; people it names are known to take part. */
  readonly context: string;
  /** When the content occurred; without it only dates with a year are resolved. */
  readonly timestampUs: number | undefined;
  readonly mode: ExtractionMode;
}

export interface Extraction {
  readonly chunks: readonly Chunk[];
  /** In the order of the text. */
  readonly facts: readonly ExtractedFact[];
}

/**
 * Draws facts from text without a language model: every sentence is one, in the source's own words. Deterministic, takes any
 * text. `concise` and `custom` leave out bare greetings and exclamations unless the item holds nothing else; `verbatim` makes
 * one fact of each chunk; `chunks` the same without reading it. Text without letters or digits gives no fact.
 */
export function extractFacts(input: ExtractionInput): Extraction {
  const steps = extractionSteps(input);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Sentences read between two pauses: about 5 ms of work. */
const STEP_SENTENCES = 50;

/** `extractFacts` in short steps, for callers that must let others run in between: a megabyte of text takes over a second. */
export function* extractionSteps(input: ExtractionInput): Generator<undefined, Extraction> {
  const chunks = chunkText(input.content, input);
  if (input.mode === "chunks") return { chunks, facts: chunks.filter(hasWords).map(unreadFact) };
  const people = peopleIn(input.context);
  if (input.mode === "verbatim")
    return { chunks, facts: yield* verbatimFacts(chunks, { people, timestampUs: input.timestampUs }) };
  const turns = parseTurns(input.content, people);
  for (const { speaker } of turns) if (speaker !== undefined) people.add(foldText(speaker));
  return { chunks, facts: yield* sentenceFacts(input, chunks, turns, { people, timestampUs: input.timestampUs }) };
}

/** Loads what extraction otherwise loads with its first name and first date (about 350 ms together). */
export function warmExtraction(): void {
  loadLexicon();
  loadExplicitDates();
}

function* sentenceFacts(
  input: ExtractionInput,
  chunks: readonly Chunk[],
  turns: readonly Turn[],
  setting: ItemSetting,
): Generator<undefined, ExtractedFact[]> {
  const read = createSentenceReader(setting);
  const isPerson = (name: string): boolean => [...setting.people].some((person) => person.startsWith(foldText(name)));
  const facts: ExtractedFact[] = [];
  let longestFiller: Sentence | undefined;
  let seen = 0;
  for (const sentence of sentencesOf(turns)) {
    if (++seen % STEP_SENTENCES === 0) yield;
    if (!hasWords(sentence)) continue;
    if (input.mode !== "verbose" && isFiller(sentence.text, isPerson)) {
      if (sentence.text.length > (longestFiller?.text.length ?? 0)) longestFiller = sentence;
      continue;
    }
    facts.push(factOf(sentence, read(sentence.text, sentence.passage.turn), facts, chunks));
  }
  if (facts.length > 0) return facts;
  // An item is never lost: where all is politeness its longest sentence stays, where only a label has letters the whole text.
  if (longestFiller) return [factOf(longestFiller, read(longestFiller.text, longestFiller.passage.turn), [], chunks)];
  return chunks.filter(hasWords).map(unreadFact);
}

interface Sentence {
  readonly text: string;
  readonly passage: Passage;
  readonly passageIndex: number;
  readonly sentenceIndex: number;
}

function* sentencesOf(turns: readonly Turn[]): Generator<Sentence, void> {
  let passageIndex = 0;
  for (const passage of passagesOf(turns)) {
    for (const [sentenceIndex, text] of passage.sentences.entries()) yield { text, passage, passageIndex, sentenceIndex };
    passageIndex++;
  }
}

function factOf(
  { passage, passageIndex, sentenceIndex }: Sentence,
  { isEffect, ...read }: ReadSentence,
  earlier: readonly ExtractedFact[],
  chunks: readonly Chunk[],
): ExtractedFact {
  const previous = earlier.at(-1);
  const causedBy = isEffect && previous?.passageIndex === passageIndex ? [earlier.length - 1] : [];
  return {
    ...read,
    chunkIndex: chunkAt(chunks, passage.starts[sentenceIndex]!, previous?.chunkIndex ?? 0),
    passageIndex,
    sentenceIndex,
    causedBy,
  };
}

/** The chunk that holds an offset, at or after chunk `from`. */
function chunkAt(chunks: readonly Chunk[], start: number, from: number): number {
  let index = from;
  while (index + 1 < chunks.length && chunks[index + 1]!.start <= start) index++;
  return index;
}

/** One fact per chunk; its sentences only supply entities, times and flags. */
function* verbatimFacts(chunks: readonly Chunk[], setting: ItemSetting): Generator<undefined, ExtractedFact[]> {
  const read = createSentenceReader(setting);
  const facts: ExtractedFact[] = [];
  for (const chunk of chunks.filter(hasWords)) {
    const sentences: ReadSentence[] = [];
    for (const { turn, sentences: texts } of passagesOf(parseTurns(chunk.text, setting.people))) {
      for (const text of texts) if (hasWords({ text })) sentences.push(read(text, turn));
    }
    facts.push({ ...merged(chunk.text, sentences), ...placeOf(chunk, facts.length) });
    yield;
  }
  return facts;
}

/** What all sentences agree on holds for the whole; a text of one speaker is embedded without its label. */
function merged(text: string, sentences: readonly ReadSentence[]): Omit<ExtractedFact, keyof ReturnType<typeof placeOf>> {
  const entities = new Map(sentences.flatMap((sentence) => sentence.entities).map((entity) => [foldText(entity.name), entity]));
  const dated = sentences.find((sentence) => sentence.occurredStartUs !== undefined);
  const flags = sentences.map((sentence) => sentence.flags);
  const author = agreed(sentences.map((sentence) => sentence.author));
  const subject = agreed(sentences.map((sentence) => sentence.subject));
  return {
    text,
    type: agreed(sentences.map((sentence) => sentence.type)) ?? "world",
    ...(author !== undefined && { author }),
    ...(subject !== undefined && { subject }),
    entities: [...entities.values()],
    ...(dated && { occurredStartUs: dated.occurredStartUs!, occurredEndUs: dated.occurredEndUs! }),
    intervals: sentences.flatMap((sentence) => sentence.intervals),
    flags: {
      endsWithQuestion: flags.at(-1)?.endsWithQuestion ?? false,
      containsQuestion: flags.some((flag) => flag.containsQuestion),
      hasTimeExpression: flags.some((flag) => flag.hasTimeExpression),
      hasPlace: flags.some((flag) => flag.hasPlace),
      nameCount: Math.max(0, ...flags.map((flag) => flag.nameCount)),
    },
    embeddedText:
      author === undefined && sentences.length !== 1 ? text : sentences.map((sentence) => sentence.embeddedText).join(" "),
  };
}

function agreed<T>(values: readonly T[]): T | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined;
}

function unreadFact(chunk: Chunk, index: number): ExtractedFact {
  const flags = { endsWithQuestion: false, containsQuestion: false, hasTimeExpression: false, hasPlace: false, nameCount: 0 };
  return {
    text: chunk.text,
    type: "fact",
    entities: [],
    intervals: [],
    flags,
    embeddedText: chunk.text,
    ...placeOf(chunk, index),
  };
}

function placeOf(chunk: Chunk, index: number) {
  return { chunkIndex: chunk.index, passageIndex: index, sentenceIndex: 0, causedBy: [] };
}

/** People whom the context label names ("Staff call with Maria"); after "between" every name is one. */
function peopleIn(context: string): Set<string> {
  const found = findEntities(context, { people: new Set(), names: new Set() });
  const between = context.search(/\bbetween\b/i);
  const isPerson = ({ kind, start }: FoundEntity): boolean =>
    kind === "PERSON" || (kind === "OTHER" && between >= 0 && start > between);
  return new Set(found.filter(isPerson).map(({ name }) => foldText(name)));
}

function hasWords({ text }: { readonly text: string }): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
