/** Exact search: every row of a bank is compared, block by block. */
import type { VectorHit, VectorSearch } from "../../vector-index.ts";
import { placeOf, type ResidentBank } from "./resident-banks.ts";
import { createTopHits, type TopHits } from "./top-hits.ts";
import { BLOCK_ROWS, type VectorArena } from "./vector-arena.ts";
import { codeOf, type StoredVector } from "./vector-rows.ts";

/** Rows that one call of the kernel costs as much as: beyond it a few wanted units are cheaper one by one than a scan. */
const SCAN_ADVANTAGE = 4;

export function searchResident(arena: VectorArena, bank: ResidentBank, query: Float32Array, search: VectorSearch): VectorHit[] {
  const top = createTopHits(search.limit, search.minScore);
  const isWanted = familyFilter(search);
  const { only } = search;
  arena.ask(query);
  if (only && only.size * SCAN_ADVANTAGE < bank.unitIds.length) {
    for (const unitId of only) {
      const row = bank.rowOf.get(unitId);
      if (row !== undefined && isWanted[bank.familyCodes[row]!])
        top.offer(unitId, scoreOf(arena, placeOf(bank, row, arena.width)));
    }
    return top.best();
  }
  let left = bank.unitIds.length;
  bank.blocks.forEach((block, i) => {
    const count = Math.min(BLOCK_ROWS, left);
    left -= count;
    arena.score(block, count);
    offerResults(arena, top, bank, i * BLOCK_ROWS, count, isWanted, only);
  });
  return top.best();
}

/** A search over rows that come in pages from the file, for a bank that does not fit into memory. */
export async function searchStored(
  arena: VectorArena,
  pages: AsyncIterable<readonly StoredVector[]>,
  query: Float32Array,
  search: VectorSearch,
): Promise<VectorHit[]> {
  const top = createTopHits(search.limit, search.minScore);
  const isWanted = familyFilter(search);
  for await (const page of pages) {
    // Other searches used the arena since the last page.
    arena.ask(query);
    const unitIds = page.map((row) => row.unitId);
    const familyCodes = page.map((row) => row.familyCode);
    for (let start = 0; start < page.length; start += BLOCK_ROWS) {
      const rows = page.slice(start, start + BLOCK_ROWS);
      rows.forEach((row, i) => {
        arena.write(arena.scratch + i * arena.width, row.vector);
      });
      arena.score(arena.scratch, rows.length);
      offerResults(arena, top, { unitIds, familyCodes }, start, rows.length, isWanted, search.only);
    }
  }
  return top.best();
}

/** The similarity of the row at `place` and the vector that was asked for last. */
export function scoreOf(arena: VectorArena, place: number): number {
  arena.score(place, 1);
  return asCosine(arena.floats()[arena.results]!);
}

function offerResults(
  arena: VectorArena,
  top: TopHits,
  rows: Pick<ResidentBank, "unitIds" | "familyCodes">,
  first: number,
  count: number,
  isWanted: readonly boolean[],
  only: ReadonlySet<string> | undefined,
): void {
  const floats = arena.floats();
  for (let i = 0; i < count; i++) {
    const score = asCosine(floats[arena.results + i]!);
    if (score < top.lowest || !isWanted[rows.familyCodes[first + i]!]) continue;
    const unitId = rows.unitIds[first + i]!;
    if (!only || only.has(unitId)) top.offer(unitId, score);
  }
}

/** Unit vectors in f32 can have a product a little beyond 1. */
function asCosine(product: number): number {
  return Math.max(-1, Math.min(1, product));
}

/** By family code. */
function familyFilter({ families }: VectorSearch): boolean[] {
  const wanted = (families ?? ["world", "experience", "observation"]).map(codeOf);
  return [0, 1, 2].map((code) => wanted.includes(code));
}
