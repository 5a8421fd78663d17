import { expect, test } from "vitest";
import { seededRandom } from "../text/random-text.ts";
import { pairNorm } from "./pair-norm.ts";
import { createTopK } from "./top-k.ts";

test("top-k is what sorting everything would keep, ties included", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = seededRandom(seed);
  for (let round = 0; round < 50; round++) {
    const offers = Array.from({ length: Math.floor(random() * 40) }, (_, slot) => ({ slot, score: Math.floor(random() * 6) }));
    const limit = Math.floor(random() * 12);
    const top = createTopK(limit, (a, b) => a < b);
    for (const { slot, score } of [...offers].sort(() => random() - 0.5)) top.offer(slot, score);
    const sorted = offers.sort((a, b) => b.score - a.score || a.slot - b.slot).slice(0, limit);
    expect(top.take(), `seed ${seed}`).toEqual(sorted.map(({ slot }) => slot));
  }
});

test("pairNorm is the length of the sum of all sentence vectors", () => {
  const x = Float32Array.of(1, 0);
  const y = Float32Array.of(0, 1);
  expect(pairNorm([x], [y])).toBeCloseTo(Math.SQRT2);
  expect(pairNorm([], [x, x])).toBe(2);
  expect(pairNorm([], [])).toBe(0);
});
