import type { EntityMention } from "../fact.ts";

/** One group of a bank's vocabulary (`entity_labels`), as the configuration holds it. */
export interface EntityLabelGroup {
  readonly key: string;
  readonly description?: string;
  /** `value`: one of the values; `multi-values`: any of them; `text`: free text; `map`: fields that are groups themselves. */
  readonly type?: "value" | "multi-values" | "text" | "map";
  readonly values?: readonly (string | { readonly value: string; readonly description?: string })[] | null;
  readonly fields?: readonly EntityLabelGroup[] | null;
}

/** Labels of a map are named by both keys. */
const fieldMark = ".";

/** The labels that the vocabulary allows, as entities named `key:value`, in the spelling of the vocabulary; others are dropped. */
export function labelEntities(
  labels: readonly { readonly key: string; readonly value: string }[],
  groups: readonly EntityLabelGroup[],
): EntityMention[] {
  const byKey = new Map(
    groups.flatMap((group) =>
      group.type === "map"
        ? (group.fields ?? []).map((field) => [`${group.key}${fieldMark}${field.key}`, field] as const)
        : [[group.key, group] as const],
    ),
  );
  const names = new Set<string>();
  const answered = new Set<string>();
  for (const { key, value } of labels) {
    const group = byKey.get(key);
    const spelled = group && spelling(group, value.trim());
    if (!group || spelled === undefined) continue;
    // Only groups of several values take more than one.
    if (group.type !== "multi-values" && answered.has(key)) continue;
    answered.add(key);
    names.add(`${key}:${spelled}`);
  }
  return [...names].map((name) => ({ name, kind: "LABEL" }));
}

function spelling({ type, values }: EntityLabelGroup, value: string): string | undefined {
  if (value === "") return undefined;
  if (type === "text" || !values || values.length === 0) return value;
  const spellings = values.map((allowed) => (typeof allowed === "string" ? allowed : allowed.value));
  return spellings.find((allowed) => allowed.toLowerCase() === value.toLowerCase());
}
