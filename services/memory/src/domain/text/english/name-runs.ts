import { isFiniteVerb, type WordClass, wordClass } from "./lexicon.ts";
import { ambiguousNames, commonOpeners, neverNames, titles } from "./name-words.ts";

/** A stretch of capitalised words that reads as one name. */
export interface NameRun {
  readonly words: readonly string[];
  /** As written, without a possessive ending. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** The words around it, lower case, "" at the ends of the sentence. */
  readonly before: string;
  readonly beforeThat: string;
  readonly after: string;
}

interface Token {
  readonly word: string;
  readonly start: number;
  /** End of the word without a possessive or contracted ending. */
  readonly end: number;
  readonly hasEnding: boolean;
}

/** Names of more words are headings in title case. */
const RUN_WORDS_MAX = 6;

/**
 * Finds the names of a sentence by their capitals. A capital that only opens the sentence counts when the word is a known
 * name, or no known word and followed by a verb or another capital. `isKnown` tells names found before.
 */
export function nameRuns(sentence: string, isKnown: (name: string) => boolean): NameRun[] {
  if (!/\p{Lu}/u.test(sentence) || isShouted(sentence)) return [];
  const tokens = tokensOf(sentence);
  const onlyListed = capitalisesNouns(tokens);
  const runs: NameRun[] = [];
  for (let i = 0; i < tokens.length; ) {
    const size = runLength(sentence, tokens, i, isKnown);
    if (size === 0) {
      i++;
      continue;
    }
    const run = runOf(sentence, tokens, i, tokens.slice(i, i + size));
    if (onlyListed && !isKnown(run.name) && !isListedName(run)) {
      i++; // "Frau Anna": the name may begin later
      continue;
    }
    if (size <= RUN_WORDS_MAX) runs.push(run);
    i += size;
  }
  return runs;
}

function runOf(sentence: string, tokens: readonly Token[], from: number, words: readonly Token[]): NameRun {
  const start = words[0]!.start;
  const end = words.at(-1)!.end;
  const neighbour = (index: number): string => tokens[index]?.word.toLowerCase() ?? "";
  return {
    words: words.map(({ word }) => word),
    name: sentence.slice(start, end),
    start,
    end,
    before: neighbour(from - 1),
    beforeThat: neighbour(from - 2),
    after: neighbour(from + words.length),
  };
}

/** Number of tokens of the name that begins at token `i`; 0 when none does. */
function runLength(sentence: string, tokens: readonly Token[], i: number, isKnown: (name: string) => boolean): number {
  const first = tokens[i]!;
  if (!mayBeName(first)) return 0;
  let size = 1;
  while (size < tokens.length - i && extendsRun(sentence, tokens, i + size - 1, isKnown)) size++;
  size = connectedLength(sentence, tokens, i, size);
  if (size > 1) {
    // What is left out in front is no part of the name; the rest is looked at from the next token.
    if (titles.has(bare(first.word)) || isArticle(first.word)) return 0;
    return opensSentence(sentence, tokens, i) && !isKnown(first.word) && precedesName(first.word, tokens[i + 1]!.word, isKnown)
      ? 0
      : size;
  }
  if (isKnown(first.word)) return 1;
  return isLoneName(sentence, tokens, i) ? 1 : 0;
}

/** "Lord of the Rings", "Vincent van Gogh": lower-case links between capitals. */
function connectedLength(sentence: string, tokens: readonly Token[], i: number, size: number): number {
  let end = size;
  for (;;) {
    let next = i + end;
    while (next < tokens.length && next - i - end < 2 && isConnector(tokens[next]!.word) && joined(sentence, tokens, next - 1))
      next++;
    const target = tokens[next];
    if (next === i + end || target === undefined || !mayBeName(target) || !joined(sentence, tokens, next - 1)) return end;
    if (opensSentence(sentence, tokens, i) && isCommon(tokens[i]!.word)) return end;
    end = next - i + 1;
    while (end < tokens.length - i && joined(sentence, tokens, i + end - 1) && mayBeName(tokens[i + end]!)) end++;
  }
}

function extendsRun(sentence: string, tokens: readonly Token[], last: number, isKnown: (name: string) => boolean): boolean {
  const token = tokens[last]!;
  if (token.hasEnding && (isKnown(token.word) || wordClass(token.word) === "person")) return false;
  const next = tokens[last + 1];
  if (next === undefined || !joined(sentence, tokens, last)) return false;
  // "Cyberpunk 2077", "Windows 11"; a person's number is an age.
  const isNumbered = /^\d{1,4}$/.test(next.word) && ["unknown", "proper", "organization"].includes(wordClass(token.word));
  return isNumbered || mayBeName(next);
}

