import { expect, test } from "vitest";
import { type DuplicateCandidate, isComparable } from "./duplicates.ts";

const at = Date.UTC(2026, 2, 1, 9) * 1000;
const hour = 3_600_000_000;
const fact = (members: Partial<DuplicateCandidate> = {}): DuplicateCandidate => ({
  family: "world",
  text: "The office is open",
  author: undefined,
  eventUs: at,
  tags: [],
  entityNames: [],
  ...members,
});

test.each<[string, Partial<DuplicateCandidate>, Partial<DuplicateCandidate>, boolean]>([
  ["the same", {}, {}, true],
  ["another family", {}, { family: "experience" }, false],
  ["another speaker", { author: "Ann" }, { author: "Bob" }, false],
  ["another tag set", { tags: ["a"] }, { tags: ["a", "b"] }, false],
  ["the same tags in another order", { tags: ["b", "a"] }, { tags: ["a", "b"] }, true],
  ["another number", { text: "Floor 3" }, { text: "Floor 4" }, false],
  ["another time of day", { text: "at 3:15" }, { text: "at 3:45" }, false],
  ["a negation", { text: "The office is open" }, { text: "The office is not open" }, false],
  ["a contracted negation", { text: "It works" }, { text: "It doesn't work" }, false],
  ["a double negation", { text: "It is never not open" }, { text: "It is open" }, true],
  ["another name", { entityNames: ["Ann"] }, { entityNames: ["Bob"] }, false],
  ["names in other case", { entityNames: ["ANN"] }, { entityNames: ["ann"] }, true],
  ["a day later in the window", { eventUs: at }, { eventUs: at + 12 * hour }, true],
  ["outside the window", { eventUs: at }, { eventUs: at + 40 * hour }, false],
  ["both without a date", { eventUs: undefined }, { eventUs: undefined }, true],
  ["one without a date", { eventUs: undefined }, {}, false],
])("comparable? %s", (_, fresh, old, expected) => {
  expect(isComparable(fact(fresh), fact(old))).toBe(expected);
});
