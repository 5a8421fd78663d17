import { expect, test } from "vitest";
import { consolidationSettings } from "./consolidation-settings.ts";
import { scopeLimit, scopesOf } from "./scopes.ts";

test("each preset names the scopes that a fact feeds", () => {
  const tags = ["b", "a"];
  expect(scopesOf(tags, undefined)).toEqual([["a", "b"]]);
  expect(scopesOf(tags, "combined")).toEqual([["a", "b"]]);
  expect(scopesOf(tags, "shared")).toEqual([[]]);
  expect(scopesOf(tags, "per_tag")).toEqual([["a"], ["b"]]);
  expect(scopesOf(tags, "all_combinations")).toEqual([["a"], ["b"], ["a", "b"]]);
  expect(scopesOf(tags, [["z", "c"], ["c", "z"], []])).toEqual([["c", "z"], []]);
});

test("untagged facts feed the untagged scope; many tags are not multiplied out", () => {
  for (const preset of ["combined", "per_tag", "all_combinations", "shared"] as const) expect(scopesOf([], preset)).toEqual([[]]);
  const many = [..."abcdefghij"];
  expect(scopesOf(many, "all_combinations")).toEqual([many]);
});

test("the first limit whose globs cover the tags exactly wins, and case counts", () => {
  const settings = consolidationSettings({
    max_observations_per_scope: 9,
    observation_scope_limits: [
      { scope: ["user:*"], limit: 3 },
      { scope: ["user:*", "team"], limit: 2 },
      { scope: ["team"], limit: -1 },
    ],
  });
  expect(scopeLimit(["user:ann"], settings)).toBe(3);
  expect(scopeLimit(["team", "user:ann"], settings)).toBe(2);
  expect(scopeLimit(["team"], settings)).toBe(Number.POSITIVE_INFINITY);
  expect(scopeLimit(["User:ann"], settings)).toBe(9);
  expect(scopeLimit([], settings)).toBe(9);
  expect(scopeLimit(["a.b"], consolidationSettings({ observation_scope_limits: [{ scope: ["a?b"], limit: 1 }] }))).toBe(
    Number.POSITIVE_INFINITY,
  );
});
