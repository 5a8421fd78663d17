import type { RankingRecord } from "../fact.ts";
import { analyze, foldText } from "../text/analyzer.ts";
import { createContexts } from "./contexts.ts";
import { filterClassOf } from "./filter.ts";
import { createInterned } from "./interned.ts";
import { createPassageTable, growPassageTable, PASSAGE_ROW_BYTES, passageFlags } from "./passage-table.ts";
import { createPeople } from "./people.ts";
import { createPostings, type TermCount } from "./postings.ts";
import type { RecallIndexView, Session, Totals } from "./recall-index-view.ts";
import { bytesOf, fieldTerms, inReadingOrder, ownWords } from "./record-terms.ts";

/**
 * What recall keeps in memory of one bank. Units are sentences; a passage is the turn or paragraph they stand in; a
 * session is an ordered run of passages. Lists of terms point at passages; windows and sessions are derived from them
 * at query time. Reading never changes it; `apply` is exact: any sequence of deltas ends in the same answers as an
 * index built at once from the records that are left.
 */
export interface RecallIndex {
  /** Removes first, then upserts; an upsert of a known id replaces its record, and the last of two equal ids wins. */
  apply(delta: RecallDelta): void;
  find(unitId: string): RankingRecord | undefined;
  /** Estimated heap use, for an owner that evicts by size. */
  readonly bytes: number;
  readonly unitCount: number;
  readonly view: RecallIndexView;
}

export interface RecallDelta {
  readonly upserts?: readonly RankingRecord[];
  readonly removes?: readonly string[];
}

/** In a conversation a turn is understood with four turns on either side (measured best of one to six). */
const CONVERSATION_REACH = 4;
/** Paragraphs are longer and notes stand alone; two on either side served both running text and loose notes. */
const NOTE_REACH = 2;

