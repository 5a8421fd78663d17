import { createRequire } from "node:module";

type CountTokens = (text: string, options: { disallowedSpecial: ReadonlySet<string> }) => number;

const require = createRequire(import.meta.url);
let countOrdinary: CountTokens | undefined;

/** Text that spells a control token ("<|endoftext|>") is text like any other. */
const ALL_ORDINARY = { disallowedSpecial: new Set<string>() };
/**
 * Letters, symbols or white space in one run, beyond which the run is counted in parts. The encoder's merging takes time
 * by the square of a run (100 000 letters: most of a minute); real words and sentences stay below.
 */
const RUN_CHARS_MAX = 256;
/** Runs longer than that. The look-behind makes each one match from its beginning only, which keeps the search linear. */
const LONG_RUN = new RegExp(
  ["\\p{L}", "[^\\s\\p{L}\\p{N}]", "\\s"].map((kind) => `(?<!${kind})${kind}{${RUN_CHARS_MAX + 1},}`).join("|"),
  "gu",
);

/**
 * Tokens of the text in the cl100k_base encoding. Exact, but for unbroken runs of more than 256 letters, symbols or white
 * space, where each further 256 may count one token too many. The encoding (1 MB, about 0.1 s) is loaded by the first call.
 */
export function countTokens(text: string): number {
  countOrdinary ??= (require("gpt-tokenizer/encoding/cl100k_base") as { countTokens: CountTokens }).countTokens;
  let tokens = 0;
  let counted = 0;
  if (text.length > RUN_CHARS_MAX) {
    for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
      tokens += countOrdinary(text.slice(counted, index), ALL_ORDINARY);
      for (const part of partsOf(run)) tokens += countOrdinary(part, ALL_ORDINARY);
      counted = index + run.length;
    }
  }
  return tokens + countOrdinary(counted === 0 ? text : text.slice(counted), ALL_ORDINARY);
}

/** The longest beginning of the text, up to a few tokens, that has at most `tokensMax` of them. */
export function cutToTokens(text: string, tokensMax: number): string {
  let cut = text;
  // The part to keep is estimated by the mean length of its tokens; a few rounds suffice, as each one comes closer.
  for (let tokens = countTokens(cut); tokens > tokensMax; tokens = countTokens(cut)) {
    const length = Math.min(cut.length - 1, Math.floor((cut.length * tokensMax) / tokens));
    cut = wholeCharacters(cut, length);
  }
  return cut;
}

function* partsOf(run: string): Generator<string> {
  for (let start = 0; start < run.length; ) {
    const part = wholeCharacters(run.slice(start), RUN_CHARS_MAX);
    yield part;
    start += part.length;
  }
}

/** The first `length` UTF-16 units, or one less where that would part a pair. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
