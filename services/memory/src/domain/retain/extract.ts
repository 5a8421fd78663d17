import type { ExtractedFact } from "../fact.ts";
import { foldText } from "../text/analyzer.ts";
import { loadExplicitDates } from "../text/english/explicit-dates.ts";
import { isFiller } from "../text/english/fact-words.ts";
import { loadLexicon } from "../text/english/lexicon.ts";
import { type FoundEntity, findEntities } from "../text/entities.ts";
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
  const chunks = chunkText(input.content, input);
  if (input.mode === "chunks") return { chunks, facts: chunks.filter(hasWords).map(unreadFact) };
  const people = peopleIn(input.context);
  const passages = passagesOf(input.content, people);
  for (const { turn } of passages) if (turn.speaker !== undefined) people.add(foldText(turn.speaker));
  const setting = { people, timestampUs: input.timestampUs };
  const facts = input.mode === "verbatim" ? verbatimFacts(chunks, setting) : sentenceFacts(input, chunks, passages, setting);
  return { chunks, facts };
}

/** Loads what extraction otherwise loads with its first name and first date (about 350 ms together). */
export function warmExtraction(): void {
  loadLexicon();
  loadExplicitDates();
}

function sentenceFacts(
  input: ExtractionInput,
  chunks: readonly Chunk[],
  passages: readonly Passage[],
  setting: ItemSetting,
): ExtractedFact[] {
  const read = createSentenceReader(setting);
  const isPerson = (name: string): boolean => [...setting.people].some((person) => person.startsWith(foldText(name)));
  const candidates = passages.flatMap((passage, passageIndex) =>
    passage.sentences
      .map((text, sentenceIndex) => ({ passage, passageIndex, text, sentenceIndex }))
      .filter(hasWords)
      .map((candidate) => ({ ...candidate, isFiller: input.mode !== "verbose" && isFiller(candidate.text, isPerson) })),
  );
  const informative = candidates.filter((candidate) => !candidate.isFiller);
  // An item is never lost: where all is politeness its longest sentence stays, where only a label has letters the whole text.
  const kept = informative.length > 0 ? informative : candidates.toSorted((a, b) => b.text.length - a.text.length).slice(0, 1);
  if (kept.length === 0) return hasWords({ text: input.content }) ? chunks.filter(hasWords).map(unreadFact) : [];
  const facts: ExtractedFact[] = [];
  let chunkIndex = 0;
  for (const { passage, passageIndex, text, sentenceIndex } of kept) {
    const start = passage.starts[sentenceIndex]!;
    while (chunkIndex + 1 < chunks.length && chunks[chunkIndex + 1]!.start <= start) chunkIndex++;
    const { isEffect, ...fact } = read(text, passage.turn);
    const cause = facts.length - 1;
    const causedBy = isEffect && facts[cause]?.passageIndex === passageIndex ? [cause] : [];
    facts.push({ ...fact, chunkIndex, passageIndex, sentenceIndex, causedBy });
  }
  return facts;
}

/** One fact per chunk; its sentences only supply entities, times and flags. */
function verbatimFacts(chunks: readonly Chunk[], setting: ItemSetting): ExtractedFact[] {
  const read = createSentenceReader(setting);
  return chunks.filter(hasWords).map((chunk, index) => {
    const passages = passagesOf(chunk.text, setting.people);
    const sentences = passages.flatMap(({ turn, sentences }) =>
      sentences.filter((text) => hasWords({ text })).map((text) => read(text, turn)),
    );
    return { ...merged(chunk.text, sentences), ...placeOf(chunk, index) };
  });
}

function merged(text: string, sentences: readonly ReadSentence[]): Omit<ExtractedFact, keyof ReturnType<typeof placeOf>> {
  const entities = new Map(sentences.flatMap((sentence) => sentence.entities).map((entity) => [foldText(entity.name), entity]));
  const dated = sentences.find((sentence) => sentence.occurredStartUs !== undefined);
  const flags = sentences.map((sentence) => sentence.flags);
  return {
    text,
    type: sentences.every((sentence) => sentence.type === "experience") ? "experience" : "world",
    entities: [...entities.values()],
    ...(dated && { occurredStartUs: dated.occurredStartUs!, occurredEndUs: dated.occurredEndUs! }),
    intervals: sentences.flatMap((sentence) => sentence.intervals),
    flags: {
      endsWithQuestion: flags.at(-1)?.endsWithQuestion ?? false,
      containsQuestion: flags.some((flag) => flag.containsQuestion),
      hasTimeExpression: flags.some((flag) => flag.hasTimeExpression),
      hasPlace: flags.some((flag) => flag.hasPlace),
      nameCount: Math.min(2, Math.max(0, ...flags.map((flag) => flag.nameCount))),
    },
    embeddedText: text,
  };
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