export function createRecallIndex(initial: readonly RankingRecord[] = []): RecallIndex {
  const postings = createPostings();
  const people = createPeople();
  const contexts = createContexts();
  const filterClasses = createInterned();
  const passages = createPassageTable();
  const freePassages: number[] = [];
  const sessions: (Session | undefined)[] = [];
  const sessionSlots = new Map<string, number>();
  const freeSessions: number[] = [];
  const records: (RankingRecord | undefined)[] = [];
  const unitSlots = new Map<string, number>();
  const freeUnits: number[] = [];
  const unitPassage: number[] = [];
  const unitSubject: number[] = [];
  const unitFilterClass: number[] = [];
  const unitTerms: number[][] = [];
  const unitsByEntity = new Map<string, Set<number>>();
  const totals: Totals = { textTerms: 0, turnTerms: 0, pairs: 0, windowTerms: 0, sessions: 0, superseded: 0 };
  let recordBytes = 0;

  /** Passages whose rows are out of date in the running `apply`, the terms their old rows were listed under, and their sessions. */
  const stale = { passages: new Set<number>(), listed: new Set<number>(), terms: new Set<number>(), sessions: new Set<number>() };

  function apply(delta: RecallDelta): void {
    for (const unitId of delta.removes ?? []) detach(unitId);
    for (const record of delta.upserts ?? []) {
      detach(record.unitId);
      attach(record);
    }
    postings.remove(stale.listed, stale.terms);
    for (const passage of stale.passages) describe(passage);
    for (const session of stale.sessions) arrange(session);
    postings.forgetUnused(stale.terms);
    for (const set of Object.values(stale)) set.clear();
  }

  /** Must run before the units of a passage change: what it is listed under is known from them. */
  function markStale(passage: number): void {
    if (stale.passages.has(passage)) return;
    stale.passages.add(passage);
    stale.sessions.add(passages.session[passage]!);
    if (passages.units[passage]!.length === 0) return;
    stale.listed.add(passage);
    for (const termId of countTerms(passage).keys()) stale.terms.add(termId);
    totals.textTerms -= passages.textTerms[passage]!;
    totals.turnTerms -= passages.turnTerms[passage]!;
    totals.pairs -= passages.pairs[passage]!;
    contexts.lines.release(passages.context[passage]!);
  }

  function attach(record: RankingRecord): void {
    const passage = openPassage(record.sessionId, record.passage);
    markStale(passage);
    const unit = freeUnits.pop() ?? records.length;
    records[unit] = record;
    unitSlots.set(record.unitId, unit);
    unitPassage[unit] = passage;
    unitSubject[unit] = record.subject === undefined ? -1 : people.retain(record.subject, "subject");
    if (record.author !== undefined) people.retain(record.author, "author");
    unitFilterClass[unit] = filterClasses.retain(filterClassOf(record));
    unitTerms[unit] = analyze(ownWords(record)).map((term) => postings.intern(term));
    for (const entityId of record.entityIds) {
      const units = unitsByEntity.get(entityId);
      if (units === undefined) unitsByEntity.set(entityId, new Set([unit]));
      else units.add(unit);
    }
    if (record.supersededBy.length > 0) totals.superseded++;
    insertInOrder(passages.units[passage]!, unit);
    recordBytes += bytesOf(record);
  }

  function detach(unitId: string): void {
    const unit = unitSlots.get(unitId);
    if (unit === undefined) return;
    const record = records[unit]!;
    const passage = unitPassage[unit]!;
    markStale(passage);
    const units = passages.units[passage]!;
    units.splice(units.indexOf(unit), 1);
    if (record.subject !== undefined) people.release(unitSubject[unit]!, "subject");
    if (record.author !== undefined) people.release(personSlot(record.author), "author");
    filterClasses.release(unitFilterClass[unit]!);
    for (const entityId of record.entityIds) {
      const sharing = unitsByEntity.get(entityId);
      sharing?.delete(unit);
      if (sharing?.size === 0) unitsByEntity.delete(entityId);
    }
    if (record.supersededBy.length > 0) totals.superseded--;
    for (const termId of unitTerms[unit]!) stale.terms.add(termId);
    unitSlots.delete(unitId);
    records[unit] = undefined;
    unitTerms[unit] = [];
    freeUnits.push(unit);
    recordBytes -= bytesOf(record);
  }

  function personSlot(name: string): number {
    return people.slotOf(foldText(name))!;
  }

  function insertInOrder(units: number[], unit: number): void {
    let at = units.length;
    while (at > 0 && inReadingOrder(records[unit]!, records[units[at - 1]!]!) < 0) at--;
    units.splice(at, 0, unit);
  }

  function openPassage(sessionId: string, number: number): number {
    let sessionSlot = sessionSlots.get(sessionId);
    if (sessionSlot === undefined) {
      sessionSlot = freeSessions.pop() ?? sessions.length;
      sessions[sessionSlot] = { id: sessionId, passages: [], numbers: [], textTerms: 0 };
      sessionSlots.set(sessionId, sessionSlot);
      totals.sessions++;
    }
    const session = sessions[sessionSlot]!;
    const at = lowerBound(session.numbers, number);
    if (session.numbers[at] === number) return session.passages[at]!;
    growPassageTable(passages);
    const passage = freePassages.pop() ?? passages.slotCount++;
    passages.units[passage] = [];
    passages.session[passage] = sessionSlot;
    passages.windowTerms[passage] = 0;
    passages.liveCount++;
    session.passages.splice(at, 0, passage);
    session.numbers.splice(at, 0, number);
    return passage;
  }

  /** Occurrences of every term that finds the passage. */
  function countTerms(passage: number): Map<number, TermCount> {
    const counts = new Map<number, TermCount>();
    const count = (termId: number): TermCount => {
      let found = counts.get(termId);
      if (found === undefined) {
        found = { text: 0, field: 0 };
        counts.set(termId, found);
      }
      return found;
    };
    const units = passages.units[passage]!;
    for (const unit of units) for (const termId of unitTerms[unit]!) count(termId).text++;
    for (const term of fieldTerms(units.map((unit) => records[unit]!))) {
      const found = count(postings.intern(term));
      // Names that the words already hold would count twice.
      if (found.text === 0) found.field = 1;
    }
    return counts;
  }

  /** Writes the row of a passage whose units changed, or frees it when none is left. */
  function describe(passage: number): void {
    const units = passages.units[passage]!;
    if (units.length === 0) {
      closePassage(passage);
      return;
    }
    const counts = countTerms(passage);
    postings.add(passage, counts);
    let text = 0;
    let field = 0;
    for (const count of counts.values()) {
      text += count.text;
      field += count.field;
    }
    let flags = 0;
    let names = 0;
    let pairs = 0;
    for (const unit of units) {
      const unitFlags = records[unit]!.flags;
      if (unitFlags.containsQuestion || unitFlags.endsWithQuestion) flags |= passageFlags.containsQuestion;
      if (unitFlags.hasTimeExpression) flags |= passageFlags.hasTimeExpression;
      if (unitFlags.hasPlace) flags |= passageFlags.hasPlace;
      names += unitFlags.nameCount;
      pairs += Math.max(0, unitTerms[unit]!.length - 1);
    }
    const first = records[units[0]!]!;
    if (records[units[units.length - 1]!]!.flags.endsWithQuestion) flags |= passageFlags.endsWithQuestion;
    passages.textTerms[passage] = text;
    passages.turnTerms[passage] = text + field;
    passages.pairs[passage] = pairs;
    passages.flags[passage] = flags;
    passages.names[passage] = Math.min(2, names);
    passages.author[passage] = first.author === undefined ? -1 : personSlot(first.author);
    passages.reach[passage] = first.author === undefined ? NOTE_REACH : CONVERSATION_REACH;
    passages.context[passage] = contexts.lines.retain(first.context);
    passages.mentionedAtUs[passage] = first.mentionedAtUs ?? Number.NaN;
    totals.textTerms += text;
    totals.turnTerms += text + field;
    totals.pairs += pairs;
  }

  function closePassage(passage: number): void {
    const session = sessions[passages.session[passage]!]!;
    const at = session.passages.indexOf(passage);
    session.passages.splice(at, 1);
    session.numbers.splice(at, 1);
    totals.windowTerms -= passages.windowTerms[passage]!;
    passages.liveCount--;
    freePassages.push(passage);
  }

  /** Relinks a session's passages and measures their windows. */
  function arrange(slot: number): void {
    const session = sessions[slot]!;
    const order = session.passages;
    if (order.length === 0) {
      sessions[slot] = undefined;
      sessionSlots.delete(session.id);
      freeSessions.push(slot);
      totals.sessions--;
      return;
    }
    session.textTerms = 0;
    for (let at = 0; at < order.length; at++) {
      const passage = order[at]!;
      passages.position[passage] = at;
      passages.previous[passage] = order[at - 1] ?? -1;
      passages.next[passage] = order[at + 1] ?? -1;
      session.textTerms += passages.textTerms[passage]!;
      const reach = passages.reach[passage]!;
      let windowTerms = 0;
      for (let near = Math.max(0, at - reach); near <= at + reach && near < order.length; near++) {
        windowTerms += passages.textTerms[order[near]!]!;
      }
      totals.windowTerms += windowTerms - passages.windowTerms[passage]!;
      passages.windowTerms[passage] = windowTerms;
    }
  }

  apply({ upserts: initial });
  return {
    apply,
    find: (unitId) => {
      const unit = unitSlots.get(unitId);
      return unit === undefined ? undefined : records[unit];
    },
    get bytes() {
      return recordBytes + passages.session.length * PASSAGE_ROW_BYTES + postings.entryCount * 24 + postings.termCount * 240;
    },
    get unitCount() {
      return unitSlots.size;
    },
    view: {
      postings,
      people,
      contexts,
      filterClasses,
      passages,
      sessions,
      records,
      unitPassage,
      unitSubject,
      unitFilterClass,
      unitTerms,
      unitsByEntity,
      slotOf: (unitId) => unitSlots.get(unitId),
      totals,
    },
  };
}

function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
