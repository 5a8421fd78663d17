import { TagsMatch } from "@memory-bank/proto/common/v1/common";
import { expect, test } from "vitest";
import { type TagGroup, tagFilterToProto, tagGroupFromProto, tagGroupToProto } from "./tag-filter.ts";

test("no tags select everything, except for `exact`, which then selects what has none", () => {
  expect(tagFilterToProto({ tags: undefined, tags_match: "any" })).toBeUndefined();
  expect(tagFilterToProto({ tags: [], tags_match: "all_strict" })).toBeUndefined();
  expect(tagFilterToProto({ tags: [""], tags_match: "any_strict" })).toBeUndefined();
  expect(tagFilterToProto({ tags: undefined, tags_match: "exact" })).toEqual({ tags: [], match: TagsMatch.EXACT, groups: [] });
});

test("an expression survives the way to a service and back", () => {
  const group: TagGroup = {
    and: [
      { tags: ["a"], match: "any_strict" },
      { or: [{ tags: ["b", "c"], match: "exact" }] },
      { not: { tags: ["d"], match: "all" } },
    ],
  };
  expect(tagGroupFromProto(tagGroupToProto(group))).toEqual(group);
});
