import { expect, test } from "vitest";
import { createTopHits } from "./top-hits.ts";

test("keeps what sorting everything would keep", () => {
  const seed = Math.floor(Math.random() * 1000);
  const offered = Array.from({ length: 500 }, (_, i) => ({
    unitId: `unit-${(i * 37 + seed) % 500}`,
    score: Math.round(Math.sin(i + seed) * 20) / 20,
  }));
  const sorted = offered.toSorted((a, b) => b.score - a.score || (a.unitId < b.unitId ? -1 : 1));
  for (const limit of [0, 1, 7, 100, 499, 500, 1000]) {
    const top = createTopHits(limit, -0.5);
    for (const { unitId, score } of offered) top.offer(unitId, score);
    const expected = sorted.filter(({ score }) => score >= -0.5).slice(0, limit);
    expect(top.best(), `seed ${seed}, limit ${limit}`).toEqual(expected);
  }
});

test("the lowest score that may enter rises once the limit is reached", () => {
  const top = createTopHits(2, 0.1);
  expect(top.lowest).toBe(0.1);
  top.offer("a", 0.5);
  top.offer("b", 0.05);
  expect(top.lowest).toBe(0.1);
  top.offer("c", 0.9);
  expect(top.lowest).toBe(0.5);
});
