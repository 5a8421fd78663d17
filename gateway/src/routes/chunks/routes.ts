import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { pathId } from "../../validation/scalars.ts";
import { anyUuidForm } from "../request-parts.ts";
import { chunkFromProto } from "./convert.ts";
import { chunkRecord } from "./schemas.ts";

export interface ChunkRouteDeps {
  readonly memory: Pick<GatewayClients["memory"], "getChunk">;
}

export function chunkRoutes(app: FastifyInstance, { memory }: ChunkRouteDeps): void {
  route(app, {
    method: "GET",
    url: "/v1/default/chunks/{chunk_id}",
    operationId: "getChunk",
    summary: "Read one chunk of any bank that the key may use",
    tag: "documents",
    params: { chunk_id: pathId() },
    response: chunkRecord,
    errors: [404],
    handler: async (ctx, { params }) => chunkFromProto(await memory.getChunk(ctx, { chunkId: anyUuidForm(params.chunk_id) })),
  });
}
