import { analyze, foldText } from "../../text/analyzer.ts";
import { asksSomething } from "../../text/english/fact-words.ts";
import type { Statement } from "../consolidator.ts";
import { type Claim, claimsOf } from "./english-claims.ts";

/** A fact as the rules compare it. */
export interface Reading {
  readonly claims: readonly Claim[];
  /** Index terms of what is said, without who says it, filler words, and the time. */
  readonly terms: ReadonlySet<string>;
  readonly isNegated: boolean;
  /** When it began to hold, as far as it tells: a dated move or change, else when it was said. */
  readonly sinceUs: number;
}

const readings = new WeakMap<Statement, Reading>();

/** What a fact says. Remembered as long as the record is. */
export function readStatement(statement: Statement): Reading {
  let reading = readings.get(statement);
  if (reading === undefined) {
    reading = read(statement);
    readings.set(statement, reading);
  }
  return reading;
}

/** Who "I" is where the source names nobody. */
const unnamed = "user";

function read({ text, author, occurredStartUs, mentionedAtUs, createdAtUs, type }: Statement): Reading {
  const label = author === undefined ? "" : `${author}:`;
  const sentence = label !== "" && text.startsWith(label) ? text.slice(label.length).trim() : text;
  const speaker = author === undefined ? unnamed : foldText(author);
  const claims =
    asksSomething(sentence) || (type === "fact" && sentence.length > longestRead)
      ? []
      : claimsOf(sentence.slice(0, longestRead), speaker);
  const saidUs = mentionedAtUs ?? createdAtUs;
  const isChange = /\b(?:moved|relocated|joined|started|switched|became|left|quit|stopped|changed|married|divorced)\b/i.test(
    sentence,
  );
  const who = new Set(analyze(speaker));
  return {
    claims,
    terms: new Set(
      analyze(sentence)
        .map((term) => sameAs.get(term) ?? term)
        .filter((term) => !filler.has(term) && !who.has(term)),
    ),
    isNegated: (sentence.match(negation)?.length ?? 0) % 2 === 1,
    sinceUs: isChange && occurredStartUs !== undefined && occurredStartUs < saidUs - lookBackUs ? occurredStartUs : saidUs,
  };
}

/** Somebody who tells of a change within a year reports news; "moved in 2010" is history and ends nothing told since. */
const lookBackUs = 400 * 86_400_000_000;
/** Longer texts are chunks, not statements; their head is read. */
const longestRead = 600;
const negation = /\b(?:not|no|never|none|nobody|nothing|without|cannot|no longer|stopped|quit|hardly)\b|n['’]t\b/giu;
const filler: ReadonlySet<string> = new Set(
  [
    "real",
    "actual",
    "still",
    "alway",
    "definit",
    "absolut",
    "current",
    "now",
    "today",
    "again",
    "lot",
    "much",
    "truli",
    "total",
    "realli",
    "actualli",
    "user",
    "fan",
    "huge",
    "big",
    "well",
    "yes",
    "yeah",
    "oh",
    "by",
    "way",
  ].flatMap((word) => [word, ...analyze(word)]),
);
const sameAs: ReadonlyMap<string, string> = new Map(
  (
    [
      ["like", "love enjoy adore into"],
      ["live", "reside based"],
      ["begin", "start"],
      ["favorite", "favourite"],
      ["run", "manages leads heads"],
      ["buy", "purchase purchased"],
      ["job", "position role"],
      ["hate", "dislike detest loathe"],
      ["child", "kid"],
      ["movie", "film"],
      ["big", "large"],
      ["car", "automobile"],
    ] as const
  ).flatMap(([base, others]) => others.split(" ").map((word) => [analyze(word)[0] ?? word, analyze(base)[0] ?? base] as const)),
);
