import type { UnitLink } from "./domain/recall/candidates.ts";
import { createRecallIndex, type RecallIndex } from "./domain/recall/recall-index.ts";
import type { MemoryStore } from "./memory-store.ts";

/** A bank as recall reads it: as fresh as the bank's latest commit. */
export interface FreshIndex {
  readonly index: RecallIndex;
  readonly seq: number;
  /** Strongest neighbours of units, kept while the bank does not change. */
  neighboursOf(unitIds: readonly string[]): Promise<ReadonlyMap<string, readonly UnitLink[]>>;
}

/** The recall indexes of the banks in use, bounded by their estimated size; the least recently used go first. */
export interface RecallIndexes {
  fresh(bankUid: string): Promise<FreshIndex>;
  drop(bankUid: string): void;
}

interface Entry {
  readonly index: RecallIndex;
  seq: number;
  readonly neighbours: Map<string, readonly UnitLink[]>;
}

/** Neighbours asked for per seed of the graph arm; more adds candidates that the other arms bring anyway. */
const neighboursPerUnit = 10;

export function createRecallIndexes(deps: { readonly store: MemoryStore; readonly bytesMax: number }): RecallIndexes {
  const { store } = deps;
  /** In order of use, the least recently used first. */
  const entries = new Map<string, Entry>();
  const refreshing = new Map<string, Promise<Entry>>();

  const refresh = async (bankUid: string): Promise<Entry> => {
    const entry = entries.get(bankUid);
    const changes = await store.changesSince(bankUid, entry?.seq ?? 0);
    if (entry && !changes.isComplete) {
      entry.index.apply({ removes: changes.removedUnitIds, upserts: changes.upserts });
      entry.seq = changes.seq;
      entry.neighbours.clear();
      return entry;
    }
    const built = { index: createRecallIndex(changes.upserts), seq: changes.seq, neighbours: new Map() };
    entries.set(bankUid, built);
    return built;
  };

  const evict = () => {
    let bytes = 0;
    for (const entry of entries.values()) bytes += entry.index.bytes;
    for (const [bankUid, entry] of entries) {
      if (bytes <= deps.bytesMax || entries.size === 1) return;
      bytes -= entry.index.bytes;
      entries.delete(bankUid);
    }
  };

  return {
    async fresh(bankUid) {
      const seq = await store.seq(bankUid);
      let entry = entries.get(bankUid);
      while (!entry || entry.seq < seq) {
        let running = refreshing.get(bankUid);
        if (!running) {
          running = refresh(bankUid).finally(() => refreshing.delete(bankUid));
          refreshing.set(bankUid, running);
        }
        entry = await running;
        if (seq === 0) break;
      }
      entries.delete(bankUid);
      entries.set(bankUid, entry);
      evict();
      const { index, neighbours } = entry;
      return {
        index,
        seq: entry.seq,
        async neighboursOf(unitIds) {
          const unknown = unitIds.filter((unitId) => !neighbours.has(unitId));
          if (unknown.length > 0) {
            const found = await store.neighboursOf(bankUid, unknown, neighboursPerUnit);
            for (const unitId of unknown) neighbours.set(unitId, found.get(unitId) ?? []);
          }
          return neighbours;
        },
      };
    },
    drop(bankUid) {
      entries.delete(bankUid);
    },
  };
}
