import { AppError, isAppError } from "@memory-bank/errors";
import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { bankParams, bankUrl } from "../request-parts.ts";
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
      try {
        return reflectFromProto(await reflect.reflect(ctx, reflectToProto(params.bank_id, body)));
      } catch (cause) {
        if (!isAppError(cause) || cause.code !== "deadline_exceeded") throw cause;
        const text = `Reflect ran past its limit of ${LIMIT_SECONDS} seconds`;
        throw new AppError("deadline_exceeded", "REFLECT_TOO_LONG", text, { cause });
      }
    },
  });
}
