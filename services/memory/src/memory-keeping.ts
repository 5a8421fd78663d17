import type { Claim, NewJob } from "@memory-bank/jobs";
import type { BankRef } from "./domain/unit.ts";

/** One way in which the records of a bank do not agree with each other. */
export interface Disagreement {
  /** documents, units, links, observations, mentions, full text, counters, tags, entities, co-occurrences or vectors. */
  readonly part: string;
  readonly text: string;
}

/** Where a live unit stands in what was said; units of one passage rank together. */
export interface PlacedUnit {
  readonly unitId: string;
  readonly sessionId: string;
  readonly passage: number;
  /** An edited unit has left its passage. */
  readonly isEdited: boolean;
}

/** What ends the making of a bank's vectors. */
export interface VectorsCommit {
  readonly bank: BankRef;
  readonly nowUs: number;
  /** New lengths of passage pairs by unit (`RankingRecord.pairNorm`); units that are gone are left out. */
  readonly pairNorms: ReadonlyMap<string, number>;
  readonly completes: { readonly claim: Claim; readonly result: Readonly<Record<string, number>> };
}

/**
 * The upkeep of what a `MemoryStore` holds: finding and mending records that disagree, and knowing which embedder the units have
 * vectors of. A fenced bank has nothing to keep: it is not listed, and reads of it are empty.
 */
export interface MemoryKeeping {
  /** Banks that were ever written, by uid, after `afterUid`. */
  listBanks(afterUid: string, limit: number): Promise<readonly BankRef[]>;
  /** The written banks that a tenant has under a public id: one at most, unless one is dead and its fence was lost. */
  findBanks(tenantId: string, bankId: string): Promise<readonly BankRef[]>;
  countLiveUnits(bankUid: string): Promise<number>;
  /** Every live unit, by session, passage and place in it. */
  listPlacedUnits(bankUid: string): Promise<readonly PlacedUnit[]>;

  /**
   * Compares everything that is kept twice with what it is drawn from; each part over one snapshot, at most
   * `DISAGREEMENTS_PER_CHECK` of a kind. Vectors are not the store's and not looked at.
   */
  check(bankUid: string): AsyncIterable<Disagreement>;
  /**
   * Makes anew what documents, units and their sources decide: counters, tag counts, entities, co-occurrences, full text; drops
   * links, mentions and sources without an end, chunks without a document, and observations that nothing supports. One atomic
   * commit of the bank; readers see it as one.
   */
  rebuild(bank: BankRef, nowUs: number): Promise<void>;

  /**
   * Notes whose vectors the units get from now on. When they had those of another embedder, every bank with units lacks vectors
   * (`MemoryStore.lacksVectors`) until `commitVectors`. Queues the job that makes them for each bank that lacks them, in the same write; answers how many lack.
   */
  adoptEmbedder(embedderId: string, jobFor: (bank: BankRef) => NewJob): Promise<number>;
  /** Ends the lack and finishes the job, in one commit of the bank. A lost lease fails it: `conflict`, LEASE_LOST. */
  commitVectors(commit: VectorsCommit): Promise<void>;
}

/** What one kind of fault may print: enough to see the pattern. */
export const DISAGREEMENTS_PER_CHECK = 100;
