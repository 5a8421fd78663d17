import { createRequire } from "node:module";

/** What a word list knows of a word or phrase. `common` is any word that is no name, `unknown` is in no list. */
export type WordClass = "person" | "surname" | "place" | "organization" | "demonym" | "proper" | "common" | "unknown";

/**
 * Looks a word or phrase up, ignoring case. Only the word lists of the language library are used: its tagger reads 1 200
 * sentences a second, its lists answer in well under a microsecond and hold more names than we would write by hand.
 */
export function wordClass(phrase: string): WordClass {
  const tags = tagsOf(phrase.toLowerCase());
  if (tags.length === 0) return "unknown";
  for (const name of tags) {
    const known = classOfTag.get(name);
    if (known !== undefined) return known;
  }
  return "common";
}

/** True for verb forms that follow a subject of the third person ("runs", "was", "moved"). */
export function isFiniteVerb(word: string): boolean {
  const lower = word.toLowerCase();
  return tagsOf(lower).some((tag) => finiteTags.has(tag)) || /^(?:works|lives|plays|moves|plans|reports|ships|uses)$/.test(lower);
}

/** Loads the word lists (about 300 ms, 23 MB), which otherwise happens with the first name that is looked up. */
export function loadLexicon(): void {
  lexicon();
}

type Lexicon = Readonly<Record<string, string | readonly string[] | undefined>>;

const classOfTag: ReadonlyMap<string, WordClass> = new Map([
  ["FirstName", "person"],
  ["MaleName", "person"],
  ["FemaleName", "person"],
  ["Person", "person"],
  ["LastName", "surname"],
  ["City", "place"],
  ["Country", "place"],
  ["Region", "place"],
  ["Organization", "organization"],
  ["SportsTeam", "organization"],
  ["Demonym", "demonym"],
  ["ProperNoun", "proper"],
]);

const finiteTags: ReadonlySet<string> = new Set(["PresentTense", "PastTense", "Copula", "Modal"]);

function tagsOf(lower: string): readonly string[] {
  const tag = lexicon()[lower];
  if (tag === undefined) return [];
  return typeof tag === "string" ? [tag] : tag;
}

const require = createRequire(import.meta.url);
let loaded: Lexicon | undefined;

function lexicon(): Lexicon {
  if (loaded === undefined) {
    const language = require("compromise/two") as { model(): { one: { lexicon: Lexicon } } };
    // A prototype-free copy, so that "constructor" is an unknown word.
    loaded = Object.assign(Object.create(null) as Lexicon, language.model().one.lexicon);
  }
  return loaded;
}
