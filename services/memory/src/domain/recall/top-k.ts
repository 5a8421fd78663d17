/** Keeps the best `limit` slots seen, by score and then by `precedes`, without sorting the rest: most offers fail one comparison. */
export interface TopK {
  offer(slot: number, score: number): void;
  /** Best first. */
  take(): number[];
}

export function createTopK(limit: number, precedes: (a: number, b: number) => boolean): TopK {
  // A heap with the worst kept slot on top.
  const slots: number[] = [];
  const scores: number[] = [];

  const isWorse = (a: number, b: number): boolean =>
    scores[a]! < scores[b]! || (scores[a] === scores[b] && precedes(slots[b]!, slots[a]!));

  function swap(a: number, b: number): void {
    [slots[a], slots[b]] = [slots[b]!, slots[a]!];
    [scores[a], scores[b]] = [scores[b]!, scores[a]!];
  }

  function sink(from: number): void {
    for (let at = from; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < slots.length && isWorse(child, worst)) worst = child;
      if (worst === at) return;
      swap(at, worst);
      at = worst;
    }
  }

  return {
    offer(slot, score) {
      if (slots.length < limit) {
        slots.push(slot);
        scores.push(score);
        for (let at = slots.length - 1; at > 0; ) {
          const parent = (at - 1) >> 1;
          if (!isWorse(at, parent)) return;
          swap(at, parent);
          at = parent;
        }
        return;
      }
      if (limit === 0 || score < scores[0]! || (score === scores[0] && !precedes(slot, slots[0]!))) return;
      slots[0] = slot;
      scores[0] = score;
      sink(0);
    },
    take() {
      const order = slots.map((_, at) => at);
      order.sort((a, b) => (isWorse(a, b) ? 1 : -1));
      return order.map((at) => slots[at]!);
    },
  };
}
