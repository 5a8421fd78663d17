import { expect, test } from "vitest";
import { temporalLinks } from "./links.ts";

const hour = 3_600_000_000;
const at = 1_700_000_000_000_000;
const dated = (unitId: string, hours: number, family: "world" | "experience" = "world") => ({
  unitId,
  eventUs: at + hours * hour,
  family,
});

test("units of a batch are linked both ways within a day, weighted by distance, never across families", () => {
  const links = temporalLinks([dated("a", 0), dated("b", 6), dated("c", 40), dated("x", 1, "experience")], () => []);
  expect(links).toEqual([
    { fromId: "a", toId: "b", type: "temporal", weight: 0.75 },
    { fromId: "b", toId: "a", type: "temporal", weight: 0.75 },
  ]);
});

test("a weight is never below 0.3", () => {
  expect(temporalLinks([dated("a", 0), dated("b", 23)], () => []).map((link) => link.weight)).toEqual([0.3, 0.3]);
});

test("each unit keeps the nearest 20, existing and new alike", () => {
  const fresh = Array.from({ length: 15 }, (_, i) => dated(`n${String(i).padStart(2, "0")}`, i / 100));
  const existing = Array.from({ length: 20 }, (_, i) => dated(`e${String(i).padStart(2, "0")}`, 1 + i / 100));
  const links = temporalLinks(fresh, () => existing);
  const ofFirst = links.filter((link) => link.fromId === "n00");
  expect(ofFirst).toHaveLength(20);
  expect(ofFirst.slice(0, 14).every((link) => link.toId.startsWith("n"))).toBe(true);
  expect(ofFirst.at(-1)?.toId).toBe("e05");
});
