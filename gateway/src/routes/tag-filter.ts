import { type TagFilter, type TagGroup as TagGroupMessage, TagsMatch } from "@memory-bank/proto/common/v1/common";
import { list, model, optional, union } from "../validation/containers.ts";
import { literal, str } from "../validation/scalars.ts";
import { named, type Output, type Schema } from "../validation/schema.ts";

export const tagsMatchWords = ["any", "all", "any_strict", "all_strict", "exact"] as const;
export type TagsMatchWord = (typeof tagsMatchWords)[number];

const matchByWord: Readonly<Record<TagsMatchWord, TagsMatch>> = {
  any: TagsMatch.ANY,
  all: TagsMatch.ALL,
  any_strict: TagsMatch.ANY_STRICT,
  all_strict: TagsMatch.ALL_STRICT,
  exact: TagsMatch.EXACT,
};

export function tagsMatchToProto(word: TagsMatchWord): TagsMatch {
  return matchByWord[word];
}

/** The word of a comparison; `undefined` for one that is left to the operation. */
export function tagsMatchFromProto(match: TagsMatch): TagsMatchWord | undefined {
  return tagsMatchWords.find((word) => matchByWord[word] === match);
}

/** A boolean expression over tags, as callers write it. */
export type TagGroup =
  | { readonly tags: readonly string[]; readonly match: TagsMatchWord }
  | { readonly and: readonly TagGroup[] }
  | { readonly or: readonly TagGroup[] }
  | { readonly not: TagGroup };

const leaf = model({ tags: list(str()), match: optional(literal(tagsMatchWords), "any_strict") });

/** One element of `tag_groups`; recursive. The names of the branches stand in fault lists. */
export const tagGroup: Schema<TagGroup> = named("TagGroup", () =>
  union({
    TagGroupLeaf: leaf,
    TagGroupAnd: model({ and: list(tagGroup) }),
    TagGroupOr: model({ or: list(tagGroup) }),
    TagGroupNot: model({ not: tagGroup }),
  }),
);

/** Members of a request body that select by tags. */
export const tagBody = {
  tags: optional(list(str())),
  tags_match: optional(literal(tagsMatchWords), "any"),
  tag_groups: optional(list(tagGroup)),
};

/** Parameters of a list that select by tags. */
export const tagQuery = {
  tags: optional(list(str())),
  tags_match: optional(literal(tagsMatchWords), "any"),
};

interface TagSelection {
  readonly tags: Output<(typeof tagBody)["tags"]>;
  readonly tags_match: TagsMatchWord;
  readonly tag_groups?: readonly TagGroup[] | undefined;
}

/** Why a body may not select like this, for `refine`: the two ways exclude each other. */
export function tagConflict({ tags, tag_groups }: TagSelection): string | undefined {
  return tags && tag_groups ? "tags and tag_groups are mutually exclusive" : undefined;
}

/** The selection for a service; `undefined` when everything is selected. Only `exact` means something without tags. */
export function tagFilterToProto({ tags: given = [], tags_match, tag_groups = [] }: TagSelection): TagFilter | undefined {
  const tags = given.filter((tag) => tag !== ""); // no record carries an empty tag; a form without input sends one
  if (tags.length === 0 && tag_groups.length === 0 && tags_match !== "exact") return undefined;
  return { tags, match: tagsMatchToProto(tags_match), groups: tag_groups.map(tagGroupToProto) };
}

export function tagGroupToProto(group: TagGroup): TagGroupMessage {
  if ("and" in group) return { node: { $case: "allOf", value: { groups: group.and.map(tagGroupToProto) } } };
  if ("or" in group) return { node: { $case: "anyOf", value: { groups: group.or.map(tagGroupToProto) } } };
  if ("not" in group) return { node: { $case: "negation", value: tagGroupToProto(group.not) } };
  return { node: { $case: "leaf", value: { tags: [...group.tags], match: tagsMatchToProto(group.match) } } };
}

/** The expression as a caller would write it. */
export function tagGroupFromProto({ node }: TagGroupMessage): TagGroup {
  switch (node?.$case) {
    case "allOf":
      return { and: node.value.groups.map(tagGroupFromProto) };
    case "anyOf":
      return { or: node.value.groups.map(tagGroupFromProto) };
    case "negation":
      return { not: tagGroupFromProto(node.value) };
    case "leaf":
      return { tags: node.value.tags, match: tagsMatchFromProto(node.value.match) ?? "any_strict" };
    default:
      return { and: [] };
  }
}
