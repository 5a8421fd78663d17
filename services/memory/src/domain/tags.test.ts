import { describe, expect, test } from "vitest";
import { isOpenFilter, matchesTags, type TagFilter } from "./tags.ts";

describe("matchesTags", () => {
  const untagged: string[] = [];
  const table: [mode: TagFilter["tagsMatch"], requested: string[], units: [tags: string[], passes: boolean][]][] = [
    [
      "any",
      ["a", "b"],
      [
        [untagged, true],
        [["a"], true],
        [["c"], false],
        [["b", "c"], true],
      ],
    ],
    [
      "all",
      ["a", "b"],
      [
        [untagged, true],
        [["a"], false],
        [["a", "b"], true],
        [["a", "b", "c"], true],
      ],
    ],
    [
      "any_strict",
      ["a", "b"],
      [
        [untagged, false],
        [["a"], true],
        [["c"], false],
      ],
    ],
    [
      "all_strict",
      ["a", "b"],
      [
        [untagged, false],
        [["a"], false],
        [["b", "a", "c"], true],
      ],
    ],
    [
      "exact",
      ["a", "b"],
      [
        [untagged, false],
        [["b", "a"], true],
        [["a"], false],
        [["a", "b", "c"], false],
      ],
    ],
    [
      "any",
      [],
      [
        [untagged, true],
        [["a"], true],
      ],
    ],
    [
      "all_strict",
      [],
      [
        [untagged, true],
        [["a"], true],
      ],
    ],
    [
      "exact",
      [],
      [
        [untagged, true],
        [["a"], false],
      ],
    ],
  ];
  test.each(table)("%s of %j", (tagsMatch, tags, units) => {
    for (const [unitTags, passes] of units)
      expect([unitTags, matchesTags(unitTags, { tags, ...(tagsMatch && { tagsMatch }) })]).toEqual([unitTags, passes]);
  });

  test("tags compare byte for byte", () => {
    expect(matchesTags(["Team"], { tags: ["team"], tagsMatch: "any_strict" })).toBe(false);
  });

  test("without a filter everything passes", () => {
    expect(matchesTags(["a"], {})).toBe(true);
    expect(isOpenFilter({})).toBe(true);
    expect(isOpenFilter({ tags: [], tagsMatch: "any" })).toBe(true);
    expect(isOpenFilter({ tagsMatch: "exact" })).toBe(false);
    expect(isOpenFilter({ tagGroups: [{ tags: ["a"] }] })).toBe(false);
  });

  test("groups combine by and; a leaf is strict by default", () => {
    const tagGroups: TagFilter["tagGroups"] = [{ tags: ["a", "b"] }, { not: { tags: ["secret"] } }];
    expect(matchesTags(["a"], { tagGroups })).toBe(true);
    expect(matchesTags(["a", "secret"], { tagGroups })).toBe(false);
    expect(matchesTags([], { tagGroups })).toBe(false);
  });

  test("groups nest", () => {
    const tagGroups: TagFilter["tagGroups"] = [
      { or: [{ and: [{ tags: ["a"] }, { tags: ["b"] }] }, { tags: ["c"], match: "exact" }] },
    ];
    expect(matchesTags(["b", "a", "x"], { tagGroups })).toBe(true);
    expect(matchesTags(["c"], { tagGroups })).toBe(true);
    expect(matchesTags(["c", "a"], { tagGroups })).toBe(false);
  });

  test("an empty `or` admits nothing, an empty `and` everything", () => {
    expect(matchesTags(["a"], { tagGroups: [{ or: [] }] })).toBe(false);
    expect(matchesTags(["a"], { tagGroups: [{ and: [] }] })).toBe(true);
  });
});
