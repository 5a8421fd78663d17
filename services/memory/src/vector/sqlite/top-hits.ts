import type { VectorHit } from "../../vector-index.ts";

export interface TopHits {
  /** No score below it can still enter. Rises as hits come in; one that equals it may enter by its unit id. */
  readonly lowest: number;
  offer(unitId: string, score: number): void;
  /** The best hits, by descending score and ascending unit id. */
  best(): VectorHit[];
}

/** Keeps the best `limit` of the hits that reach `minScore`, without sorting the others: a heap with the worst on top. */
export function createTopHits(limit: number, minScore: number): TopHits {
  const heap: VectorHit[] = [];
  let lowest = limit > 0 ? minScore : Number.POSITIVE_INFINITY;

  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  const rise = (start: number): void => {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isWorse(heap[at]!, heap[parent]!)) return;
      swap(at, parent);
      at = parent;
    }
  };
  const sink = (): void => {
    for (let at = 0; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && isWorse(heap[child]!, heap[worst]!)) worst = child;
      }
      if (worst === at) return;
      swap(at, worst);
      at = worst;
    }
  };

  return {
    get lowest() {
      return lowest;
    },
    offer(unitId, score) {
      if (!(score >= lowest)) return;
      const hit = { unitId, score };
      if (heap.length < limit) {
        heap.push(hit);
        rise(heap.length - 1);
      } else {
        if (!isWorse(heap[0]!, hit)) return;
        heap[0] = hit;
        sink();
      }
      if (heap.length === limit) lowest = heap[0]!.score;
    },
    best: () => heap.toSorted((a, b) => (isWorse(a, b) ? 1 : -1)),
  };
}

function isWorse(a: VectorHit, b: VectorHit): boolean {
  return a.score < b.score || (a.score === b.score && a.unitId > b.unitId);
}
