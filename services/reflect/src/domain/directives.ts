import { matchesTags, type TagFilter } from "./tags.ts";

interface Tagged {
  readonly tags: readonly string[];
}

/**
 * Of active directives those that apply to a request: untagged ones always; a tagged one when the request names tags and they
 * match; all of them when the request says so.
 */
export function applicableDirectives<D extends Tagged>(active: readonly D[], filter: TagFilter, applyAll: boolean): D[] {
  const namesTags = filter.tags.length > 0 || filter.groups.length > 0;
  return active.filter(({ tags }) => applyAll || tags.length === 0 || (namesTags && matchesTags(tags, filter)));
}
