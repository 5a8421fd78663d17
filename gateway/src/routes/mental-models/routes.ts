import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { literal, pathId } from "../../validation/scalars.ts";
import { deletedStatus } from "../answer-parts.ts";
import { bankParams, bankUrl, boundedPage } from "../request-parts.ts";
import { tagFilterToProto, tagQuery } from "../tag-filter.ts";
import { mentalModelChangeToProto, mentalModelFromProto, versionFromProto } from "./convert.ts";
import {
  createdMentalModel,
  detailQuery,
  mentalModel,
  mentalModelChange,
  mentalModelHistory,
  mentalModelPage,
  newMentalModel,
  queuedRefresh,
} from "./schemas.ts";
import { defaultTrigger, triggerToProto } from "./trigger.ts";

export interface MentalModelRouteDeps {
  readonly reflect: Pick<
    GatewayClients["reflect"],
    | "createMentalModel"
    | "getMentalModel"
    | "listMentalModels"
    | "updateMentalModel"
    | "deleteMentalModel"
    | "refreshMentalModel"
    | "clearMentalModel"
    | "getMentalModelHistory"
  >;
}

const MODELS_LISTED = 100; // when the caller names no limit
const MODELS_LISTED_MAX = 1000;

export function mentalModelRoutes(app: FastifyInstance, { reflect }: MentalModelRouteDeps): void {
  const tag = "mental models";
  const url = `${bankUrl}/mental-models` as const;
  const oneUrl = `${url}/{mental_model_id}` as const;
  const oneParams = { ...bankParams, mental_model_id: pathId() };
  const named = (params: { bank_id: string; mental_model_id: string }, detail = "") => ({
    bankId: params.bank_id,
    mentalModelId: params.mental_model_id,
    detail,
  });

  route(app, {
    method: "POST",
    url,
    operationId: "createMentalModel",
    summary: "Create a standing answer and queue its first refresh",
    tag,
    params: bankParams,
    body: newMentalModel,
    response: createdMentalModel,
    errors: [400, 409],
    handler: async (ctx, { params, body }) => {
      const { mentalModelId, operationId } = await reflect.createMentalModel(ctx, {
        bankId: params.bank_id,
        id: body.id,
        name: body.name,
        sourceQuery: body.source_query,
        maxTokens: body.max_tokens,
        tags: body.tags,
        trigger: triggerToProto(body.trigger ?? defaultTrigger),
      });
      return { mental_model_id: mentalModelId, operation_id: operationId };
    },
  });

  route(app, {
    method: "GET",
    url,
    operationId: "listMentalModels",
    summary: "List mental models, last refreshed first",
    tag,
    params: bankParams,
    query: {
      ...tagQuery,
      tags_match: optional(literal(["any", "all", "exact"]), "any"),
      ...detailQuery,
      ...boundedPage(MODELS_LISTED, MODELS_LISTED_MAX),
    },
    response: mentalModelPage,
    handler: async (ctx, { params, query: { tags, tags_match, detail, limit, offset } }) => {
      const { models, total } = await reflect.listMentalModels(ctx, {
        bankId: params.bank_id,
        tags: tagFilterToProto({ tags, tags_match }),
        detail,
        limit,
        offset,
      });
      return { items: models.map((model) => mentalModelFromProto(model, detail)), total, limit, offset };
    },
  });

  route(app, {
    method: "GET",
    url: oneUrl,
    operationId: "getMentalModel",
    summary: "Read one mental model",
    tag,
    params: oneParams,
    query: detailQuery,
    response: mentalModel,
    errors: [404],
    handler: async (ctx, { params, query: { detail } }) =>
      mentalModelFromProto(await reflect.getMentalModel(ctx, named(params, detail)), detail),
  });

  route(app, {
    method: "PATCH",
    url: oneUrl,
    operationId: "updateMentalModel",
    summary: "Change the given members of a mental model",
    description: "The trigger is replaced as a whole. A changed source_query makes the model stale but starts no refresh.",
    tag,
    params: oneParams,
    body: mentalModelChange,
    response: mentalModel,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, mental_model_id: mentalModelId }, body }) =>
      mentalModelFromProto(await reflect.updateMentalModel(ctx, mentalModelChangeToProto({ bankId, mentalModelId }, body))),
  });

  route(app, {
    method: "DELETE",
    url: oneUrl,
    operationId: "deleteMentalModel",
    summary: "Delete a mental model and its history",
    tag,
    params: oneParams,
    response: deletedStatus,
    errors: [404],
    handler: async (ctx, { params }) => {
      await reflect.deleteMentalModel(ctx, named(params));
      return { status: "deleted" as const };
    },
  });

  route(app, {
    method: "POST",
    url: `${oneUrl}/refresh`,
    operationId: "refreshMentalModel",
    summary: "Queue a refresh, or find the one that is pending",
    tag,
    params: oneParams,
    response: queuedRefresh,
    errors: [400, 404],
    handler: async (ctx, { params }) => {
      const { operationId } = await reflect.refreshMentalModel(ctx, named(params));
      return { operation_id: operationId, status: "queued" as const };
    },
  });

  route(app, {
    method: "POST",
    url: `${oneUrl}/clear`,
    operationId: "clearMentalModel",
    summary: "Empty a mental model",
    tag,
    params: oneParams,
    response: mentalModel,
    errors: [404],
    handler: async (ctx, { params }) => mentalModelFromProto(await reflect.clearMentalModel(ctx, named(params))),
  });

  route(app, {
    method: "GET",
    url: `${oneUrl}/history`,
    operationId: "getMentalModelHistory",
    summary: "Read earlier contents, newest first",
    tag,
    params: oneParams,
    response: mentalModelHistory,
    errors: [404],
    handler: async (ctx, { params }) => {
      const { versions } = await reflect.getMentalModelHistory(ctx, named(params));
      return versions.map(versionFromProto);
    },
  });
}
