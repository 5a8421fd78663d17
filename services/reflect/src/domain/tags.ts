export const tagsMatches = ["any", "all", "any_strict", "all_strict", "exact"] as const;
export type TagsMatch = (typeof tagsMatches)[number];

/** A condition on tags; groups nest at will. */
export type TagGroup =
  | { readonly tags: readonly string[]; readonly match: TagsMatch }
  | { readonly and: readonly TagGroup[] }
  | { readonly or: readonly TagGroup[] }
  | { readonly not: TagGroup };

/** Which records a request means by their tags; groups and tags are not used together. */
export interface TagFilter {
  readonly tags: readonly string[];
  readonly match: TagsMatch;
  readonly groups: readonly TagGroup[];
}

/** Lets everything pass. */
export const openFilter: TagFilter = { tags: [], match: "any", groups: [] };

/** Whether a record with these tags passes. Tags compare byte for byte. */
export function matchesTags(own: readonly string[], { tags, match, groups }: TagFilter): boolean {
  return matchesMode(own, tags, match) && groups.every((group) => matchesGroup(own, group));
}

function matchesGroup(own: readonly string[], group: TagGroup): boolean {
  if ("and" in group) return group.and.every((part) => matchesGroup(own, part));
  if ("or" in group) return group.or.some((part) => matchesGroup(own, part));
  if ("not" in group) return !matchesGroup(own, group.not);
  return matchesMode(own, group.tags, group.match);
}

function matchesMode(own: readonly string[], wanted: readonly string[], match: TagsMatch): boolean {
  const holdsAll = wanted.every((tag) => own.includes(tag));
  if (match === "exact") return holdsAll && own.every((tag) => wanted.includes(tag));
  if (wanted.length === 0) return true;
  if (own.length === 0) return match === "any" || match === "all";
  return match === "all" || match === "all_strict" ? holdsAll : wanted.some((tag) => own.includes(tag));
}
