import type { VectorHit } from "../../vector-index.ts";
import { familyOf } from "../fact.ts";
import { eventUsOf } from "../unit.ts";
import { type Dated, semanticLinksMax, temporalLinksMax, temporalWindowUs } from "./links.ts";
import type { PreparedFact, Surroundings } from "./plan-retain.ts";
import { type RetainBatch, type RetainDeps, yieldToEventLoop } from "./retain-batch.ts";
import type { RetainSettings } from "./retain-settings.ts";

/** Nearest vectors looked at per fact: links need 50, duplicates may hide behind units of other tags. */
const similarMax = 2 * semanticLinksMax;
const minuteUs = 60_000_000;

/** Reads what the bank knows that bears on the facts: likeness, nearness in time, names. Their vectors are in the index already. */
export async function lookAround(
  deps: RetainDeps,
  { bank: { bankUid } }: RetainBatch,
  facts: readonly PreparedFact[],
  documentIds: ReadonlySet<string>,
  settings: RetainSettings,
): Promise<Surroundings> {
  const { store, vectors } = deps;
  const minScore = Math.min(settings.semanticLinkMin, settings.duplicateThreshold);
  const similar = new Map<string, VectorHit[]>();
  const nearInTime = new Map<string, readonly Dated[]>();
  const nearByMinute = new Map<string, Promise<readonly Dated[]>>();
  for (const [index, { unitId, vector, fact, mentionedAtUs }] of facts.entries()) {
    const family = familyOf(fact.type);
    similar.set(unitId, await vectors.search(bankUid, vector, { limit: similarMax, minScore, families: [family] }));
    const eventUs = eventUsOf({ occurredStartUs: fact.occurredStartUs, mentionedAtUs });
    if (eventUs !== undefined) {
      // Facts of one minute have the same neighbours to within a rounding of their weights.
      const minute = `${family} ${Math.floor(eventUs / minuteUs)}`;
      const near = nearByMinute.get(minute) ?? store.nearestInTime(bankUid, family, eventUs, temporalWindowUs, temporalLinksMax);
      nearByMinute.set(minute, near);
      nearInTime.set(unitId, await near);
    }
    if (index % 64 === 63) await yieldToEventLoop();
  }
  const own = new Set(facts.map((fact) => fact.unitId));
  const twins = new Set<string>();
  for (const hits of similar.values()) {
    for (const { unitId, score } of hits) if (score > settings.duplicateThreshold && !own.has(unitId)) twins.add(unitId);
  }
  const summaries = await store.summaries(bankUid, [...twins]);
  return {
    entities: await store.entityNames(bankUid),
    cooccurring: (entityId) => store.cooccurringIds(bankUid, entityId),
    similar: (unitId) => similar.get(unitId) ?? [],
    summaries: new Map(summaries.map((summary) => [summary.unitId, summary])),
    nearInTime: (unitId) => nearInTime.get(unitId) ?? [],
    replacedDocumentIds: documentIds,
  };
}
