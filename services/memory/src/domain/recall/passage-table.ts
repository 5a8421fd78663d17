/** Columns over passages (a turn or a paragraph), one row per slot. Typed arrays, because ranking reads them for every passage of a bank. */
export interface PassageTable {
  /** Unit slots in reading order; empty for a free slot. */
  readonly units: number[][];
  /** Slots below this may be in use. */
  slotCount: number;
  /** Passages in use. */
  liveCount: number;
  session: Int32Array;
  /** Place in the session's reading order. */
  position: Int32Array;
  /** Slots of the neighbours in the session, -1 at its ends. */
  previous: Int32Array;
  next: Int32Array;
  /** Terms in the passage's own words; with author, date and entity names; adjacent pairs; in its window. */
  textTerms: Int32Array;
  turnTerms: Int32Array;
  pairs: Int32Array;
  windowTerms: Int32Array;
  /** Neighbours on each side that belong to the window. */
  reach: Uint8Array;
  /** Person slot of the author, -1 when there is none. */
  author: Int32Array;
  context: Int32Array;
  flags: Uint8Array;
  /** Proper nouns and quoted titles, at most 2. */
  names: Uint8Array;
  /** NaN when unknown. */
  mentionedAtUs: Float64Array;
}

export const passageFlags = { endsWithQuestion: 1, containsQuestion: 2, hasTimeExpression: 4, hasPlace: 8 } as const;

export function createPassageTable(): PassageTable {
  return {
    units: [],
    slotCount: 0,
    liveCount: 0,
    session: new Int32Array(0),
    position: new Int32Array(0),
    previous: new Int32Array(0),
    next: new Int32Array(0),
    textTerms: new Int32Array(0),
    turnTerms: new Int32Array(0),
    pairs: new Int32Array(0),
    windowTerms: new Int32Array(0),
    reach: new Uint8Array(0),
    author: new Int32Array(0),
    context: new Int32Array(0),
    flags: new Uint8Array(0),
    names: new Uint8Array(0),
    mentionedAtUs: new Float64Array(0),
  };
}

/** Most banks are small; the first growth holds a short conversation. */
const FIRST_CAPACITY = 64;

/** Makes room for one more slot, doubling all columns when they are full. */
export function growPassageTable(table: PassageTable): void {
  if (table.slotCount < table.session.length) return;
  const capacity = Math.max(FIRST_CAPACITY, table.session.length * 2);
  table.session = widened(table.session, new Int32Array(capacity));
  table.position = widened(table.position, new Int32Array(capacity));
  table.previous = widened(table.previous, new Int32Array(capacity));
  table.next = widened(table.next, new Int32Array(capacity));
  table.textTerms = widened(table.textTerms, new Int32Array(capacity));
  table.turnTerms = widened(table.turnTerms, new Int32Array(capacity));
  table.pairs = widened(table.pairs, new Int32Array(capacity));
  table.windowTerms = widened(table.windowTerms, new Int32Array(capacity));
  table.reach = widened(table.reach, new Uint8Array(capacity));
  table.author = widened(table.author, new Int32Array(capacity));
  table.context = widened(table.context, new Int32Array(capacity));
  table.flags = widened(table.flags, new Uint8Array(capacity));
  table.names = widened(table.names, new Uint8Array(capacity));
  table.mentionedAtUs = widened(table.mentionedAtUs, new Float64Array(capacity));
}

function widened<T extends Int32Array | Uint8Array | Float64Array>(column: T, into: T): T {
  into.set(column);
  return into;
}

/** Bytes that one row takes in all columns together. */
export const PASSAGE_ROW_BYTES = 10 * 4 + 3 + 8;