/** One space, hyphen or ampersand between this token and the next; an initial or title may have its period. */
function joined(sentence: string, tokens: readonly Token[], index: number): boolean {
  const next = tokens[index + 1];
  if (next === undefined) return false;
  const gap = sentence.slice(tokens[index]!.end, next.start);
  return (
    /^(?:['’]s)?(?: | & |-)$/.test(gap) ||
    (gap === ". " && /^(?:\p{Lu}\.)*\p{Lu}$|^(?:St|Mt|Jr|Dr|Mr|Mrs|Ms|Prof)$/u.test(tokens[index]!.word))
  );
}

function isLoneName(sentence: string, tokens: readonly Token[], i: number): boolean {
  const { word } = tokens[i]!;
  const lower = word.toLowerCase();
  if (word.length < 2 || titles.has(lower)) return false;
  if (/^\p{Lu}{2,}$/u.test(word)) return word.length <= 6 && wordClass(word) !== "common" && !commonOpeners.has(lower);
  const known = wordClass(word);
  const opens = opensSentence(sentence, tokens, i);
  const next = tokens[i + 1];
  const hasVerb = next !== undefined && joined(sentence, tokens, i) && isFiniteVerb(next.word);
  if (ambiguousNames.has(lower)) return !opens || (hasVerb && lower !== "will" && lower !== "may");
  if (isListed(known) || /\p{Ll}\p{Lu}/u.test(word)) return true; // "PagerDuty"
  if (known === "common" || commonOpeners.has(lower) || isInflected(lower)) return false;
  if (!opens) return true;
  // Names are singular, "Exams are" is none; "Guitar's fun" shows nothing.
  return hasVerb && !/^(?:are|were|have)$/.test(next.word) && !/-\p{Ll}/u.test(word);
}

function isListed(known: WordClass): boolean {
  return known !== "common" && known !== "unknown";
}

function isListedName(run: NameRun): boolean {
  return isListed(wordClass(run.name)) || ["person", "place", "organization"].includes(wordClass(run.words[0]!));
}

function isCommon(word: string): boolean {
  const lower = word.toLowerCase();
  return neverNames.has(lower) || commonOpeners.has(lower) || wordClass(word) === "common" || isInflected(lower);
}

/** Endings that names do not have; they show a word the lists miss. */
function isInflected(lower: string): boolean {
  return lower.length > 5 && /(?:ing|ly|tion|ness|ment|ence|ance|ship|hood|ful|ous|ive|able|ized|ised)$/.test(lower);
}

/** An opener before a name ("Thanks Maria", "Anytime Nate") and not its first word. */
function precedesName(first: string, second: string, isKnown: (name: string) => boolean): boolean {
  return isCommon(first) || (wordClass(first) === "unknown" && (isKnown(second) || wordClass(second) === "person"));
}

function isArticle(word: string): boolean {
  return word === "The" || word === "A" || word === "An";
}

function mayBeName(token: Token): boolean {
  return /^\p{Lu}/u.test(token.word) && !/n['’]t$/.test(token.word) && !neverNames.has(bare(token.word));
}

function bare(word: string): string {
  return word.toLowerCase().replace(/\.$/, "");
}

function isConnector(word: string): boolean {
  return /^(?:of|the|de|la|le|du|da|del|dos|van|von|der|den|di|bin|ibn|al|y)$/.test(word);
}

/** At the start, or after a mark that a new clause or quotation begins with; not after a title ("Dr. Lee"). */
function opensSentence(sentence: string, tokens: readonly Token[], i: number): boolean {
  const previous = tokens[i - 1];
  if (previous === undefined) return true;
  if (titles.has(bare(previous.word))) return false;
  return /[.!?…:"“«([*]\s*$/.test(sentence.slice(previous.end, tokens[i]!.start));
}

/** German writes every noun with a capital, so there only listed and known names count. */
function capitalisesNouns(tokens: readonly Token[]): boolean {
  const count = (words: RegExp): number => tokens.filter(({ word }) => words.test(word)).length;
  const german = count(
    /^(?:der|die|das|und|mein|meine|meiner|sein|seine|ihr|ihre|unser|unsere|aus|seit|als|auch|ist|nicht|ein|eine|einen|einer|mit|auf|für|ich|wir|sie|zu|von|im|den|dem|hat|habe|am|bei|nach)$/i,
  );
  return german >= 2 && german > count(/^(?:the|and|is|of|to|in|a|my|was|it|for|with|that)$/i);
}

/** Mostly capital letters: emphasis, which tells nothing about names. */
function isShouted(sentence: string): boolean {
  const upper = sentence.match(/\p{Lu}/gu)?.length ?? 0;
  const lower = sentence.match(/\p{Ll}/gu)?.length ?? 0;
  return upper > 8 && upper > lower;
}

function tokensOf(sentence: string): Token[] {
  const tokens: Token[] = [];
  for (const match of sentence.matchAll(/[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|['’&.+-](?=[\p{L}\p{N}]))*/gu)) {
    const ending = /['’](?:s|m|re|ve|ll|d)$/i.exec(match[0]);
    const word = ending ? match[0].slice(0, ending.index) : match[0];
    tokens.push({ word, start: match.index, end: match.index + word.length, hasEnding: ending !== null });
  }
  return tokens;
}
