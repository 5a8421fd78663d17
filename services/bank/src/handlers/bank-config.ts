import { requireBankScope } from "@memory-bank/context";
import type { BankConfig, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import { jsonFromProto } from "../convert.ts";
import { findOwnBank, type HandlerDeps } from "../deps.ts";
import type { Bank } from "../domain/bank.ts";
import { type ConfigValues, resolveConfig, type UpperLayers } from "../domain/bank-config.ts";
import type { JsonObject } from "../domain/json.ts";
import { putBank } from "./banks.ts";

type BankRpc = Rpc<typeof BankServiceService>;

export const createGetBankConfigHandler =
  (deps: HandlerDeps): BankRpc["getBankConfig"] =>
  async (ctx, { bankId }) => {
    const { tenantId } = requireBankScope(ctx, bankId);
    const bank = await findOwnBank(deps, ctx, bankId);
    return configAnswer(deps, tenantId, bankId, bank?.overrides ?? {});
  };

export const createPatchBankConfigHandler =
  (deps: HandlerDeps): BankRpc["patchBankConfig"] =>
  async (ctx, { bankId, updates }) => {
    const bank = await putBank(deps, ctx, bankId, { overrides: jsonFromProto(updates) });
    return configAnswer(deps, bank.tenantId, bankId, bank.overrides);
  };

export const createResetBankConfigHandler =
  (deps: HandlerDeps): BankRpc["resetBankConfig"] =>
  async (ctx, { bankId }) => {
    const { tenantId } = requireBankScope(ctx, bankId);
    const nowUs = deps.nowUs();
    const reset = (bank: Bank): Bank =>
      Object.keys(bank.overrides).length === 0 ? bank : { ...bank, overrides: {}, updatedAtUs: nowUs };
    await deps.storage.banks.update(tenantId, bankId, reset);
    return configAnswer(deps, tenantId, bankId, {});
  };

/** Every key with its value for a bank that sets `overrides`, read-only ones last. */
export function resolvedConfig(deps: HandlerDeps, { global, tenant }: UpperLayers, overrides: ConfigValues): JsonObject {
  return { ...resolveConfig(global, tenant, overrides), ...deps.readOnlyValues };
}

async function configAnswer(deps: HandlerDeps, tenantId: string, bankId: string, overrides: ConfigValues): Promise<BankConfig> {
  return { bankId, config: resolvedConfig(deps, await deps.upperLayers(tenantId), overrides), overrides: { ...overrides } };
}
