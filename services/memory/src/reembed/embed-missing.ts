import { setImmediate as nextTurn } from "node:timers/promises";
import type { Embedder } from "@memory-bank/models";
import { familyOf } from "../domain/fact.ts";
import { rereadUnit } from "../domain/retain/reread-unit.ts";
import type { Unit } from "../domain/unit.ts";
import type { VectorGapDeps } from "../verify/vector-gaps.ts";

/** Texts per call of the embedder; what was embedded before a crash need not be again. */
const unitsPerEmbedding = 64;
/** Reading a text again takes about a millisecond; others get their turn after this many. */
const unitsPerTurn = 8;

/** Gives the named live units the vectors that retain would give them. A unit that is edited meanwhile keeps its newer one. */
export async function embedMissing(
  { store, vectors, lock, embedder }: VectorGapDeps & { readonly embedder: Embedder },
  bankUid: string,
  unitIds: readonly string[],
  run: { readonly signal: AbortSignal; readonly progress?: (processed: number) => Promise<void> },
): Promise<void> {
  for (let from = 0; from < unitIds.length; from += unitsPerEmbedding) {
    run.signal.throwIfAborted();
    const ids = unitIds.slice(from, from + unitsPerEmbedding);
    const units = await store.getUnits(bankUid, ids);
    const made = await embedder.embed(await embeddedTexts(units), { signal: run.signal, purpose: "document" });
    await lock.run(bankUid, async () => {
      const current = new Map((await store.getUnits(bankUid, ids)).map((unit) => [unit.unitId, unit]));
      const rows = units.flatMap((unit, i) => {
        const now = current.get(unit.unitId);
        const isSame = now?.text === unit.text && now.context === unit.context;
        return isSame ? [{ unitId: unit.unitId, vector: made[i]!, family: familyOf(now.type) }] : [];
      });
      await vectors.upsert(bankUid, rows);
    });
    await run.progress?.(Math.min(from + unitsPerEmbedding, unitIds.length));
  }
}

async function embeddedTexts(units: readonly Unit[]): Promise<string[]> {
  const texts: string[] = [];
  for (const [i, unit] of units.entries()) {
    texts.push(rereadUnit(unit).embeddedText);
    if (i % unitsPerTurn === unitsPerTurn - 1) await nextTurn();
  }
  return texts;
}
