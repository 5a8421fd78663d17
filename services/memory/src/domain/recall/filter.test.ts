import { describe, expect, test } from "vitest";
import { searchScope } from "./filter.ts";
import { record } from "./recall-fixture.ts";
import { createRecallIndex } from "./recall-index.ts";

const { view } = createRecallIndex([
  record("w", "one", { tags: ["a"] }),
  record("p", "two", { type: "preference" }),
  record("o", "three", { type: "observation", tags: ["a"] }),
]);

describe("searchScope", () => {
  test("whole families are named, not their units", () => {
    expect(searchScope(view, {})).toEqual({});
    expect(searchScope(view, { types: ["world", "observation"] })).toEqual({ families: ["world", "observation"] });
    expect(searchScope(view, { types: ["world", "preference", "fact"] })).toEqual({ families: ["world"] });
  });

  test("anything narrower is a set of units", () => {
    expect(searchScope(view, { types: ["preference"] })).toEqual({ only: new Set(["p"]) });
    expect(searchScope(view, { tags: ["a"], tagsMatch: "any_strict" })).toEqual({ only: new Set(["w", "o"]) });
    expect(searchScope(view, { types: ["opinion"] })).toEqual({ families: [] });
  });
});
