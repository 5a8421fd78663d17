import { functionWords } from "./english/function-words.ts";
import { stemEnglish } from "./english/stem.ts";

export interface AnalyzedWord {
  /** As written, compatibility forms folded and diacritics off; its case is kept. */
  readonly raw: string;
  /** What is indexed: lower case, stemmed. */
  readonly token: string;
  /** A function word; `analyze` leaves it out. */
  readonly isStop: boolean;
}

/**
 * The index terms of a text in order, function words left out. Writer, keyword search, list filter and ranking must all
 * use this one analysis, or a stored word is not found by itself.
 */
export function analyze(text: string): string[] {
  const tokens: string[] = [];
  forEachWord(text, (word) => {
    const term = termOf(word);
    if (!term.isStop) tokens.push(term.token);
  });
  return tokens;
}

/** Every word in order, function words included and marked, for callers that need neighbours or the case as written. */
export function analyzeWords(text: string): AnalyzedWord[] {
  const words: AnalyzedWord[] = [];
  forEachWord(text, (raw) => words.push({ raw, ...termOf(raw) }));
  return words;
}

/** Key for case-insensitive equality of names: white space folded, full case folding ("Straße" = "STRASSE"), accents kept. */
export function foldText(text: string): string {
  return text.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase().toUpperCase().toLowerCase();
}

/** Longer runs are data (base64, hashes), not words; their head is enough to find them again. */
const WORD_CHARS_MAX = 64;
/** About 5 MB at the worst; a large vocabulary has far fewer living words than this. */
const CACHED_TERMS_MAX = 50_000;

interface Term {
  readonly token: string;
  readonly isStop: boolean;
}

const terms = new Map<string, Term>();

function termOf(raw: string): Term {
  const cached = terms.get(raw);
  if (cached !== undefined) return cached;
  const word = raw.toLowerCase();
  const term = { token: /^[a-z]+$/.test(word) ? stemEnglish(word) : word, isStop: functionWords.has(word) };
  // A full cache starts over: cheaper than tracking use, and a burst of rare words cannot pin memory.
  if (terms.size >= CACHED_TERMS_MAX) terms.clear();
  terms.set(raw, term);
  return term;
}

const asciiOnly = /^[\0-\x7f]*$/;
const asciiWord = /[A-Za-z0-9]+(?:'[A-Za-z]+)*/g;
const anyWord = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:'\p{L}[\p{L}\p{M}]*)*/gu;
/** Scripts that write no space between words. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter("und", { granularity: "word" });

function forEachWord(text: string, visit: (raw: string) => void): void {
  if (asciiOnly.test(text)) {
    for (const [run] of text.matchAll(asciiWord)) forEachPart(run, visit);
    return;
  }
  for (const [run] of foldMarks(text).matchAll(anyWord)) {
    if (!spaceless.test(run)) {
      forEachPart(run, visit);
      continue;
    }
    for (const { segment, isWordLike } of segmenter.segment(run)) {
      if (isWordLike === true) visit(segment.slice(0, WORD_CHARS_MAX));
    }
  }
}

/** Splits at apostrophes; grammar endings ("'s", "'ll") go, and what is left of a negation ("don't") is the word "not". */
function forEachPart(run: string, visit: (raw: string) => void): void {
  if (!run.includes("'")) {
    visit(run.slice(0, WORD_CHARS_MAX));
    return;
  }
  const parts = run.split("'");
  const last = parts[parts.length - 1]!.toLowerCase();
  if (last === "t" && parts[0]!.toLowerCase().endsWith("n")) {
    visit("not");
    return;
  }
  if (contractedEndings.has(last)) parts.pop();
  for (const part of parts) visit(part.slice(0, WORD_CHARS_MAX));
}

const contractedEndings: ReadonlySet<string> = new Set(["s", "m", "d", "ll", "re", "ve"]);

/**
 * Compatibility forms and typographic apostrophes folded, accents, Hebrew points and Arabic vowel marks off. Recomposed at
 * the end, because Hangul, kana and Thai need the marks that stay.
 */
function foldMarks(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]/g, "")
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .normalize("NFC");
}
