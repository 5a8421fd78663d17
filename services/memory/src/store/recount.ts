import { expect } from "vitest";
import type { FactType } from "../domain/fact.ts";
import type { LinkType, Unit } from "../domain/unit.ts";
import type { MemoryStore } from "../memory-store.ts";

/** Compares every count that a store answers with a plain recount of its live rows; for tests. */
export async function expectTrueCounts(store: MemoryStore, bankUid: string): Promise<void> {
  const everything = { limit: 1_000_000, offset: 0 };
  const { items: units, total } = await store.listUnits(bankUid, { state: "valid", ...everything });
  expect(total, "total of the list").toBe(units.length);
  const stats = await store.stats(bankUid);
  expect(Object.fromEntries(stats.nodesByType), "nodes by type").toEqual(tally(units.map((unit) => unit.type)));
  expect(toObject(stats.links), "links by type").toEqual(await countLinks(store, bankUid, units));
  expect(stats.documents, "documents").toBe((await store.listDocuments(bankUid, everything)).total);
  const raw = units.filter((unit) => unit.type !== "observation");
  const isPending = (unit: Unit) => unit.consolidatedAtUs === undefined && unit.consolidationFailedAtUs === undefined;
  expect(stats.pendingConsolidation, "pending").toBe(raw.filter(isPending).length);
  expect(stats.failedConsolidation, "failed").toBe(raw.filter((unit) => unit.consolidationFailedAtUs !== undefined).length);

  const tags = await store.listTags(bankUid, undefined, everything);
  expect(Object.fromEntries(tags.items.map(({ tag, count }) => [tag, count])), "tags").toEqual(
    tally(units.flatMap((unit) => [...unit.tags])),
  );
  expect(tags.total).toBe(tags.items.length);
  await expectTrueEntities(store, bankUid, units);
}

async function expectTrueEntities(store: MemoryStore, bankUid: string, units: readonly Unit[]): Promise<void> {
  const { items, total } = await store.listEntities(bankUid, { limit: 1_000_000, offset: 0 });
  expect(total, "entities").toBe(items.length);
  const mentions = tally(units.flatMap((unit) => unit.entities.map((entity) => entity.entityId)));
  expect(Object.fromEntries(items.map((entity) => [entity.entityId, entity.mentionCount])), "mentions").toEqual(mentions);
  for (const entity of items) {
    const dates = units
      .filter((unit) => carries(unit, entity.entityId))
      .flatMap((unit) => unit.occurredStartUs ?? unit.mentionedAtUs ?? []);
    const seen = dates.length === 0 ? [undefined, undefined] : [Math.min(...dates), Math.max(...dates)];
    expect([entity.firstSeenUs, entity.lastSeenUs], `dates of ${entity.name}`).toEqual(seen);
  }
  const pairs = units.flatMap((unit) => {
    const ids = unit.entities.map((entity) => entity.entityId).sort();
    return ids.flatMap((a, i) => ids.slice(i + 1).map((b) => `${a} ${b}`));
  });
  const { edges } = await store.entityGraph(bankUid, 1_000_000, 1);
  expect(Object.fromEntries(edges.map((edge) => [`${edge.sourceId} ${edge.targetId}`, edge.weight])), "co-occurrence").toEqual(
    tally(pairs),
  );
}

/** Stored links by type of their source, and the derived entity links of contract 3.6. */
async function countLinks(
  store: MemoryStore,
  bankUid: string,
  units: readonly Unit[],
): Promise<Record<string, Record<string, number>>> {
  const types = new Map(units.map((unit) => [unit.unitId, unit.type]));
  const links = await store.linksOf(bankUid, [...types.keys()], ["temporal", "semantic", "caused_by"]);
  const counts: Record<string, Record<string, number>> = {};
  const add = (type: FactType, linkType: LinkType | "entity") => {
    counts[type] ??= {};
    counts[type][linkType] = (counts[type][linkType] ?? 0) + 1;
  };
  for (const link of links) {
    expect(types.has(link.fromId) && types.has(link.toId), "both ends of a link are live").toBe(true);
    add(types.get(link.fromId)!, link.type);
  }
  const entityIds = new Set(units.flatMap((unit) => unit.entities.map((entity) => entity.entityId)));
  for (const entityId of entityIds) {
    const bearers = units
      .filter((unit) => carries(unit, entityId))
      .sort((a, b) => a.createdAtUs - b.createdAtUs || (a.unitId < b.unitId ? -1 : 1));
    for (const bearer of bearers.slice(1, 11)) add(bearer.type, "entity");
  }
  return counts;
}

const carries = (unit: Unit, entityId: string) => unit.entities.some((entity) => entity.entityId === entityId);

function tally(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

function toObject(links: ReadonlyMap<string, ReadonlyMap<string, number>>): Record<string, Record<string, number>> {
  return Object.fromEntries([...links].map(([type, counts]) => [type, Object.fromEntries(counts)]));
}
