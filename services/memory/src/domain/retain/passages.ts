import { splitSentences } from "../text/sentences.ts";
import type { Turn } from "../text/speaker.ts";

/** Some sentences of one speaker that belong together: a turn of a conversation, a paragraph, or a part of a long one. */
export interface Passage {
  readonly turn: Turn;
  readonly sentences: readonly string[];
  /** Where each sentence stands in the content (for JSON: where its object starts). */
  readonly starts: readonly number[];
}

/** About what a reader takes in as one thought. */
const PASSAGE_SENTENCES = 5;
/** A slightly longer turn stays whole: two uneven parts would tear it more than they help. */
const WHOLE_PASSAGE_SENTENCES_MAX = 7;

/** The passages of the turns, in order, split as they are asked for: a long text is never split in one go. */
export function* passagesOf(turns: readonly Turn[]): Generator<Passage, void> {
  for (const turn of turns) for (const paragraph of paragraphs(turn.text)) yield* parts(turn, paragraph);
}

interface Paragraph {
  readonly text: string;
  readonly start: number;
}

function* paragraphs(text: string): Generator<Paragraph, void> {
  let start = 0;
  for (const gap of text.matchAll(/\n[^\S\n]*\n\s*/g)) {
    yield { text: text.slice(start, gap.index), start };
    start = gap.index + gap[0].length;
  }
  yield { text: text.slice(start), start };
}

function parts(turn: Turn, paragraph: Paragraph): Passage[] {
  const sentences = splitSentences(paragraph.text);
  const starts = sentenceStarts(turn, paragraph, sentences);
  const count = sentences.length <= WHOLE_PASSAGE_SENTENCES_MAX ? 1 : Math.ceil(sentences.length / PASSAGE_SENTENCES);
  const size = Math.ceil(sentences.length / count);
  const passages: Passage[] = [];
  for (let i = 0; i < sentences.length; i += size) {
    passages.push({ turn, sentences: sentences.slice(i, i + size), starts: starts.slice(i, i + size) });
  }
  return passages;
}

function sentenceStarts(turn: Turn, { text, start }: Paragraph, sentences: readonly string[]): number[] {
  if (turn.isStructured) return sentences.map(() => turn.start);
  let from = 0;
  return sentences.map((sentence) => {
    const at = text.indexOf(sentence, from);
    from = at + sentence.length;
    return turn.start + start + at;
  });
}
