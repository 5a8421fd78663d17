import type { EntityMention } from "../fact.ts";
import { foldText } from "./analyzer.ts";
import { kindOfName } from "./english/entity-kinds.ts";
import { functionWords } from "./english/function-words.ts";
import { nameRuns } from "./english/name-runs.ts";

/** What is known before a sentence is read. All names folded by `foldText`. */
export interface EntityHints {
  /** Speakers and participants; always PERSON. */
  readonly people: ReadonlySet<string>;
  /** Names found earlier in the same item: they count even where a capital alone would not show it. */
  readonly names: ReadonlySet<string>;
}

export interface FoundEntity extends EntityMention {
  /** Where the name starts in the sentence. */
  readonly start: number;
  /** Somebody of the hints, also by a short form of the name. */
  readonly isParticipant: boolean;
}

/** Names longer than this are passages in quotes or headings. */
const NAME_CHARS_MAX = 80;

/**
 * The named things of one sentence in order, each once. Found by capitals, word lists and the words around, so scripts
 * without capitals give none; a name in quotes is a title (PRODUCT).
 */
export function findEntities(sentence: string, hints: EntityHints): FoundEntity[] {
  const found: FoundEntity[] = [];
  const seen = new Set<string>();
  const add = (name: string, kind: string, start: number, isParticipant: boolean): void => {
    const clean = name.replace(/\s+/g, " ").trim();
    const folded = foldText(clean);
    if (clean.length > NAME_CHARS_MAX || seen.has(folded)) return;
    seen.add(folded);
    found.push({ name: clean, kind, start, isParticipant });
  };
  const titles = quotedTitles(sentence);
  for (const { name, start } of titles) add(name, "PRODUCT", start, false);
  const isKnown = (name: string): boolean => hints.people.has(foldText(name)) || hints.names.has(foldText(name));
  for (const run of nameRuns(sentence, isKnown)) {
    if (titles.some((title) => run.start >= title.start && run.start < title.start + title.name.length)) continue;
    const isPerson = hints.people.has(foldText(run.name)) || isShortFor(run.name, hints.people);
    add(run.name, isPerson ? "PERSON" : kindOfName(run, sentence), run.start, isPerson);
  }
  return found.sort((a, b) => a.start - b.start);
}

/** Titles of books, films, songs: quoted, beginning with a capital, at most eight words, no sentence of speech. */
function quotedTitles(sentence: string): { name: string; start: number }[] {
  const titles: { name: string; start: number }[] = [];
  if (/^\s*[{[]/.test(sentence)) return titles; // quotes of JSON
  for (const match of sentence.matchAll(/["“«]([^"“”«»]{2,80}?)[,.]?["”»]/gu)) {
    const name = match[1]!;
    const words = name.split(/\s+/);
    const capitals = words.filter((word) => /^[\p{Lu}\p{N}]/u.test(word)).length;
    const isTitle = /^[\p{Lu}\p{N}]/u.test(name) && words.length <= 8 && capitals * 2 >= words.length && !/[!?]$/.test(name);
    if (isTitle && !/^I\b/.test(name) && !(words.length === 1 && functionWords.has(name.toLowerCase())))
      titles.push({ name, start: match.index + 1 });
  }
  return titles;
}

/** Shortest form by which a known person is called ("Mel" of Melanie). */
const SHORT_NAME_CHARS_MIN = 2;

function isShortFor(name: string, people: ReadonlySet<string>): boolean {
  const folded = foldText(name);
  if (folded.length < SHORT_NAME_CHARS_MIN || folded.includes(" ")) return false;
  for (const person of people) if (person.startsWith(folded)) return true;
  return false;
}
