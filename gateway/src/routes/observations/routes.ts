import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { model, optional } from "../../validation/containers.ts";
import { count, deletedAnswer, texts } from "../answer-parts.ts";
import { scopesToProto } from "../memories/retain-convert.ts";
import { observationScopes } from "../memories/retain-schemas.ts";
import { BULK_TIMEOUT_MS, bankParams, bankUrl } from "../request-parts.ts";

export interface ObservationRouteDeps {
  readonly memory: Pick<
    GatewayClients["memory"],
    "clearObservations" | "listObservationScopes" | "consolidate" | "recoverConsolidation"
  >;
}

export function observationRoutes(app: FastifyInstance, { memory }: ObservationRouteDeps): void {
  const tag = "observations";

  route(app, {
    method: "DELETE",
    url: `${bankUrl}/observations`,
    operationId: "clearObservations",
    summary: "Delete all observations and queue all memory units again",
    tag,
    params: bankParams,
    timeoutMs: BULK_TIMEOUT_MS,
    response: deletedAnswer,
    handler: async (ctx, { params }) => {
      const { deletedCount } = await memory.clearObservations(ctx, { bankId: params.bank_id });
      return { success: true, message: `Deleted ${deletedCount} observations`, deleted_count: deletedCount };
    },
  });

  route(app, {
    method: "GET",
    url: `${bankUrl}/observations/scopes`,
    operationId: "listObservationScopes",
    summary: "List the tag sets of observations with their counts",
    tag,
    params: bankParams,
    response: Type.Object({ scopes: Type.Array(Type.Object({ tags: texts, count })) }),
    handler: async (ctx, { params }) => memory.listObservationScopes(ctx, { bankId: params.bank_id }),
  });

  route(app, {
    method: "POST",
    url: `${bankUrl}/consolidate`,
    operationId: "consolidate",
    summary: "Queue a consolidation run",
    tag,
    params: bankParams,
    body: optional(model({ observation_scopes: optional(observationScopes) })),
    response: Type.Object({ operation_id: Type.String(), deduplicated: Type.Boolean() }),
    errors: [400],
    handler: async (ctx, { params: { bank_id: bankId }, body }) => {
      const scopes = body?.observation_scopes;
      const request = { bankId, ...(scopes !== undefined && { observationScopes: scopesToProto(scopes) }) };
      const { operationId, deduplicated } = await memory.consolidate(ctx, request);
      return { operation_id: operationId, deduplicated };
    },
  });

  route(app, {
    method: "POST",
    url: `${bankUrl}/consolidation/recover`,
    operationId: "recoverConsolidation",
    summary: "Queue memory units again whose consolidation failed",
    tag,
    params: bankParams,
    response: Type.Object({ retried_count: count }),
    handler: async (ctx, { params }) => {
      const { retriedCount } = await memory.recoverConsolidation(ctx, { bankId: params.bank_id });
      return { retried_count: retriedCount };
    },
  });
}
