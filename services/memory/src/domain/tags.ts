export const tagsMatches = ["any", "all", "any_strict", "all_strict", "exact"] as const;
export type TagsMatch = (typeof tagsMatches)[number];

/** A condition on the tags of a unit; groups nest at will. */
export type TagGroup =
  | { readonly tags: readonly string[]; readonly match?: TagsMatch }
  | { readonly and: readonly TagGroup[] }
  | { readonly or: readonly TagGroup[] }
  | { readonly not: TagGroup };

/** Which units a list, a recall or a trigger may see. Absent members do not filter. */
export interface TagFilter {
  readonly tags?: readonly string[];
  /** Default `any`. */
  readonly tagsMatch?: TagsMatch;
  /** All of them must hold. */
  readonly tagGroups?: readonly TagGroup[];
}

/** Whether a unit with these tags passes the filter. Tags compare byte for byte. */
export function matchesTags(unitTags: readonly string[], { tags, tagsMatch, tagGroups }: TagFilter): boolean {
  return (
    matchesMode(unitTags, tags ?? [], tagsMatch ?? "any") && (tagGroups ?? []).every((group) => matchesGroup(unitTags, group))
  );
}

/** Whether the filter lets every unit pass, so that nothing needs to be looked at. */
export function isOpenFilter({ tags, tagsMatch, tagGroups }: TagFilter): boolean {
  return (tags ?? []).length === 0 && tagsMatch !== "exact" && (tagGroups ?? []).length === 0;
}

function matchesGroup(unitTags: readonly string[], group: TagGroup): boolean {
  if ("and" in group) return group.and.every((part) => matchesGroup(unitTags, part));
  if ("or" in group) return group.or.some((part) => matchesGroup(unitTags, part));
  if ("not" in group) return !matchesGroup(unitTags, group.not);
  return matchesMode(unitTags, group.tags, group.match ?? "any_strict");
}

/** Without requested tags every mode passes everything, except `exact`, which asks for exactly no tags. */
function matchesMode(unitTags: readonly string[], requested: readonly string[], match: TagsMatch): boolean {
  if (match === "exact")
    return requested.every((tag) => unitTags.includes(tag)) && unitTags.every((tag) => requested.includes(tag));
  if (requested.length === 0) return true;
  const admitsUntagged = match === "any" || match === "all";
  if (unitTags.length === 0) return admitsUntagged;
  return match === "any" || match === "any_strict"
    ? requested.some((tag) => unitTags.includes(tag))
    : requested.every((tag) => unitTags.includes(tag));
}
