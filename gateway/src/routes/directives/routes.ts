import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { bool, literal, pathId } from "../../validation/scalars.ts";
import { deletedStatus } from "../answer-parts.ts";
import { bankParams, bankUrl, boundedPage } from "../request-parts.ts";
import { tagFilterToProto, tagQuery } from "../tag-filter.ts";
import { directiveChangeToProto, directiveFromProto } from "./convert.ts";
import { directive, directiveChange, directivePage, newDirective } from "./schemas.ts";

export interface DirectiveRouteDeps {
  readonly bank: Pick<
    GatewayClients["bank"],
    "createDirective" | "getDirective" | "updateDirective" | "listDirectives" | "deleteDirective"
  >;
}

const DIRECTIVES_LISTED = 100; // when the caller names no limit
const DIRECTIVES_LISTED_MAX = 1000;

export function directiveRoutes(app: FastifyInstance, { bank }: DirectiveRouteDeps): void {
  const tag = "directives";
  const url = `${bankUrl}/directives` as const;
  const oneUrl = `${url}/{directive_id}` as const;
  const oneParams = { ...bankParams, directive_id: pathId() };

  route(app, {
    method: "POST",
    url,
    operationId: "createDirective",
    summary: "Add a rule that reflect follows",
    tag,
    params: bankParams,
    body: newDirective,
    response: directive,
    handler: async (ctx, { params, body: { is_active: isActive, ...members } }) =>
      directiveFromProto(await bank.createDirective(ctx, { bankId: params.bank_id, isActive, ...members })),
  });

  route(app, {
    method: "GET",
    url,
    operationId: "listDirectives",
    summary: "List directives, most important first",
    tag,
    params: bankParams,
    query: {
      ...tagQuery,
      tags_match: optional(literal(["any", "all", "exact"]), "any"),
      active_only: optional(bool(), true),
      ...boundedPage(DIRECTIVES_LISTED, DIRECTIVES_LISTED_MAX),
    },
    response: directivePage,
    handler: async (ctx, { params, query: { tags, tags_match, active_only: activeOnly, limit, offset } }) => {
      const { directives, total } = await bank.listDirectives(ctx, {
        bankId: params.bank_id,
        tags: tagFilterToProto({ tags, tags_match }),
        activeOnly,
        limit,
        offset,
      });
      return { items: directives.map(directiveFromProto), total, limit, offset };
    },
  });

  route(app, {
    method: "GET",
    url: oneUrl,
    operationId: "getDirective",
    summary: "Read one directive",
    tag,
    params: oneParams,
    response: directive,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, directive_id: directiveId } }) =>
      directiveFromProto(await bank.getDirective(ctx, { bankId, directiveId })),
  });

  route(app, {
    method: "PATCH",
    url: oneUrl,
    operationId: "updateDirective",
    summary: "Change the given members of a directive",
    tag,
    params: oneParams,
    body: directiveChange,
    response: directive,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, directive_id: directiveId }, body }) =>
      directiveFromProto(await bank.updateDirective(ctx, directiveChangeToProto({ bankId, directiveId }, body))),
  });

  route(app, {
    method: "DELETE",
    url: oneUrl,
    operationId: "deleteDirective",
    summary: "Delete a directive",
    tag,
    params: oneParams,
    response: deletedStatus,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, directive_id: directiveId } }) => {
      await bank.deleteDirective(ctx, { bankId, directiveId });
      return { status: "deleted" as const };
    },
  });
}
