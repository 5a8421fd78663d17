import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { bankParams, bankUrl } from "../request-parts.ts";
import { withinLimit } from "../within-limit.ts";
import { reflectFromProto, reflectToProto } from "./convert.ts";
import { reflectAnswer, reflectBody } from "./schemas.ts";

export interface ReflectRouteDeps {
  readonly reflect: Pick<GatewayClients["reflect"], "reflect">;
}

const LIMIT_SECONDS = 300; // several rounds with a slow model; nobody waits longer for an answer

export function reflectRoutes(app: FastifyInstance, { reflect }: ReflectRouteDeps): void {
  route(app, {
    method: "POST",
    url: `${bankUrl}/reflect`,
    operationId: "reflect",
    summary: "Answer a question from a bank's memories",
    tag: "reflect",
    params: bankParams,
    body: reflectBody,
    response: reflectAnswer,
    errors: [400, 504],
    timeoutMs: LIMIT_SECONDS * 1000,
    handler: async (ctx, { params, body }) => {
      const call = reflect.reflect(ctx, reflectToProto(params.bank_id, body));
      return reflectFromProto(await withinLimit("Reflect", LIMIT_SECONDS, call));
    },
  });
}
