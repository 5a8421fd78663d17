/** Words of grammar, and of asking: they say nothing about what a question is about. */
const emptyWords: ReadonlySet<string> = new Set(
  [
    "a an the this that these those i me my we us our you your he him his she her it its they them their",
    "am is are was were be been being do does did done doing have has had having will would can could should may might must shall",
    "and or but if so than then as of to in on at by for with from into about over under after before during since until",
    "what which who whom whose when where why how there here not no just also too very some any all every each both either",
    "tell know list describe say said tells says explain summarize summarise summary overview please give show find get got",
    "much many more most often ever usually kind kinds type types thing things something anything everything",
  ]
    .join(" ")
    .split(" "),
);

const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** The words of a text that say what it is about, folded and with English endings off, in order. */
export function contentWords(text: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text.normalize("NFKC").replaceAll("\u2019", "'"))) {
    if (isWordLike !== true) continue;
    const word = segment.toLowerCase().replace(/'(s|m|d|ll|re|ve)$/u, "");
    if (!emptyWords.has(word)) words.push(withoutEnding(word));
  }
  return words;
}

/** Words that are names by their case: capitals that do not only begin a sentence, and everything with a digit. */
export function namesIn(text: string): string[] {
  const names: string[] = [];
  let isFirst = true;
  for (const { segment, isWordLike } of segmenter.segment(text.normalize("NFKC").replaceAll("\u2019", "'"))) {
    if (isWordLike !== true) {
      if (/[.!?:\n"]/u.test(segment)) isFirst = true;
      continue;
    }
    const word = segment.replace(/'s$/u, "");
    const isEmpty = emptyWords.has(word.toLowerCase());
    if (!isEmpty && (/\d/u.test(word) || (!isFirst && /^\p{Lu}/u.test(word)))) names.push(withoutEnding(word.toLowerCase()));
    isFirst = false;
  }
  return names;
}

const SHORTEST_STEM = 3;

/** Light on purpose: it only has to make a question and a sentence meet ("hobbies" - "hobby", "moved" - "move" - "moving"). */
function withoutEnding(word: string): string {
  if (!/^[a-z]+$/.test(word)) return word;
  const stem = word
    .replace(/(?:ies|ied)$/, "y")
    .replace(/(?<=[sxz]|ch|sh)es$/, "")
    .replace(/(?<=[^su])s$/, "")
    .replace(/(?:ing|ed)$/, "")
    .replace(/([bdfgmnprt])\1$/, "$1")
    .replace(/e$/, "");
  return stem.length >= SHORTEST_STEM ? stem : word;
}
