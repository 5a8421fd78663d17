import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { pathId, str } from "../../validation/scalars.ts";
import { count, deletedAnswer, pageOf } from "../answer-parts.ts";
import { BULK_TIMEOUT_MS, bankParams, bankUrl, filterText } from "../request-parts.ts";
import { withinLimit } from "../within-limit.ts";
import {
  listMemoriesToProto,
  memoryChangeFromProto,
  memoryFromProto,
  memoryIdOf,
  memoryListItemFromProto,
  updateMemoryToProto,
} from "./convert.ts";
import { recallFromProto, recallToProto } from "./recall-convert.ts";
import { recallAnswer, recallBody } from "./recall-schemas.ts";
import { retainFromProto, retainToProto } from "./retain-convert.ts";
import { retainAnswer, retainBody } from "./retain-schemas.ts";
import { memoryHistory, memoryListItem, memoryListQuery, memoryPatchBody, memoryRecord } from "./schemas.ts";

export interface MemoryRouteDeps {
  readonly memory: Pick<
    GatewayClients["memory"],
    | "retain"
    | "recall"
    | "listMemories"
    | "getMemory"
    | "getMemoryHistory"
    | "updateMemory"
    | "clearMemories"
    | "clearMemoryObservations"
  >;
}

/** Wall limits that the contract promises; past them the answer is 504. */
const RETAIN_SECONDS_MAX = 3600;
const RECALL_SECONDS_MAX = 30;

export function memoryRoutes(app: FastifyInstance, { memory }: MemoryRouteDeps): void {
  const tag = "memories";
  const url = `${bankUrl}/memories` as const;
  const memoryUrl = `${url}/{memory_id}` as const;
  const memoryParams = { ...bankParams, memory_id: pathId() };

  route(app, {
    method: "POST",
    url,
    operationId: "retainMemories",
    summary: "Remember texts",
    tag,
    params: bankParams,
    body: retainBody,
    response: retainAnswer,
    errors: [400, 409, 504],
    timeoutMs: RETAIN_SECONDS_MAX * 1000,
    handler: async (ctx, { params: { bank_id: bankId }, body }) => {
      const request = retainToProto(bankId, body);
      const answer = await withinLimit("Retain", RETAIN_SECONDS_MAX, memory.retain(ctx, request));
      return retainFromProto(bankId, body.async, answer);
    },
  });

  route(app, {
    method: "POST",
    url: `${url}/recall`,
    operationId: "recallMemories",
    summary: "Search memories",
    tag,
    params: bankParams,
    body: recallBody,
    response: recallAnswer,
    errors: [400, 504],
    timeoutMs: RECALL_SECONDS_MAX * 1000,
    handler: async (ctx, { params, body }) => {
      const request = recallToProto(params.bank_id, body);
      return recallFromProto(request, await withinLimit("Recall", RECALL_SECONDS_MAX, memory.recall(ctx, request)));
    },
  });

  route(app, {
    method: "GET",
    url: `${url}/list`,
    operationId: "listMemories",
    summary: "List memory units, last said first",
    tag,
    params: bankParams,
    query: memoryListQuery,
    response: pageOf(memoryListItem),
    errors: [400],
    handler: async (ctx, { params, query }) => {
      const { units, total } = await memory.listMemories(ctx, listMemoriesToProto(params.bank_id, query));
      return { items: units.map(memoryListItemFromProto), total, limit: query.limit, offset: query.offset };
    },
  });

  route(app, {
    method: "DELETE",
    url,
    operationId: "clearMemories",
    summary: "Delete memory units of one kind, or all with their documents and entities",
    tag,
    params: bankParams,
    query: { type: optional(str({ description: "Only the family of this fact type" })) },
    timeoutMs: BULK_TIMEOUT_MS,
    response: deletedAnswer,
    handler: async (ctx, { params: { bank_id: bankId }, query }) => {
      const type = filterText(query.type);
      const { deletedCount } = await memory.clearMemories(ctx, { bankId, ...(type !== undefined && { type }) });
      return { success: true, message: `Deleted ${deletedCount} memory units`, deleted_count: deletedCount };
    },
  });

  route(app, {
    method: "GET",
    url: memoryUrl,
    operationId: "getMemory",
    summary: "Read one memory unit",
    tag,
    params: memoryParams,
    response: memoryRecord,
    errors: [400, 404],
    handler: async (ctx, { params }) =>
      memoryFromProto(await memory.getMemory(ctx, { bankId: params.bank_id, memoryId: memoryIdOf(params.memory_id) })),
  });

  route(app, {
    method: "PATCH",
    url: memoryUrl,
    operationId: "updateMemory",
    summary: "Edit, invalidate or restore a memory unit",
    tag,
    params: memoryParams,
    body: memoryPatchBody,
    response: memoryRecord,
    errors: [400, 404],
    handler: async (ctx, { params, body }) => {
      const request = updateMemoryToProto(params.bank_id, memoryIdOf(params.memory_id), body);
      return memoryFromProto(await memory.updateMemory(ctx, request));
    },
  });

  route(app, {
    method: "GET",
    url: `${memoryUrl}/history`,
    operationId: "getMemoryHistory",
    summary: "Read the changes of an observation, oldest first",
    tag,
    params: memoryParams,
    response: memoryHistory,
    errors: [400, 404],
    handler: async (ctx, { params }) => {
      const request = { bankId: params.bank_id, memoryId: memoryIdOf(params.memory_id) };
      return (await memory.getMemoryHistory(ctx, request)).changes.map(memoryChangeFromProto);
    },
  });

  route(app, {
    method: "DELETE",
    url: `${memoryUrl}/observations`,
    operationId: "clearMemoryObservations",
    summary: "Delete the observations drawn from one memory unit",
    tag,
    params: memoryParams,
    response: Type.Object({ deleted_count: count }),
    errors: [400, 404],
    handler: async (ctx, { params }) => {
      const request = { bankId: params.bank_id, memoryId: memoryIdOf(params.memory_id) };
      return { deleted_count: (await memory.clearMemoryObservations(ctx, request)).deletedCount };
    },
  });
}
