import type { Interval } from "../fact.ts";
import { analyze } from "../text/analyzer.ts";
import { askedRole, toFirstPerson } from "./english-first-person.ts";
import { type QuestionAims, readAims } from "./english-questions.ts";
import type { People } from "./people.ts";
import { readQuestionTime } from "./question-time.ts";
import type { RecallIndexView } from "./recall-index-view.ts";

/** What ranking needs to know of a question. Holds no index slots, so it outlives changes of the bank. */
export interface RecallQuery {
  readonly text: string;
  /** What to embed: in the first person when the question names one author of the bank. */
  readonly embeddingText: string;
  /** All index terms, distinct, in order. */
  readonly terms: readonly string[];
  /** The terms that say what it is about: without names of authors and without dates. All terms when nothing else is left. */
  readonly topicTerms: ReadonlySet<string>;
  /** Adjacent terms. */
  readonly pairs: readonly (readonly [string, string])[];
  /** Folded full names of the one person (or namesakes) that the question is about; empty when it names none or several. */
  readonly people: readonly string[];
  readonly aims: QuestionAims;
  /** The time it asks about: any of these; empty when it names none. */
  readonly intervals: readonly Interval[];
}

/**
 * `referenceUs` is what "last week" is relative to. `window` is the caller's own time window and replaces dates read
 * from the text.
 */
export function understandQuery(text: string, referenceUs: number, view: RecallIndexView, window?: Interval): RecallQuery {
  const time = readQuestionTime(text, referenceUs, view);
  const about = readPeople(text, view.people);
  const terms = analyze(text);
  const aside = new Set([...about.authorsWritten.flatMap(analyze), ...analyze(time?.written ?? "")]);
  const topic = terms.filter((term) => !aside.has(term));
  return {
    text,
    embeddingText: about.keys.length > 0 ? toFirstPerson(text, about.authorsWritten) : text,
    terms: [...new Set(terms)],
    topicTerms: new Set(topic.length > 0 ? topic : terms),
    pairs: terms.slice(1).map((term, i) => [terms[i]!, term] as const),
    people: about.keys,
    aims: readAims(text, time !== undefined),
    intervals: window !== undefined ? [window] : (time?.intervals ?? []),
  };
}

interface AskedPeople {
  readonly keys: readonly string[];
  /** Names of authors as the question writes them. Their passages do not repeat them; those about somebody else do. */
  readonly authorsWritten: readonly string[];
}

/** Authors come before people who are only talked about, and a named person before "I" and "you". */
function readPeople(text: string, people: People): AskedPeople {
  const named = people.findNamed(text);
  if (named.length === 0) {
    const role = askedRole(text);
    return { keys: role !== undefined && people.isAuthor(role) ? [role] : [], authorsWritten: [] };
  }
  const authors = named.filter((mention) => mention.isAuthor);
  const asked = authors.length > 0 ? authors : named;
  const isOne = asked.every((mention) => mention.keys.join("\n") === asked[0]!.keys.join("\n"));
  return { keys: isOne ? asked[0]!.keys : [], authorsWritten: authors.map((mention) => mention.written) };
}
