import { type CallContext, requireBankScope, requirePrincipal } from "@memory-bank/context";
import type { BankServiceService, WriteBankRequest } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import { BANK_PAGE_MAX } from "../bank-store.ts";
import { bankToProto, givenFromProto } from "../convert.ts";
import { getOwnBank, type HandlerDeps, pageOf } from "../deps.ts";
import { type Bank, type BankChange, bankNotFound, changeBank, newBank } from "../domain/bank.ts";

type BankRpc = Rpc<typeof BankServiceService>;

export const createPutBankHandler =
  (deps: HandlerDeps): BankRpc["putBank"] =>
  async (ctx, request) => {
    const { tenantId } = requireBankScope(ctx, request.bankId);
    const upper = await deps.upperLayers(tenantId);
    const bank = await putBank(deps, ctx, request.bankId, changeFrom(request));
    return bankToProto(bank, upper);
  };

export const createPatchBankHandler =
  (deps: HandlerDeps): BankRpc["patchBank"] =>
  async (ctx, request) => {
    const { tenantId } = requireBankScope(ctx, request.bankId);
    const upper = await deps.upperLayers(tenantId);
    const change = changeFrom(request);
    const nowUs = deps.nowUs();
    const bank = await deps.storage.banks.update(tenantId, request.bankId, (bank) => changeBank(bank, change, upper, nowUs));
    if (!bank) throw bankNotFound(request.bankId);
    return bankToProto(bank, upper);
  };

export const createGetBankHandler =
  (deps: HandlerDeps): BankRpc["getBank"] =>
  async (ctx, request) => {
    const bank = await getOwnBank(deps, ctx, request.bankId);
    return bankToProto(bank, await deps.upperLayers(bank.tenantId));
  };

export const createListBanksHandler =
  (deps: HandlerDeps): BankRpc["listBanks"] =>
  async (ctx, request) => {
    const { tenantId, allowedBankIds } = requirePrincipal(ctx);
    const page = pageOf(request, { initial: BANK_PAGE_MAX, max: BANK_PAGE_MAX });
    const { banks, total } = await deps.storage.banks.list({ tenantId, contains: request.query, allowedBankIds, ...page });
    const upper = await deps.upperLayers(tenantId);
    return { banks: banks.map((bank) => bankToProto(bank, upper)), total };
  };

/** Changes the caller's bank and makes it first when it is absent. */
export async function putBank(deps: HandlerDeps, ctx: CallContext, bankId: string, change: BankChange): Promise<Bank> {
  const { tenantId } = requireBankScope(ctx, bankId);
  const upper = await deps.upperLayers(tenantId);
  const nowUs = deps.nowUs();
  const seed = newBank({ tenantId, bankId, bankUid: deps.newId(), nowUs });
  return deps.storage.banks.put(seed, (bank) => changeBank(bank, change, upper, nowUs));
}

/** The mission is configuration; as a member of its own it wins over the override. */
function changeFrom({ name, mission, overrides }: WriteBankRequest): BankChange {
  const given = givenFromProto(overrides);
  return { name, overrides: mission === undefined ? given : { ...given, reflect_mission: mission } };
}
