import { expect, test } from "vitest";
import type { Unit } from "../unit.ts";
import { batchesOf, type FactBatch, halves, runBatches } from "./batches.ts";

const fact = (unitId: string, tags: string[]): Unit => ({ unitId, tags, observationScopes: undefined }) as unknown as Unit;
const idsOf = (batch: FactBatch): string => batch.facts.map((unit) => unit.unitId).join("");

test("facts are grouped by their exact tags and cut to size", () => {
  const units = [fact("a", ["x"]), fact("b", ["y", "x"]), fact("c", ["x"]), fact("d", ["x", "y"]), fact("e", ["x"])];
  const batches = batchesOf(units, 2, undefined);
  expect(batches.map((batch) => [idsOf(batch), batch.scopes])).toEqual([
    ["ac", [["x"]]],
    ["e", [["x"]]],
    ["bd", [["x", "y"]]],
  ]);
});

test("halving ends with the culprit alone", () => {
  let [left, right]: FactBatch[] = halves({ facts: [..."abcde"].map((id) => fact(id, [])), scopes: [[]] });
  expect([idsOf(left!), idsOf(right!)]).toEqual(["abc", "de"]);
  [left, right] = halves(right!);
  expect([idsOf(left!), idsOf(right!)]).toEqual(["d", "e"]);
});

test("batches run side by side, but never two of one scope", async () => {
  const batches = ["a", "a", "b", "c", "b"].map((tag, i) => ({ facts: [fact(String(i), [tag])], scopes: [[tag], [`own ${i}`]] }));
  const running: string[] = [];
  let most = 0;
  const finished: string[] = [];
  await runBatches(batches, 2, async ({ facts }) => {
    const [tag] = facts[0]!.tags;
    expect(running).not.toContain(tag);
    running.push(tag!);
    most = Math.max(most, running.length);
    await new Promise((resolve) => setImmediate(resolve));
    running.splice(running.indexOf(tag!), 1);
    finished.push(facts[0]!.unitId);
  });
  expect(most).toBe(2);
  expect(finished.sort()).toEqual(["0", "1", "2", "3", "4"]);
});

test("a failure stops what has not begun, and is thrown after what runs has ended", async () => {
  const begun: string[] = [];
  let hasEnded = false;
  const batches = ["a", "b", "c"].map((tag) => ({ facts: [fact(tag, [tag])], scopes: [[tag]] }));
  const run = runBatches(batches, 2, async ({ facts }) => {
    begun.push(facts[0]!.unitId);
    if (facts[0]!.unitId === "a") throw new Error("outage");
    await new Promise((resolve) => setImmediate(resolve));
    hasEnded = true;
  });
  await expect(run).rejects.toThrow("outage");
  expect(begun).toEqual(["a", "b"]);
  expect(hasEnded).toBe(true);
});
