import { type FactFamily, type FactType, factTypes, familyOf } from "../fact.ts";
import { isOpenFilter, matchesTags, type TagFilter } from "../tags.ts";
import type { RecallIndexView } from "./recall-index-view.ts";

/** What a recall may answer with. */
export interface RecallFilter extends TagFilter {
  /** `world` stands for its whole family, the others for themselves; undefined means every type. Unknown values match nothing. */
  readonly types?: readonly string[];
}

/** A unit's type and tags as one string: what a filter decides on. Units that share it are decided once. */
export function filterClassOf(unit: FilterClass): string {
  return JSON.stringify([unit.type, unit.tags]);
}

export interface FilterClass {
  readonly type: FactType;
  readonly tags: readonly string[];
}

/** By unit slot: 1 when the unit passes. Free slots have no meaning. */
export function admitUnits(view: RecallIndexView, filter: RecallFilter): Uint8Array {
  const admitted = new Uint8Array(view.records.length);
  if (filter.types === undefined && isOpenFilter(filter)) return admitted.fill(1);
  const classes = view.filterClasses;
  const isClassAdmitted = Uint8Array.from({ length: classes.idCount }, (_, id) => {
    if (classes.usesOf(id) === 0) return 0;
    const [type, tags] = JSON.parse(classes.valueOf(id)) as [FactType, string[]];
    return isTypeAdmitted(type, filter.types) && matchesTags(tags, filter) ? 1 : 0;
  });
  for (let unit = 0; unit < admitted.length; unit++) admitted[unit] = isClassAdmitted[view.unitFilterClass[unit]!]!;
  return admitted;
}

function isTypeAdmitted(type: FactType, types: readonly string[] | undefined): boolean {
  return types === undefined || types.includes(type) || (familyOf(type) === "world" && types.includes("world"));
}

/** What to limit a vector search to so that all its hits pass the filter. */
export interface SearchScope {
  readonly families?: readonly FactFamily[];
  readonly only?: ReadonlySet<string>;
}

/** Families when they say all, else the ids of the units that pass. */
export function searchScope(view: RecallIndexView, filter: RecallFilter): SearchScope {
  const types = factTypes.filter((type) => isTypeAdmitted(type, filter.types));
  const families = new Set(types.map(familyOf));
  const areFamiliesWhole = factTypes.every((type) => types.includes(type) === families.has(familyOf(type)));
  if (isOpenFilter(filter) && areFamiliesWhole) return filter.types === undefined ? {} : { families: [...families] };
  const admitted = admitUnits(view, filter);
  const only = new Set<string>();
  for (let unit = 0; unit < admitted.length; unit++) {
    const record = view.records[unit];
    if (record !== undefined && admitted[unit] === 1) only.add(record.unitId);
  }
  return { only };
}
