import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { bankParams, bankUrl } from "../request-parts.ts";
import { memoryGraphFromProto, memoryGraphToProto } from "./convert.ts";
import { graphQuery, memoryGraph } from "./schemas.ts";

export interface GraphRouteDeps {
  readonly memory: Pick<GatewayClients["memory"], "getMemoryGraph">;
}

export function graphRoutes(app: FastifyInstance, { memory }: GraphRouteDeps): void {
  route(app, {
    method: "GET",
    url: `${bankUrl}/graph`,
    operationId: "getMemoryGraph",
    summary: "Read memory units and their links for a picture",
    tag: "memories",
    params: bankParams,
    query: graphQuery,
    response: memoryGraph,
    handler: async (ctx, { params, query }) => {
      const request = memoryGraphToProto(params.bank_id, query);
      return memoryGraphFromProto(await memory.getMemoryGraph(ctx, request), query.limit);
    },
  });
}
