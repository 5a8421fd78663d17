import type { FactFamily } from "../fact.ts";
import type { Link } from "../unit.ts";

const hourUs = 3_600_000_000;
/** Units further apart in time are not linked (contract 12.6). */
export const temporalWindowUs = 24 * hourUs;
/** Links kept per unit, heaviest first. */
export const temporalLinksMax = 20;
export const semanticLinksMax = 50;
const temporalWeightMin = 0.3;

export interface Dated {
  readonly unitId: string;
  readonly eventUs: number;
}

/** Temporal links that start at the new units: to one another and to existing ones, nearest first. */
export function temporalLinks(
  fresh: readonly (Dated & { readonly family: FactFamily })[],
  existingNear: (unitId: string) => readonly Dated[],
): Link[] {
  const links: Link[] = [];
  for (const family of new Set(fresh.map((unit) => unit.family))) {
    const sorted = fresh.filter((unit) => unit.family === family).sort((a, b) => a.eventUs - b.eventUs);
    for (let i = 0; i < sorted.length; i++) {
      const from = sorted[i]!;
      const near = [...neighbours(sorted, i), ...existingNear(from.unitId)].filter((to) => to.unitId !== from.unitId);
      const nearest = near
        .map((to) => ({ to, distanceUs: Math.abs(to.eventUs - from.eventUs) }))
        .filter(({ distanceUs }) => distanceUs <= temporalWindowUs)
        .sort((a, b) => a.distanceUs - b.distanceUs || (a.to.unitId < b.to.unitId ? -1 : 1));
      for (const { to, distanceUs } of nearest.slice(0, temporalLinksMax)) {
        const weight = Math.max(temporalWeightMin, 1 - distanceUs / temporalWindowUs);
        links.push({ fromId: from.unitId, toId: to.unitId, type: "temporal", weight });
      }
    }
  }
  return links;
}

/** The nearest in a sorted list lie next to one another: no more than the cap on either side can count. */
function neighbours(sorted: readonly Dated[], at: number): Dated[] {
  return [...sorted.slice(Math.max(0, at - temporalLinksMax), at), ...sorted.slice(at + 1, at + 1 + temporalLinksMax)];
}
