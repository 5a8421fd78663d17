/** Inverted lists from index terms to passages. Plain number arrays: most terms occur once, where a typed array costs ten times its content. */

export interface Posting {
  /** Passage slots, in no particular order. */
  readonly passages: number[];
  /** Occurrences in the passage's own words, parallel to `passages`. */
  readonly textCounts: number[];
  /** Occurrences in what is searched with the passage but is not its words: author, date, entity names. */
  readonly fieldCounts: number[];
}

/** Occurrences of one term in one passage. */
export interface TermCount {
  text: number;
  field: number;
}

export interface Postings {
  /** The number of a term, or undefined when no passage holds it. */
  idOf(term: string): number | undefined;
  /** The number of a term, given out on first sight. A number stays valid while some passage holds the term. */
  intern(term: string): number;
  get(termId: number): Posting;
  add(passage: number, counts: ReadonlyMap<number, TermCount>): void;
  /** Takes the passages out of the lists of the named terms; one pass over each list, however many passages go. */
  remove(passages: ReadonlySet<number>, termIds: ReadonlySet<number>): void;
  /** Those of the terms that no passage holds any more give their number back. */
  forgetUnused(termIds: ReadonlySet<number>): void;
  readonly termCount: number;
  /** Sum of the lengths of all lists. */
  readonly entryCount: number;
}

interface Entry extends Posting {
  readonly term: string;
}

export function createPostings(): Postings {
  const ids = new Map<string, number>();
  const entries: (Entry | undefined)[] = [];
  const freeIds: number[] = [];
  let entryCount = 0;

  return {
    idOf: (term) => ids.get(term),
    intern(term) {
      const known = ids.get(term);
      if (known !== undefined) return known;
      const id = freeIds.pop() ?? entries.length;
      entries[id] = { term, passages: [], textCounts: [], fieldCounts: [] };
      ids.set(term, id);
      return id;
    },
    get: (termId) => entries[termId]!,
    add(passage, counts) {
      for (const [termId, count] of counts) {
        const entry = entries[termId]!;
        entry.passages.push(passage);
        entry.textCounts.push(count.text);
        entry.fieldCounts.push(count.field);
      }
      entryCount += counts.size;
    },
    remove(passages, termIds) {
      for (const termId of termIds) {
        entryCount -= dropPassages(entries[termId]!, passages);
      }
    },
    forgetUnused(termIds) {
      for (const termId of termIds) {
        const entry = entries[termId]!;
        if (entry.passages.length > 0) continue;
        ids.delete(entry.term);
        entries[termId] = undefined;
        freeIds.push(termId);
      }
    },
    get termCount() {
      return ids.size;
    },
    get entryCount() {
      return entryCount;
    },
  };
}

/** Closes the gaps in place and answers how many entries went. */
function dropPassages(entry: Entry, passages: ReadonlySet<number>): number {
  let kept = 0;
  for (let i = 0; i < entry.passages.length; i++) {
    const passage = entry.passages[i]!;
    if (passages.has(passage)) continue;
    entry.passages[kept] = passage;
    entry.textCounts[kept] = entry.textCounts[i]!;
    entry.fieldCounts[kept] = entry.fieldCounts[i]!;
    kept++;
  }
  const dropped = entry.passages.length - kept;
  entry.passages.length = kept;
  entry.textCounts.length = kept;
  entry.fieldCounts.length = kept;
  return dropped;
}
