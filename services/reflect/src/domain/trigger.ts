import { valueError } from "@memory-bank/errors";
import type { JsonObject } from "@memory-bank/jobs";
import { nextTickUs } from "./schedule.ts";
import type { TagFilter, TagGroup, TagsMatch } from "./tags.ts";

/** When and how a mental model is refreshed, and what a refresh may read. `null` stands for the default of the bank. */
export interface Trigger {
  readonly mode: "full" | "delta";
  readonly refreshAfterConsolidation: boolean;
  readonly factTypes: readonly string[] | null;
  readonly excludeMentalModels: boolean;
  readonly excludeMentalModelIds: readonly string[] | null;
  readonly tagsMatch: TagsMatch | null;
  /** Replaces the model's own tags as its scope. */
  readonly tagGroups: readonly TagGroup[] | null;
  readonly includeChunks: boolean | null;
  readonly recallMaxTokens: number | null;
  readonly recallChunksMaxTokens: number | null;
  /** Five fields, UTC. */
  readonly refreshCron: string | null;
  readonly minRefreshIntervalSeconds: number | null;
  /** JSON schema of an object. */
  readonly responseSchema: JsonObject | null;
  readonly keepTrace: boolean;
}

export const defaultTrigger: Trigger = {
  mode: "full",
  refreshAfterConsolidation: false,
  factTypes: null,
  excludeMentalModels: false,
  excludeMentalModelIds: null,
  tagsMatch: null,
  tagGroups: null,
  includeChunks: null,
  recallMaxTokens: null,
  recallChunksMaxTokens: null,
  refreshCron: null,
  minRefreshIntervalSeconds: null,
  responseSchema: null,
  keepTrace: false,
};

const at = (...members: string[]) => ["body", "trigger", ...members];

/** Refuses what the shape of a trigger cannot exclude. Throws `invalid_argument` with the member that is wrong. */
export function checkTrigger(trigger: Trigger): void {
  if (trigger.factTypes?.length === 0) throw valueError(at("fact_types"), "fact_types must not be empty", []);
  if (trigger.refreshCron !== null) {
    if (trigger.refreshAfterConsolidation) {
      throw valueError(at(), "refresh_cron and refresh_after_consolidation exclude each other");
    }
    if (nextTickUs(trigger.refreshCron, 0) === undefined) {
      throw valueError(at("refresh_cron"), "refresh_cron must be a cron expression of five fields", trigger.refreshCron);
    }
  }
  const schema = trigger.responseSchema;
  if (schema !== null && !describesObject(schema)) {
    throw valueError(at("response_schema"), "response_schema must describe an object with at least one property", schema);
  }
}

function describesObject(schema: JsonObject): boolean {
  const { type, properties } = schema as { type?: unknown; properties?: unknown };
  const isObject = type === undefined || type === "object";
  return isObject && typeof properties === "object" && properties !== null && Object.keys(properties).length > 0;
}

interface Scoped {
  readonly tags: readonly string[];
  readonly trigger: Trigger;
}

/** The memories that a model is about. */
export function scopeOf({ tags, trigger }: Scoped): TagFilter {
  if (trigger.tagGroups !== null) return { tags: [], match: "any", groups: trigger.tagGroups };
  return { tags, match: trigger.tagsMatch ?? (tags.length > 0 ? "all_strict" : "any"), groups: [] };
}

/** Whether a consolidation run over units with these tag sets may have changed what the model is about. */
export function mayBeTouchedBy({ tags, trigger }: Scoped, tagSets: readonly (readonly string[])[]): boolean {
  const reachesUntagged =
    trigger.tagGroups !== null || tags.length === 0 || trigger.tagsMatch === "any" || trigger.tagsMatch === "all";
  return reachesUntagged || tagSets.some((set) => set.some((tag) => tags.includes(tag)));
}
