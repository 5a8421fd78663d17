import type { FactFamily } from "./domain/fact.ts";

/** One stored vector. A unit has one vector: that of its sentence. */
export interface VectorRow {
  readonly unitId: string;
  readonly family: FactFamily;
  /** Of unit length, or all zero for a text without any feature. */
  readonly vector: Float32Array;
}

export interface VectorHit {
  readonly unitId: string;
  /** Cosine similarity, -1..1; 0 where one of the two vectors is zero. */
  readonly score: number;
}

export interface VectorSearch {
  /** Hits at most. 0 gives none. */
  readonly limit: number;
  /** Hits below it are left out. */
  readonly minScore: number;
  /** When given, only units of these families are considered. */
  readonly families?: readonly FactFamily[];
  /** When given, only these units are considered. */
  readonly only?: ReadonlySet<string>;
}

/**
 * Nearest neighbours among the vectors of one bank (`bankUid`: one incarnation of a bank). Contract of every adapter:
 * - `upsert` and `remove` are idempotent by unit id; after they return, searches by this process see their effect, and a
 *   crash does not undo it; of several rows with one unit id the last counts;
 * - `search` answers the best `limit` hits by descending score, ties by ascending unit id, and never a unit of another bank;
 * - `scores` answers the similarity of the named units that the bank holds; unknown ids are left out;
 * - `dropBank` removes every vector of the bank and returns only when none is left; `count` then answers 0;
 * - a bank that was never written is an empty bank;
 * - vectors of the wrong length, or with a number that is not finite, are refused with `invalid_argument`, and then
 *   nothing of the call is done;
 * - vectors that are handed in or out are copies: changing one afterwards changes nothing here;
 * - once disposed of, every method throws `unavailable`.
 *
 * Vectors are written before the commit that makes their units visible, so a crash can leave vectors without a unit:
 * `unitIds` is for the sweep that finds them.
 */
export interface VectorIndex extends AsyncDisposable {
  upsert(bankUid: string, rows: readonly VectorRow[]): Promise<void>;
  remove(bankUid: string, unitIds: readonly string[]): Promise<void>;
  search(bankUid: string, query: Float32Array, search: VectorSearch): Promise<VectorHit[]>;
  scores(bankUid: string, query: Float32Array, unitIds: readonly string[]): Promise<Map<string, number>>;
  /** The stored vectors of the named units; unknown ids are left out. */
  get(bankUid: string, unitIds: readonly string[]): Promise<Map<string, Float32Array>>;
  count(bankUid: string): Promise<number>;
  /** Every unit that has a vector, each once, read in pages. Units that are written or removed meanwhile may be missed. */
  unitIds(bankUid: string): AsyncIterable<string>;
  dropBank(bankUid: string): Promise<void>;
}
