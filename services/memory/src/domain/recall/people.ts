import { analyzeWords, foldText } from "../text/analyzer.ts";

/** Who speaks in a bank and whom its facts are about, counted by unit, found by full name, part of the name or short form. */
export interface People {
  /** Counts one more unit for the name and answers the person's slot. */
  retain(name: string, role: PersonRole): number;
  release(person: number, role: PersonRole): void;
  /** The people that a text names. One name that fits several people ("John" of two Johns) counts as one naming of them all. */
  findNamed(text: string): NamedPeople[];
  /** Whether somebody with this folded full name speaks in the bank. */
  isAuthor(key: string): boolean;
  /** Slot of the person with this folded full name. Slots are reused: keep keys, not slots, over time. */
  slotOf(key: string): number | undefined;
  readonly count: number;
}

export type PersonRole = "author" | "subject";

export interface NamedPeople {
  /** Folded full names of everybody the name fits, sorted. */
  readonly keys: readonly string[];
  /** Whether one of them is an author; the others only occur as subjects. */
  readonly isAuthor: boolean;
  /** The words of the name as the text writes them. */
  readonly written: string;
}

interface Person {
  readonly key: string;
  author: number;
  subject: number;
}

/** Longest run of words looked up as one name: enough for "Maria del Carmen Ruiz". */
const NAME_WORDS_MAX = 4;
/** Shorter openings ("Jo", "Al") fit too many names to stand for one. */
const SHORT_FORM_CHARS_MIN = 3;
/** Names in scripts without spaces are sought as substrings, one by one; beyond this many people that would cost too much. */
const SUBSTRING_NAMES_MAX = 500;

export function createPeople(): People {
  const byKey = new Map<string, number>();
  const persons: (Person | undefined)[] = [];
  const freeSlots: number[] = [];
  let aliases: Aliases | undefined;

  function isAuthor(key: string): boolean {
    const slot = byKey.get(key);
    return slot !== undefined && persons[slot]!.author > 0;
  }

  return {
    retain(name, role) {
      const key = foldText(name);
      let slot = byKey.get(key);
      if (slot === undefined) {
        slot = freeSlots.pop() ?? persons.length;
        persons[slot] = { key, author: 0, subject: 0 };
        byKey.set(key, slot);
        aliases = undefined;
      }
      persons[slot]![role]++;
      return slot;
    },
    release(slot, role) {
      const person = persons[slot]!;
      person[role]--;
      if (person.author + person.subject > 0) return;
      byKey.delete(person.key);
      persons[slot] = undefined;
      freeSlots.push(slot);
      aliases = undefined;
    },
    findNamed(text) {
      aliases ??= buildAliases(byKey);
      const named = new Map<string, NamedPeople>();
      for (const { keys, written } of findMentions(text, aliases)) {
        named.set(`${keys.join("\n")}\n${written}`, { keys, isAuthor: keys.some(isAuthor), written });
      }
      return [...named.values()];
    },
    isAuthor,
    slotOf: (key) => byKey.get(key),
    get count() {
      return byKey.size;
    },
  };
}

interface Aliases {
  /** Folded full names and single words of names, each with the sorted keys of those who bear it. */
  readonly byName: ReadonlyMap<string, readonly string[]>;
  /** First words of names, for short forms. */
  readonly firstWords: readonly { readonly word: string; readonly key: string }[];
  /** Names in scripts without spaces. */
  readonly spaceless: readonly string[];
}

const spacelessScript = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

function buildAliases(byKey: ReadonlyMap<string, number>): Aliases {
  const byName = new Map<string, string[]>();
  const firstWords: { word: string; key: string }[] = [];
  const keys = [...byKey.keys()].sort();
  for (const key of keys) {
    const words = wordsOf(key).map((word) => word.folded);
    for (const name of new Set([words.join(" "), ...words.filter((word) => word.length > 1)])) {
      const bearers = byName.get(name);
      if (bearers === undefined) byName.set(name, [key]);
      else bearers.push(key);
    }
    if (words[0] !== undefined) firstWords.push({ word: words[0], key });
  }
  return { byName, firstWords, spaceless: keys.filter((key) => spacelessScript.test(key)).slice(0, SUBSTRING_NAMES_MAX) };
}

interface Mention {
  readonly keys: readonly string[];
  readonly written: string;
}

function findMentions(text: string, aliases: Aliases): Mention[] {
  const words = wordsOf(text);
  const mentions: Mention[] = [];
  for (let at = 0; at < words.length; ) {
    const length = longestName(words, at, aliases.byName);
    if (length > 0) {
      const run = words.slice(at, at + length);
      const keys = aliases.byName.get(run.map((word) => word.folded).join(" "))!;
      mentions.push({ keys, written: run.map((word) => word.raw).join(" ") });
    } else {
      const key = findShortForm(words[at]!, aliases);
      if (key !== undefined) mentions.push({ keys: [key], written: words[at]!.raw });
    }
    at += Math.max(1, length);
  }
  const folded = aliases.spaceless.length === 0 ? "" : foldText(text);
  for (const key of aliases.spaceless) {
    if (folded.includes(key) && !mentions.some(({ keys }) => keys.includes(key))) mentions.push({ keys: [key], written: key });
  }
  return mentions;
}

/** How many words from `at` on make a known name, longest first. A lone function word ("Will") is a name only when its capital is not the sentence's. */
function longestName(words: readonly Word[], at: number, byName: Aliases["byName"]): number {
  for (let length = Math.min(NAME_WORDS_MAX, words.length - at); length > 0; length--) {
    const run = words.slice(at, at + length);
    if (length === 1 && run[0]!.isStop && (at === 0 || !isCapitalised(run[0]!))) continue;
    if (byName.has(run.map((word) => word.folded).join(" "))) return length;
  }
  return 0;
}

/** "Mel" for the only Melanie: a capitalised opening of exactly one person's first name. */
function findShortForm(word: Word, aliases: Aliases): string | undefined {
  if (word.isStop || word.folded.length < SHORT_FORM_CHARS_MIN || !isCapitalised(word)) return undefined;
  const fitting = aliases.firstWords.filter(
    (first) => first.word.length > word.folded.length && first.word.startsWith(word.folded),
  );
  return fitting.length === 1 ? fitting[0]!.key : undefined;
}

interface Word {
  readonly raw: string;
  readonly folded: string;
  readonly isStop: boolean;
}

function wordsOf(text: string): Word[] {
  return analyzeWords(text).map(({ raw, isStop }) => ({ raw, folded: raw.toLowerCase(), isStop }));
}

function isCapitalised(word: Word): boolean {
  return /^\p{Lu}/u.test(word.raw);
}
