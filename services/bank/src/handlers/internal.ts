import { type CallContext, requireBankScope } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { BankInternalServiceService, ResolveBankRequest } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import { bankToProto, jsonFromProto } from "../convert.ts";
import type { HandlerDeps } from "../deps.ts";
import { type Bank, newBank } from "../domain/bank.ts";
import { invalidConfig, readLayer } from "../domain/bank-config.ts";
import { resolvedConfig } from "./bank-config.ts";

type InternalRpc = Rpc<typeof BankInternalServiceService>;

/** Writes only when `create` is asked for and there is no such bank. */
export const createResolveBankHandler =
  (deps: HandlerDeps): InternalRpc["resolveBank"] =>
  async (ctx, request) => {
    const bank = await findOrCreate(deps, ctx, request);
    const tenantId = bank?.tenantId ?? tenantOf(ctx, request);
    const upper = await deps.upperLayers(tenantId);
    const config = resolvedConfig(deps, upper, bank?.overrides ?? {});
    return { bank: bank && bankToProto(bank, upper), tenantId, config };
  };

export const createSetTenantConfigHandler =
  (deps: HandlerDeps): InternalRpc["setTenantConfig"] =>
  async (_ctx, { tenantId, config }) => {
    if (tenantId === "") throw new AppError("invalid_argument", "TENANT_REQUIRED", "tenant_id is required");
    const { global } = await deps.upperLayers(tenantId);
    const faults: string[] = [];
    const layer = readLayer(jsonFromProto(config), [global], faults);
    if (faults.length > 0) throw invalidConfig(faults);
    await deps.storage.banks.setTenantConfig(tenantId, layer);
    return {};
  };

async function findOrCreate(deps: HandlerDeps, ctx: CallContext, request: ResolveBankRequest): Promise<Bank | undefined> {
  const { banks } = deps.storage;
  const { bankId, bankUid } = request;
  const tenantId = tenantOf(ctx, request);
  if (bankUid !== "") {
    const bank = await banks.findByUid(bankUid);
    const isOther = bank && tenantId !== "" && bank.tenantId !== tenantId;
    return isOther ? undefined : bank;
  }
  if (bankId === "" || tenantId === "") {
    throw new AppError("invalid_argument", "BANK_REQUIRED", "A bank is named by its uid, or by its tenant and its id");
  }
  if (ctx.principal) requireBankScope(ctx, bankId);
  const existing = await banks.findById(tenantId, bankId);
  if (existing || !request.create) return existing;
  return banks.put(newBank({ tenantId, bankId, bankUid: deps.newId(), nowUs: deps.nowUs() }), (bank) => bank);
}

/** The tenant that a member of the mesh names, or that of the key it speaks for; empty when neither is there. */
function tenantOf(ctx: CallContext, { tenantId }: { readonly tenantId: string }): string {
  return tenantId || (ctx.principal?.tenantId ?? "");
}
