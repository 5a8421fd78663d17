import type { RankingRecord } from "../fact.ts";

interface Supersedable {
  readonly record: RankingRecord;
  score: number;
  behind: number;
}

/** The gap is far below any difference that a feature makes. */
const GAP = 1e-6;

/**
 * Lowers every superseded unit to just below the lowest of those that superseded it, if they are among the units: the
 * current truth comes first and the past stays findable right behind it. A cycle (two edits that name each other) is cut
 * where it is entered.
 */
export function putBehindSuperseding(units: readonly Supersedable[]): void {
  if (units.every((unit) => unit.record.supersededBy.length === 0)) return;
  const byId = new Map(units.map((unit) => [unit.record.unitId, unit]));
  const settled = new Set<Supersedable>();

  const settle = (unit: Supersedable): number => {
    if (settled.has(unit)) return unit.score;
    settled.add(unit);
    for (const unitId of unit.record.supersededBy) {
      const superseding = byId.get(unitId);
      if (superseding === undefined) continue;
      const ceiling = settle(superseding) - GAP;
      if (unit.score <= ceiling) continue;
      unit.behind += unit.score - ceiling;
      unit.score = ceiling;
    }
    return unit.score;
  };
  for (const unit of units) settle(unit);
}
