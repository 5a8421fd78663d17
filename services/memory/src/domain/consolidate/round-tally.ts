import { addUsage, noUsage } from "../token-usage.ts";
import type { Unit } from "../unit.ts";
import type { Decision } from "./decide.ts";

/** Counts what a round has done, and knows which write is its last. */
export interface RoundTally {
  /** Begins a window of batches; the last window ends the round. */
  open(window: { readonly batches: number; readonly isLastWindow: boolean; readonly areUnitsLeft: boolean }): void;
  /** One batch became two. */
  split(): void;
  /** Whether the next write ends the round. */
  readonly isClosing: boolean;
  /** Whether units are left for another round. */
  readonly areUnitsLeft: boolean;
  readonly processed: number;
  readonly total: number;
  readonly counts: RoundCounts;
  /** The counts as they are with one more write. */
  with(written: Written): RoundCounts;
  /** A write has been committed. */
  add(written: Written): void;
}

export interface Written {
  readonly done: readonly Unit[];
  readonly failed: readonly Unit[];
  /** Undefined: nothing was decided. */
  readonly decision: Decision | undefined;
}

export interface RoundCounts {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly done: number;
  readonly failed: number;
  readonly usage: Decision["usage"];
  /** Sorted tag sets of the units looked at. */
  readonly tagSets: ReadonlySet<string>;
}

const noCounts: RoundCounts = { created: 0, updated: 0, deleted: 0, done: 0, failed: 0, usage: noUsage, tagSets: new Set() };

export function createRoundTally(expected: number): RoundTally {
  let counts = noCounts;
  let batches = 0;
  let isLastWindow = false;
  let areUnitsLeft = false;
  return {
    open(window) {
      // Without any batch there is one write all the same: the one that ends the round.
      batches = Math.max(1, window.batches);
      ({ isLastWindow, areUnitsLeft } = window);
    },
    split() {
      batches++;
    },
    get isClosing() {
      return isLastWindow && batches === 1;
    },
    get areUnitsLeft() {
      return areUnitsLeft;
    },
    get processed() {
      return counts.done + counts.failed;
    },
    get total() {
      return Math.max(expected, counts.done + counts.failed);
    },
    get counts() {
      return counts;
    },
    with: (written) => sum(counts, written),
    add(written) {
      counts = sum(counts, written);
      batches--;
    },
  };
}

function sum(counts: RoundCounts, { done, failed, decision }: Written): RoundCounts {
  const tagSets = [...done, ...failed].map((unit) => JSON.stringify([...unit.tags].sort()));
  return {
    created: counts.created + (decision?.creates.length ?? 0),
    updated: counts.updated + (decision?.updates.length ?? 0),
    deleted: counts.deleted + (decision?.deletes.length ?? 0),
    done: counts.done + done.length,
    failed: counts.failed + failed.length,
    usage: addUsage(counts.usage, decision?.usage ?? noUsage),
    tagSets: new Set([...counts.tagSets, ...tagSets]),
  };
}
