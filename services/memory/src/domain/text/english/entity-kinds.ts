import { wordClass } from "./lexicon.ts";
import type { NameRun } from "./name-runs.ts";
import {
  ambiguousNames,
  eventWords,
  feasts,
  motion,
  organizationBefore,
  organizationWords,
  personAfter,
  personBefore,
  petBefore,
  placeLeads,
  placeWords,
  titles,
} from "./name-words.ts";

/** The entity kind of a name: what its own words say, then word lists, then the words around it, else OTHER. */
export function kindOfName(run: NameRun, sentence: string): string {
  return kindByWords(run) ?? kindByLists(run) ?? kindByContext(run, sentence) ?? kindByShape(run);
}

function kindByWords({ name, words, before }: NameRun): string | undefined {
  const first = words[0]!.toLowerCase();
  // "Museum of Modern Art" is a museum, "Grand Canyon" a canyon.
  const head = words[1] === "of" ? first : words.at(-1)!.toLowerCase();
  if (titles.has(before.replace(/\.$/, ""))) return "PERSON";
  if (feasts.has(first)) return "EVENT";
  if (words.length === 1) return undefined;
  if (eventWords.has(head)) return "EVENT";
  if (organizationWords.has(head) || name.includes(" & ")) return "ORGANIZATION";
  return placeWords.has(head) || placeLeads.has(first) ? "LOCATION" : undefined;
}

function kindByLists({ name, words }: NameRun): string | undefined {
  switch (wordClass(name)) {
    case "place":
      return "LOCATION";
    case "organization":
      return "ORGANIZATION";
    case "demonym":
      return "CONCEPT";
    case "person":
      return "PERSON";
    default:
  }
  if (words.length === 1) {
    if (ambiguousNames.has(name.toLowerCase())) return "PERSON";
    return /^\p{Lu}\p{Ll}{2,}(?:ish|ese|ian|ean)$/u.test(name) ? "CONCEPT" : undefined;
  }
  const first = wordClass(words[0]!);
  if ((first === "person" || isInitials(words[0]!)) && words.length <= 4 && !words.includes("of")) return "PERSON";
  return first === "place" && words.every((word) => wordClass(word) === "place") ? "LOCATION" : undefined;
}

function kindByContext(run: NameRun, sentence: string): string | undefined {
  const { before, beforeThat, after, words } = run;
  if (words.length > 3 || /\d|^\p{Lu}{3,}$/u.test(run.name)) return undefined;
  if (before === "of" && /^(?:office|offices|branch|headquarters|staff|employees|founder|ceo|cto|director)$/.test(beforeThat))
    return "ORGANIZATION";
  if (petBefore.has(before)) return "OTHER";
  if (personBefore.has(before) || personAfter.has(after) || isAddressed(run, sentence)) return "PERSON";
  if (
    organizationBefore.has(before) ||
    before === "at" ||
    /^(?:work|works|worked|working|job|intern|interning)$/.test(beforeThat)
  ) {
    return "ORGANIZATION";
  }
  if (before === "in" || before === "near" || before === "visiting" || before === "visited") return "LOCATION";
  return (before === "to" || before === "from") && motion.has(beforeThat) ? "LOCATION" : undefined;
}

function kindByShape({ name, words }: NameRun): string {
  if (/\d/.test(name)) return "PRODUCT";
  if (words.length === 1) return /^\p{Lu}{2,}$/u.test(name) ? "CONCEPT" : wordClass(name) === "surname" ? "PERSON" : "OTHER";
  const areNames = words.every(
    (word) => ["unknown", "person", "surname"].includes(wordClass(word)) && /^\p{Lu}[\p{Ll}.'’-]*/u.test(word),
  );
  return areNames && words.length <= 3 ? "PERSON" : "OTHER";
}

function isInitials(word: string): boolean {
  return /^(?:\p{Lu}\.)*\p{Lu}$/u.test(word);
}

/** "Hey Zora!", "Thanks, Zora.": set off by a comma or greeting and closed by a mark. */
function isAddressed({ start, end, words, name }: NameRun, sentence: string): boolean {
  if (words.length > 1 || /^\p{Lu}{2,}$/u.test(name)) return false;
  const head = sentence.slice(0, start);
  return (
    /^(?:hey|hi|hello|thanks|thank you|wow|yeah|congrats|bye|dear)[,!]? $/i.test(head) ||
    (/^[^,]{1,40}, $/.test(head) && /^[!?.]*$/.test(sentence.slice(end)))
  );
}
