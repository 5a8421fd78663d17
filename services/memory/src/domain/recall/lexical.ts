import { passageFlags } from "./passage-table.ts";
import type { Posting } from "./postings.ts";
import type { RecallQuery } from "./query.ts";
import type { RecallIndexView } from "./recall-index-view.ts";

/**
 * Word scores of every passage for one question, by passage slot: BM25 over four fields and adjacent pairs, each divided by
 * its maximum over the admitted passages (0..1 for those). Lists of whole banks, so only for the length of one synchronous ranking.
 */
export interface LexicalScores {
  /** The passage with its author, day and entity names, for all terms of the question. */
  readonly turn: Float64Array;
  /** Topic terms only; the passage before gets this as the score of what it asks. */
  readonly previousQuestion: Float64Array;
  /** The passage with its neighbours, as one text. */
  readonly window: Float64Array;
  /** By session slot. */
  readonly session: Float64Array;
  readonly phrase: Float64Array;
  /** Share of the question's topic, weighted by rarity, that the passage's context line holds; by context id. */
  readonly context: Float64Array;
  /** Rarity of each topic term that the bank knows, by term id. */
  readonly topicRarity: ReadonlyMap<number, number>;
}

/** Saturation and length correction of BM25; anything near these values ranks the same once windows are scored too. */
const K1 = 1.2;
const B = 0.75;
/** A question of more terms is a pasted text: its rarest terms say what it is about, and the work stays bounded. */
const TERMS_MAX = 32;

export function scoreWords(view: RecallIndexView, query: RecallQuery, admitted: Uint8Array): LexicalScores {
  const { passages, postings, totals, sessions } = view;
  const slots = passages.slotCount;
  const scores = {
    turn: new Float64Array(slots),
    previousQuestion: new Float64Array(slots),
    window: new Float64Array(slots),
    session: new Float64Array(sessions.length),
    phrase: new Float64Array(slots),
    context: scoreContexts(view, query),
    topicRarity: new Map<number, number>(),
  };
  const live = Math.max(1, passages.liveCount);
  const turnNorm = norms(passages.turnTerms, slots, totals.turnTerms / live);
  const windowNorm = norms(passages.windowTerms, slots, totals.windowTerms / live);
  const sessionNorm = norms(
    sessions.map((session) => session?.textTerms ?? 0),
    sessions.length,
    totals.textTerms / Math.max(1, totals.sessions),
  );
  const topicScore = new Float64Array(slots);
  const tally = createTally(Math.max(slots, sessions.length));

  for (const [term, posting] of rarestTerms(view, query)) {
    for (let i = 0; i < posting.passages.length; i++)
      tally.add(posting.passages[i]!, posting.textCounts[i]! + posting.fieldCounts[i]!);
    const isTopic = query.topicTerms.has(term);
    const rarity = inverseFrequency(tally.size, live);
    if (isTopic) scores.topicRarity.set(postings.idOf(term)!, rarity);
    tally.drain((passage, count) => {
      const gain = rarity * saturated(count, turnNorm[passage]!);
      scores.turn[passage]! += gain;
      if (isTopic) topicScore[passage]! += gain;
    });
    if (!isTopic) continue;
    spreadOverWindows(view, posting, tally.add);
    const windowRarity = inverseFrequency(tally.size, live);
    tally.drain((passage, count) => {
      scores.window[passage]! += windowRarity * saturated(count, windowNorm[passage]!);
    });
    for (let i = 0; i < posting.passages.length; i++) {
      if (posting.textCounts[i]! > 0) tally.add(passages.session[posting.passages[i]!]!, posting.textCounts[i]!);
    }
    const sessionRarity = inverseFrequency(tally.size, totals.sessions);
    tally.drain((session, count) => {
      scores.session[session]! += sessionRarity * saturated(count, sessionNorm[session]!);
    });
  }
  scorePhrases(view, query, scores.phrase, tally);
  for (let passage = 0; passage < slots; passage++) {
    const previous = passages.units[passage]!.length === 0 ? -1 : passages.previous[passage]!;
    if (previous >= 0 && (passages.flags[previous]! & passageFlags.containsQuestion) !== 0) {
      scores.previousQuestion[passage] = topicScore[previous]!;
    }
  }
  for (const field of [scores.turn, scores.previousQuestion, scores.window, scores.phrase]) divideByMaximum(field, admitted);
  divideByMaximum(scores.session, new Uint8Array(sessions.length).fill(1));
  return scores;
}

function inverseFrequency(holders: number, all: number): number {
  return Math.log(1 + (all - holders + 0.5) / (holders + 0.5));
}

function saturated(count: number, norm: number): number {
  return (count * (K1 + 1)) / (count + norm);
}

