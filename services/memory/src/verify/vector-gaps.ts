import type { KeyedLock } from "../keyed-lock.ts";
import type { MemoryKeeping } from "../memory-keeping.ts";
import type { MemoryStore } from "../memory-store.ts";
import type { VectorIndex } from "../vector-index.ts";

export interface VectorGapDeps {
  readonly store: MemoryStore;
  readonly keeping: MemoryKeeping;
  readonly vectors: VectorIndex;
  readonly lock: KeyedLock;
}

/** Where units and vectors of a bank do not match, by unit id. */
export interface VectorGaps {
  /** Live units without a vector. */
  readonly missing: readonly string[];
  /** Vectors without a live unit: a process died between the two writes. */
  readonly orphans: readonly string[];
}

/**
 * Compares live units with vectors. Both change while they are read, so what looks odd is looked at again while the bank's
 * writers in this process stand still.
 */
export async function findVectorGaps({ store, keeping, vectors, lock }: VectorGapDeps, bankUid: string): Promise<VectorGaps> {
  const live = new Set((await keeping.listPlacedUnits(bankUid)).map((unit) => unit.unitId));
  const present = new Set<string>();
  for await (const unitId of vectors.unitIds(bankUid)) present.add(unitId);
  const odd = [...without(live, present), ...without(present, live)];
  if (odd.length === 0) return { missing: [], orphans: [] };
  return lock.run(bankUid, async () => {
    const units = new Set<string>();
    const stored = new Set<string>();
    for (let from = 0; from < odd.length; from += lookedUpAtOnce) {
      const ids = odd.slice(from, from + lookedUpAtOnce);
      for (const unit of await store.getUnits(bankUid, ids)) units.add(unit.unitId);
      for (const unitId of (await vectors.get(bankUid, ids)).keys()) stored.add(unitId);
    }
    return { missing: without(units, stored), orphans: without(stored, units) };
  });
}

/** Vectors come along, so this many take about a megabyte. */
const lookedUpAtOnce = 500;

const without = (ids: ReadonlySet<string>, others: ReadonlySet<string>): string[] => [...ids].filter((id) => !others.has(id));

/** Removes orphans page by page; units that have come to life since keep their vector. */
export async function removeOrphans(
  { store, vectors, lock }: VectorGapDeps,
  bankUid: string,
  orphans: readonly string[],
): Promise<void> {
  for (let from = 0; from < orphans.length; from += lookedUpAtOnce) {
    const ids = orphans.slice(from, from + lookedUpAtOnce);
    await lock.run(bankUid, async () => {
      const live = new Set((await store.getUnits(bankUid, ids)).map((unit) => unit.unitId));
      await vectors.remove(
        bankUid,
        ids.filter((unitId) => !live.has(unitId)),
      );
    });
  }
}
