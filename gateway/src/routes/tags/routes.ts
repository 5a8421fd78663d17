import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { literal, str } from "../../validation/scalars.ts";
import { count, pageOf } from "../answer-parts.ts";
import { bankParams, bankUrl, cappedPage, filterText } from "../request-parts.ts";

export interface TagRouteDeps {
  readonly memory: Pick<GatewayClients["memory"], "listTags">;
  readonly reflect: Pick<GatewayClients["reflect"], "listMentalModelTags">;
}

export function tagRoutes(app: FastifyInstance, { memory, reflect }: TagRouteDeps): void {
  route(app, {
    method: "GET",
    url: `${bankUrl}/tags`,
    operationId: "listTags",
    summary: "List tags with their counts, most used first",
    tag: "tags",
    params: bankParams,
    query: {
      q: optional(str({ description: "Pattern over the whole tag, ignoring case; `*` is any run of characters" })),
      source: optional(literal(["memories", "mental_models"]), "memories"),
      ...cappedPage,
    },
    response: pageOf(Type.Object({ tag: Type.String(), count })),
    handler: async (ctx, { params: { bank_id: bankId }, query: { q, source, limit, offset } }) => {
      const pattern = filterText(q);
      const request = { bankId, ...(pattern !== undefined && { pattern }), limit, offset };
      const { tags, total } = await (source === "memories"
        ? memory.listTags(ctx, request)
        : reflect.listMentalModelTags(ctx, request));
      return { items: tags.map(({ tag, count }) => ({ tag, count })), total, limit, offset };
    },
  });
}
