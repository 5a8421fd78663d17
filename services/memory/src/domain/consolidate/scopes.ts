import type { ObservationScopes } from "../unit.ts";
import type { ConsolidationSettings } from "./consolidation-settings.ts";

/** A sorted tag set: the observations that carry exactly these tags. */
export type Scope = readonly string[];

/** Subsets double with every tag: six give 63 scopes and as many calls of a model. With more tags the whole set stands for them. */
const combinedTagsMax = 6;

/** The scopes that a fact with these tags feeds (contract 13.5), each once, in a fixed order. */
export function scopesOf(tags: readonly string[], wanted: ObservationScopes | undefined): readonly Scope[] {
  const own = sorted(tags);
  switch (wanted) {
    case undefined:
    case "combined":
      return [own];
    case "shared":
      return [[]];
    case "per_tag":
      return own.length === 0 ? [[]] : own.map((tag) => [tag]);
    case "all_combinations":
      return own.length === 0 || own.length > combinedTagsMax ? [own] : subsets(own);
    default:
      return distinct(wanted.length === 0 ? [own] : wanted.map(sorted));
  }
}

/** Equal for equal scopes, whatever characters the tags hold. */
export function scopeKey(scope: Scope): string {
  return JSON.stringify(scope);
}

/** Observations that a scope may hold: the first limit whose globs cover its tags exactly, else the bank's. */
export function scopeLimit(scope: Scope, { scopeLimits, observationsPerScopeMax }: ConsolidationSettings): number {
  const limit = scopeLimits.find(({ scope: globs }) => isCovered(scope, globs.map(globPattern)))?.limit;
  if (limit === undefined) return observationsPerScopeMax;
  return limit < 0 ? Number.POSITIVE_INFINITY : limit;
}

function isCovered(scope: Scope, patterns: readonly RegExp[]): boolean {
  return (
    scope.every((tag) => patterns.some((pattern) => pattern.test(tag))) &&
    patterns.every((pattern) => scope.some((tag) => pattern.test(tag)))
  );
}

function globPattern(glob: string): RegExp {
  const literal = (part: string): string => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`^${glob.split(/\*+/).map(literal).join("[^]*")}$`, "u");
}

function subsets(tags: Scope): Scope[] {
  const found: Scope[] = [];
  for (let chosen = 1; chosen < 1 << tags.length; chosen++) found.push(tags.filter((_, i) => (chosen >> i) & 1));
  return found;
}

function sorted(tags: readonly string[]): Scope {
  return [...new Set(tags)].sort();
}

function distinct(scopes: readonly Scope[]): Scope[] {
  return [...new Map(scopes.map((scope) => [scopeKey(scope), scope])).values()];
}
