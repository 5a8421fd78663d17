import { AppError } from "@memory-bank/errors";
import type { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { defined, entityToProto, tagFilterFromProto, unitToProto } from "../convert.ts";
import { type MemoryDeps, readableUid } from "../memory-deps.ts";
import { searchOf } from "./memories.ts";

type Entities = Pick<
  Rpc<typeof MemoryServiceService>,
  "listTags" | "getEntityGraph" | "listEntities" | "getEntity" | "getMemoryGraph"
>;

export const entityHandlers = (deps: MemoryDeps): Entities => ({
  async listTags(ctx, { bankId, pattern, limit, offset }) {
    const { items, total } = await deps.store.listTags(await readableUid(deps, ctx, bankId), pattern, { limit, offset });
    return { tags: items.map(({ tag, count }) => ({ tag, count })), total };
  },

  async getEntityGraph(ctx, { bankId, limit, minCount }) {
    const { nodes, edges } = await deps.store.entityGraph(await readableUid(deps, ctx, bankId), limit, Math.max(1, minCount));
    return {
      nodes: nodes.map(entityToProto),
      edges: edges.map(({ sourceId, targetId, weight, lastUs }) => ({
        sourceId,
        targetId,
        weight,
        ...defined({ lastCooccurredUs: lastUs }),
      })),
    };
  },

  async listEntities(ctx, { bankId, limit, offset }) {
    const { items, total } = await deps.store.listEntities(await readableUid(deps, ctx, bankId), { limit, offset });
    return { entities: items.map(entityToProto), total };
  },

  async getEntity(ctx, { bankId, entityId }) {
    const entity = await deps.store.findEntity(await readableUid(deps, ctx, bankId), entityId);
    if (!entity) throw new AppError("not_found", "ENTITY_NOT_FOUND", `Entity '${entityId}' not found`);
    return entityToProto(entity);
  },

  async getMemoryGraph(ctx, request) {
    const bankUid = await readableUid(deps, ctx, request.bankId);
    const { items: units, total } = await deps.store.listUnits(bankUid, {
      ...searchOf(request.query),
      state: "valid",
      ...(request.tags ? { tags: tagFilterFromProto(request.tags) } : {}),
      ...defined({ type: request.type, documentId: request.documentId, chunkId: request.chunkId }),
      limit: request.limit,
      offset: 0,
    });
    const shown = new Set(units.map((unit) => unit.unitId));
    const stored = await deps.store.linksOf(bankUid, [...shown], ["temporal", "semantic", "caused_by"]);
    const links = stored
      .filter((link) => shown.has(link.fromId) && shown.has(link.toId))
      .map(({ fromId, toId, type, weight }) => ({ fromId, toId, type, weight }));
    return {
      units: units.map((unit) => unitToProto(request.bankId, unit)),
      links: [...links, ...entityLinks(units)],
      totalUnits: total,
    };
  },
});

/** Consecutive bearers of an entity, each joined to the one before: enough for a picture, linear in the mentions. */
function entityLinks(units: readonly { unitId: string; entities: readonly { entityId: string; name: string }[] }[]) {
  const lastBearer = new Map<string, string>();
  const links = [];
  for (const { unitId, entities } of units) {
    for (const { entityId, name } of entities) {
      const previous = lastBearer.get(entityId);
      if (previous !== undefined) links.push({ fromId: unitId, toId: previous, type: "entity", weight: 1, entityName: name });
      lastBearer.set(entityId, unitId);
    }
  }
  return links;
}
