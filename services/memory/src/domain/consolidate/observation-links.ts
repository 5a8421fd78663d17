import type { MemoryStore } from "../../memory-store.ts";
import type { VectorIndex } from "../../vector-index.ts";
import { semanticLinksMax, temporalLinks, temporalLinksMax, temporalWindowUs } from "../retain/links.ts";
import { eventUsOf, type Link } from "../unit.ts";

interface Linkable {
  readonly unitId: string;
  readonly occurredStartUs: number | undefined;
  readonly mentionedAtUs: number | undefined;
}

/** Temporal and semantic links of written observations to those that the bank holds, by the rules for any unit (contract 12.6). */
export async function linksOfObservations(
  deps: { readonly store: MemoryStore; readonly vectors: VectorIndex },
  bankUid: string,
  observations: readonly Linkable[],
  vectors: ReadonlyMap<string, Float32Array>,
  minScore: number,
): Promise<Link[]> {
  const links: Link[] = [];
  for (const observation of observations) {
    const { unitId } = observation;
    const search = { limit: semanticLinksMax + 1, minScore, families: ["observation"] } as const;
    const hits = await deps.vectors.search(bankUid, vectors.get(unitId)!, search);
    for (const hit of hits.filter((found) => found.unitId !== unitId).slice(0, semanticLinksMax)) {
      links.push({ fromId: unitId, toId: hit.unitId, type: "semantic", weight: Math.min(1, hit.score) });
    }
    const eventUs = eventUsOf(observation);
    if (eventUs === undefined) continue;
    const near = await deps.store.nearestInTime(bankUid, "observation", eventUs, temporalWindowUs, temporalLinksMax + 1);
    links.push(...temporalLinks([{ unitId, eventUs, family: "observation" }], () => near));
  }
  return links;
}