function norms(lengths: ArrayLike<number>, count: number, average: number): Float64Array {
  const result = new Float64Array(count);
  const slope = average > 0 ? (K1 * B) / average : 0;
  for (let i = 0; i < count; i++) result[i] = K1 * (1 - B) + slope * lengths[i]!;
  return result;
}

/** The question's terms that the bank knows, each with its list; when there are too many, those with the shortest lists. */
function rarestTerms(view: RecallIndexView, query: RecallQuery): (readonly [string, Posting])[] {
  const known = query.terms.flatMap((term) => {
    const termId = view.postings.idOf(term);
    return termId === undefined ? [] : [[term, view.postings.get(termId)] as const];
  });
  if (known.length <= TERMS_MAX) return known;
  return known.sort((a, b) => a[1].passages.length - b[1].passages.length).slice(0, TERMS_MAX);
}

/** Counts per slot, dense for speed; `drain` visits the slots that got any and empties them. */
interface Tally {
  add(slot: number, count: number): void;
  drain(visit: (slot: number, count: number) => void): void;
  readonly size: number;
}

function createTally(slots: number): Tally {
  const counts = new Int32Array(slots);
  const touched = new Int32Array(slots);
  let size = 0;
  return {
    add(slot, count) {
      if (counts[slot] === 0) touched[size++] = slot;
      counts[slot]! += count;
    },
    drain(visit) {
      for (let i = 0; i < size; i++) {
        const slot = touched[i]!;
        visit(slot, counts[slot]!);
        counts[slot] = 0;
      }
      size = 0;
    },
    get size() {
      return size;
    },
  };
}

/** Adds each occurrence to the passage and to every neighbour whose window holds the passage. */
function spreadOverWindows(view: RecallIndexView, posting: Posting, add: Tally["add"]): void {
  const { previous, next, reach } = view.passages;
  for (let i = 0; i < posting.passages.length; i++) {
    const count = posting.textCounts[i]!;
    if (count === 0) continue;
    const centre = posting.passages[i]!;
    add(centre, count);
    for (let near = previous[centre]!, distance = 1; near >= 0 && distance <= REACH_MAX; near = previous[near]!, distance++) {
      if (reach[near]! >= distance) add(near, count);
    }
    for (let near = next[centre]!, distance = 1; near >= 0 && distance <= REACH_MAX; near = next[near]!, distance++) {
      if (reach[near]! >= distance) add(near, count);
    }
  }
}

/** No passage reaches further (see the reaches in recall-index.ts). */
const REACH_MAX = 4;

/** BM25 on adjacent pairs. Pairs are not indexed: few passages hold both terms, and those are read word by word. */
function scorePhrases(view: RecallIndexView, query: RecallQuery, into: Float64Array, tally: Tally): void {
  const { passages, postings, totals } = view;
  const live = Math.max(1, passages.liveCount);
  const pairNorm = norms(passages.pairs, passages.slotCount, totals.pairs / live);
  for (const [left, right] of query.pairs.slice(0, TERMS_MAX)) {
    const leftId = postings.idOf(left);
    const rightId = postings.idOf(right);
    if (leftId === undefined || rightId === undefined) continue;
    const leftList = postings.get(leftId);
    const rightList = postings.get(rightId);
    const shorter = leftList.passages.length <= rightList.passages.length ? leftList : rightList;
    for (const passage of shorter.passages) {
      for (const unit of passages.units[passage]!) {
        const terms = view.unitTerms[unit]!;
        for (let at = 1; at < terms.length; at++) {
          if (terms[at] === rightId && terms[at - 1] === leftId) tally.add(passage, 1);
        }
      }
    }
    const rarity = inverseFrequency(tally.size, live);
    tally.drain((passage, count) => {
      into[passage]! += rarity * saturated(count, pairNorm[passage]!);
    });
  }
}

/** A rare match must not look like a full one, so a context gets its share of the question, not of the best context. */
function scoreContexts({ contexts, passages }: RecallIndexView, query: RecallQuery): Float64Array {
  const shares = new Float64Array(contexts.lines.idCount);
  let whole = 0;
  for (const term of query.topicTerms) {
    const holding = [...contexts.holding(term)];
    const holders = holding.reduce((sum, id) => sum + contexts.lines.usesOf(id), 0);
    const rarity = inverseFrequency(holders, passages.liveCount);
    whole += rarity;
    for (const id of holding) shares[id]! += rarity;
  }
  if (whole > 0) for (let id = 0; id < shares.length; id++) shares[id]! /= whole;
  return shares;
}

function divideByMaximum(scores: Float64Array, admitted: Uint8Array): void {
  let maximum = 0;
  for (let slot = 0; slot < scores.length; slot++) {
    if (scores[slot]! > maximum && admitted[slot] === 1) maximum = scores[slot]!;
  }
  if (maximum === 0) return;
  const scale = 1 / maximum;
  for (let slot = 0; slot < scores.length; slot++) scores[slot]! *= scale;
}
