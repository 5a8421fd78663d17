import type { EntityMention, ExtractedFact, FactType, Interval } from "../fact.ts";
import { foldText } from "../text/analyzer.ts";
import {
  asksSomething,
  endsWithQuestion,
  isEffect,
  isFirstPerson,
  mentionsTime,
  statesPreference,
} from "../text/english/fact-words.ts";
import { tenseOf } from "../text/english/tense.ts";
import { type FoundEntity, findEntities } from "../text/entities.ts";
import type { Turn } from "../text/speaker.ts";
import { resolveTimeExpressions, type TimeExpression } from "../text/time-expressions.ts";

/** What holds for a whole item. */
export interface ItemSetting {
  /** Folded names of those who take part. */
  readonly people: ReadonlySet<string>;
  readonly timestampUs: number | undefined;
}

export interface ReadSentence extends Omit<ExtractedFact, "chunkIndex" | "passageIndex" | "sentenceIndex" | "causedBy"> {
  /** It states a consequence of the sentence before. */
  readonly isEffect: boolean;
}

/** A reader for the sentences of one item, in order: a name found once is known in the sentences after it. */
export function createSentenceReader({ people, timestampUs }: ItemSetting): (sentence: string, turn: Turn) => ReadSentence {
  const names = new Set<string>();
  return (sentence, turn) => {
    const found = findEntities(sentence, { people, names });
    for (const { name } of found) names.add(foldText(name));
    const times = timesOf(sentence, timestampUs);
    const type = typeOf(sentence, turn, times);
    const occurred = type === "preference" || asksSomething(sentence) ? undefined : narrowest(times);
    const author = turn.speaker;
    const subject = subjectOf(sentence, found, author);
    const topics = found.filter(({ isParticipant }) => !isParticipant);
    return {
      text: author === undefined ? sentence : `${author}: ${sentence}`,
      type,
      ...(author !== undefined && { author }),
      ...(subject !== undefined && { subject }),
      entities: withSpeaker(found, sentence, turn),
      ...(occurred && { occurredStartUs: occurred.interval.startUs, occurredEndUs: occurred.interval.endUs }),
      intervals: times.map(({ interval }) => interval),
      flags: {
        endsWithQuestion: endsWithQuestion(sentence),
        containsQuestion: asksSomething(sentence),
        hasTimeExpression: times.length > 0 || mentionsTime(sentence),
        hasPlace: found.some(({ kind }) => kind === "LOCATION"),
        nameCount: Math.min(
          2,
          topics.filter(({ kind }) => kind !== "PRODUCT").length + (topics.some(({ kind }) => kind === "PRODUCT") ? 1 : 0),
        ),
      },
      embeddedText: embeddedText(sentence, occurred?.interval),
      isEffect: isEffect(sentence),
    };
  };
}

/**
 * Stands for the unknown time of an item, so that only the rules that do not use it can be kept: 2010 makes every year from
 * 1890 to 2030 a plausible one.
 */
const NEUTRAL_REFERENCE_US = Date.UTC(2010, 0, 1) * 1000;

function timesOf(sentence: string, timestampUs: number | undefined): TimeExpression[] {
  if (timestampUs !== undefined) return resolveTimeExpressions(sentence, timestampUs);
  return resolveTimeExpressions(sentence, NEUTRAL_REFERENCE_US).filter((time) => time.kind === "date" && !time.yearIsImplied);
}

/** Of several times in a sentence the narrowest dates its event. */
function narrowest(times: readonly TimeExpression[]): TimeExpression | undefined {
  const width = ({ interval }: TimeExpression): number => interval.endUs - interval.startUs;
  return times.toSorted((a, b) => width(a) - width(b))[0];
}

/** "I loved the concert last night" tells an event, though it holds a liking. */
function typeOf(sentence: string, turn: Turn, times: readonly TimeExpression[]): FactType {
  if (turn.speakerKind === "agent") return "experience";
  const isEvent = times.length > 0 && tenseOf(sentence) === "past";
  return statesPreference(sentence) && !asksSomething(sentence) && !isEvent ? "preference" : "world";
}

/** First person makes the speaker an entity of the fact; an agent or an unnamed narrator has no name to go by. */
function withSpeaker(found: readonly FoundEntity[], sentence: string, turn: Turn): EntityMention[] {
  const entities = found.map(({ name, kind }) => ({ name, kind }));
  if (turn.speaker === undefined || turn.speakerKind !== "person" || !isFirstPerson(sentence)) return entities;
  const speaker = foldText(turn.speaker);
  return entities.some(({ name }) => foldText(name) === speaker)
    ? entities
    : [{ name: turn.speaker, kind: "PERSON" }, ...entities];
}

/** "Maria runs ..." is about Maria; "Maria, look!" only addresses her. */
function subjectOf(sentence: string, found: readonly FoundEntity[], author: string | undefined): string | undefined {
  const first = found[0];
  if (first === undefined || first.kind !== "PERSON" || first.start !== 0) return undefined;
  if (!/^(?:['’]s)? (?!(?:and|or|but|with)\b)\p{Ll}/u.test(sentence.slice(first.name.length))) return undefined;
  return author !== undefined && foldText(author) === foldText(first.name) ? undefined : first.name;
}

/**
 * The sentence as the encoder ranks it best: without the speaker's label and without entity names added, since queries are
 * rewritten into the first person instead; a bracketed note by its content; an event with its date in words.
 */
function embeddedText(sentence: string, occurred: Interval | undefined): string {
  const words = /^\[[^:\]]{1,40}: (.{3,})\]$/s.exec(sentence)?.[1] ?? sentence;
  return occurred ? `${words} (happened ${datePhrase(occurred)})` : words;
}

const monthNames = "January February March April May June July August September October November December".split(" ");

/** "in May 2023", "in 2019" or "from May 2023 to July 2023". */
export function datePhrase({ startUs, endUs }: Interval): string {
  const start = new Date(startUs / 1000);
  const end = new Date(Math.floor(endUs / 1000));
  const month = (date: Date): string => `${monthNames[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  if (month(start) === month(end)) return `in ${month(start)}`;
  const isWholeYear = start.getUTCFullYear() === end.getUTCFullYear() && start.getUTCMonth() === 0 && end.getUTCMonth() === 11;
  return isWholeYear ? `in ${start.getUTCFullYear()}` : `from ${month(start)} to ${month(end)}`;
}
