import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { int, pathId } from "../../validation/scalars.ts";
import { pageOf } from "../answer-parts.ts";
import { anyUuidForm, bankParams, bankUrl, cappedPage } from "../request-parts.ts";
import { noAnswer, withdrawn } from "../withdrawn.ts";
import { entityFromProto, entityGraphFromProto } from "./convert.ts";
import { entityGraph, entityListItem, entityRecord } from "./schemas.ts";

export interface EntityRouteDeps {
  readonly memory: Pick<GatewayClients["memory"], "listEntities" | "getEntity" | "getEntityGraph">;
}

const GRAPH_EDGES_MAX = 10_000; // about 3 MB of JSON, more than any picture can show

export function entityRoutes(app: FastifyInstance, { memory }: EntityRouteDeps): void {
  const tag = "entities";
  const url = `${bankUrl}/entities` as const;
  const entityUrl = `${url}/{entity_id}` as const;
  const params = { ...bankParams, entity_id: pathId() };

  route(app, {
    method: "GET",
    url,
    operationId: "listEntities",
    summary: "List entities, most mentioned first",
    tag,
    params: bankParams,
    query: cappedPage,
    response: pageOf(entityListItem),
    handler: async (ctx, { params: { bank_id: bankId }, query: { limit, offset } }) => {
      const { entities, total } = await memory.listEntities(ctx, { bankId, limit, offset });
      return { items: entities.map(entityFromProto), total, limit, offset };
    },
  });

  route(app, {
    method: "GET",
    url: `${url}/graph`,
    operationId: "getEntityGraph",
    summary: "Read which entities occur together",
    tag,
    params: bankParams,
    query: {
      limit: optional(int({ ge: 0, cap: GRAPH_EDGES_MAX, description: "Most edges" }), 1000),
      min_count: optional(int({ description: "Fewest memory units in which both occur; at least 1" }), 1),
    },
    response: entityGraph,
    handler: async (ctx, { params: { bank_id: bankId }, query: { limit, min_count: minCount } }) =>
      entityGraphFromProto(await memory.getEntityGraph(ctx, { bankId, limit, minCount: Math.max(1, minCount) }), limit),
  });

  route(app, {
    method: "GET",
    url: entityUrl,
    operationId: "getEntity",
    summary: "Read one entity",
    tag,
    params,
    response: entityRecord,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, entity_id } }) => {
      const entityId = anyUuidForm(entity_id);
      return { ...entityFromProto(await memory.getEntity(ctx, { bankId, entityId })), observations: [] };
    },
  });

  route(app, {
    method: "POST",
    url: `${entityUrl}/regenerate`,
    operationId: "regenerateEntity",
    summary: "Withdrawn",
    tag,
    params,
    response: noAnswer,
    errors: [410],
    handler: withdrawn("observations are made by consolidation, see POST …/consolidate"),
  });
}
