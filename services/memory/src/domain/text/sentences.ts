import { closingAbbreviations, leadingAbbreviations, sentenceOpeners } from "./english/abbreviations.ts";

/**
 * Splits a text into sentences. Each is a trimmed substring, in order, and together they hold every character but the white
 * space between them: nothing is rewritten or lost. Closing quotes and emoji stay with the sentence they end; a bracketed
 * note at the end of a line ("[shares a photo: ...]") is a sentence of its own.
 */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  const closeAt = (end: number): void => {
    const sentence = text.slice(start, end).trim();
    if (sentence !== "") pushBounded(sentence, sentences);
    start = end;
  };
  candidate.lastIndex = 0;
  for (let match = candidate.exec(text); match !== null; match = candidate.exec(text)) {
    const end = match.index + match[0].length;
    if (endsSentence(text, start, match.index, match[0])) closeAt(match[1] === undefined ? end : match.index);
  }
  closeAt(text.length);
  return sentences;
}

/** The encoder reads little more than this well, and one vector should mean one thing. */
const SENTENCE_CHARS_MAX = 600;
/** Below this a line break inside running text is a layout choice; above it the author's editor wrapped the line. */
const WRAPPED_LINE_CHARS_MIN = 50;

// Runs are bounded so that a hostile text ("....." without end) costs linear time; what is longer matches piecewise.
const note = String.raw`(?<=\s)(\[[^[\]\n]{3,400}\](?=\s*(?:\n|$)))`;
const lineBreaks = String.raw`[\r\n\u2028\u2029]+`;
const emoji = String.raw`(?:\s?[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]|\u200d)`;
const stopsWithoutSpace = String.raw`[。！？｡]{1,32}["'”’」』）)\]]{0,8}`;
const stopsBeforeSpace = String.raw`[.!?…؟۔।።]{1,32}["'”’»)\]*_]{0,8}${emoji}{0,32}(?=\s)`;
const emojiBeforeCapital = String.raw`\p{Extended_Pictographic}${emoji}{0,32}(?= \p{Lu})`;

/** Where a sentence may end. Closing quotes and emoji go along; group 1 is a bracketed note that closes its line. */
const candidate = new RegExp([note, lineBreaks, stopsWithoutSpace, stopsBeforeSpace, emojiBeforeCapital].join("|"), "gu");

function endsSentence(text: string, start: number, at: number, mark: string): boolean {
  const first = mark[0]!;
  if (isLineBreak(first)) return !isWrappedLine(text, start, at, mark);
  if (first === "[") return true;
  const next = wordAfter(text, at + mark.length);
  if (/["'”’»)]/.test(mark.at(-1)!) && /^\p{Ll}/u.test(next)) return false;
  if (first === "…" || mark.startsWith("..")) return !/^\p{Ll}/u.test(next);
  return mark === "." ? periodEnds(text, start, at, next) : true;
}

function periodEnds(text: string, start: number, at: number, next: string): boolean {
  const word = wordBefore(text, start, at);
  const lower = word.toLowerCase();
  const opensNext = sentenceOpeners.has(next.toLowerCase()) && /^\p{Lu}/u.test(next);
  if (leadingAbbreviations.has(lower)) return lower === "no" && opensNext;
  if (closingAbbreviations.has(lower)) return opensNext;
  // A number or letter that opens a line is a list marker: "2. Call Ana".
  if (/^(?:\d{1,3}|\p{L})$/u.test(word) && text.slice(start, at - word.length).trim() === "")
    return opensNext && !/^\d/.test(word);
  // Initials: "J. K. Rowling", but "vitamin C. It helps".
  if (/^(?:\p{Lu}\.)*\p{Lu}$/u.test(word)) return opensNext;
  return true;
}

/** A hard-wrapped paragraph: a long line without a stop, continued by a lower-case letter. */
function isWrappedLine(text: string, start: number, at: number, mark: string): boolean {
  if (mark !== "\n" && mark !== "\r\n") return false;
  const lineStart = Math.max(start, text.lastIndexOf("\n", at - 1) + 1);
  return at - lineStart >= WRAPPED_LINE_CHARS_MIN && /^\s*\p{Ll}/u.test(text.slice(at, at + 20));
}

function isLineBreak(char: string): boolean {
  return char === "\n" || char === "\r" || char === "\u2028" || char === "\u2029";
}

/** Longest word looked at beside a stop; abbreviations and openers are far shorter. */
const NEIGHBOUR_CHARS_MAX = 24;

function wordBefore(text: string, start: number, at: number): string {
  return /[\p{L}\p{N}.]*$/u.exec(text.slice(Math.max(start, at - NEIGHBOUR_CHARS_MAX), at))![0];
}

function wordAfter(text: string, at: number): string {
  return /^[^\p{L}\p{N}]*([\p{L}\p{N}]*)/u.exec(text.slice(at, at + NEIGHBOUR_CHARS_MAX))![1]!;
}

/** Breaks an over-long sentence at the last clause end, else space, else between characters. */
function pushBounded(sentence: string, into: string[]): void {
  let rest = sentence;
  while (rest.length > SENTENCE_CHARS_MAX) {
    const head = rest.slice(0, SENTENCE_CHARS_MAX);
    const cut = lastCut(head);
    into.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  if (rest !== "") into.push(rest);
}

function lastCut(head: string): number {
  for (const separator of ["; ", ", ", "、", "，", " "]) {
    const at = head.lastIndexOf(separator);
    // Earlier cuts would leave a head too short to mean anything.
    if (at >= SENTENCE_CHARS_MAX / 3) return at + separator.length;
  }
  const last = head.charCodeAt(head.length - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return splitsPair ? head.length - 1 : head.length;
}
