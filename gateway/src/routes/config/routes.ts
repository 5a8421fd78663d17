import type { BankConfig } from "@memory-bank/proto/bank/v1/bank";
import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { bankParams, bankUrl } from "../request-parts.ts";
import { bankConfig, configPatchBody } from "./schemas.ts";

export interface ConfigRouteDeps {
  readonly bank: Pick<GatewayClients["bank"], "getBankConfig" | "patchBankConfig" | "resetBankConfig">;
}

export function configRoutes(app: FastifyInstance, { bank }: ConfigRouteDeps): void {
  const tag = "configuration";
  const url = `${bankUrl}/config` as const;

  route(app, {
    method: "GET",
    url,
    operationId: "getBankConfig",
    summary: "Read the resolved configuration",
    tag,
    params: bankParams,
    response: bankConfig,
    handler: async (ctx, { params }) => configFromProto(await bank.getBankConfig(ctx, { bankId: params.bank_id })),
  });

  route(app, {
    method: "PATCH",
    url,
    operationId: "patchBankConfig",
    summary: "Set or clear configuration overrides",
    tag,
    params: bankParams,
    body: configPatchBody,
    response: bankConfig,
    errors: [400],
    handler: async (ctx, { params, body }) =>
      configFromProto(await bank.patchBankConfig(ctx, { bankId: params.bank_id, updates: body.updates })),
  });

  route(app, {
    method: "DELETE",
    url,
    operationId: "resetBankConfig",
    summary: "Remove all configuration overrides",
    tag,
    params: bankParams,
    response: bankConfig,
    handler: async (ctx, { params }) => configFromProto(await bank.resetBankConfig(ctx, { bankId: params.bank_id })),
  });
}

function configFromProto({ bankId, config, overrides }: BankConfig) {
  return { bank_id: bankId, config: config ?? {}, overrides: overrides ?? {} };
}
