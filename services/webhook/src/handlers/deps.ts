import type { CallContext } from "@memory-bank/context";
import { requireBankScope } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import type { AllowList } from "../domain/allow-list.ts";
import type { TargetVault } from "../domain/target-vault.ts";
import type { EnqueueTime, WebhookStore } from "../webhook-store.ts";

/** What the handlers work with. */
export interface HandlerDeps {
  readonly store: WebhookStore;
  readonly bank: Pick<Rpc<typeof BankInternalServiceService>, "resolveBank">;
  readonly vault: TargetVault;
  readonly allowList: AllowList;
  readonly nowUs: () => number;
  readonly scheduleUs: () => number;
  readonly newId: () => string;
  /** Tells the workers that these webhooks have got deliveries. */
  readonly nudge: (webhookIds: readonly string[]) => void;
}

/** The live incarnation of a bank that the caller may touch, or `undefined` when there is none. */
export async function findBankUid(
  deps: HandlerDeps,
  ctx: CallContext,
  bankId: string,
  create = false,
): Promise<string | undefined> {
  const { tenantId } = requireBankScope(ctx, bankId);
  const { bank } = await deps.bank.resolveBank(ctx, { tenantId, bankId, bankUid: "", create });
  return bank?.bankUid;
}

/** The same for calls about one webhook: without the bank there is no such webhook either. */
export async function getBankUid(deps: HandlerDeps, ctx: CallContext, bankId: string): Promise<string> {
  const bankUid = await findBankUid(deps, ctx, bankId);
  if (bankUid === undefined) throw new AppError("not_found", "WEBHOOK_NOT_FOUND", "Webhook not found");
  return bankUid;
}

export function dueNow(deps: HandlerDeps): EnqueueTime {
  return { nowUs: deps.nowUs(), dueUs: deps.scheduleUs() };
}
