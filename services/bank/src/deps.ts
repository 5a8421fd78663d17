import { type CallContext, requireBankScope } from "@memory-bank/context";
import type { MemoryInternalServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { ReflectInternalServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import type { WebhookInternalServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import type { Rpc } from "@memory-bank/rpc";
import type { Logger } from "@memory-bank/telemetry";
import type { BankStorage } from "./bank-store.ts";
import { type Bank, bankNotFound } from "./domain/bank.ts";
import type { ReadOnlyValues, UpperLayers } from "./domain/bank-config.ts";

/** The services that keep data under a bank's uid. */
export interface BankOwners {
  readonly memory: Pick<Rpc<typeof MemoryInternalServiceService>, "fence" | "purge">;
  readonly reflect: Pick<Rpc<typeof ReflectInternalServiceService>, "fence" | "purge">;
  readonly webhook: Pick<Rpc<typeof WebhookInternalServiceService>, "fence" | "purge">;
}

/** What the handlers share. */
export interface HandlerDeps {
  readonly storage: BankStorage;
  readonly owners: BankOwners;
  /** The layers above the banks of a tenant, as they are now. */
  readonly upperLayers: (tenantId: string) => Promise<UpperLayers>;
  readonly readOnlyValues: ReadOnlyValues;
  /** Wakes the workers after a commit that left jobs and events. */
  readonly nudge: () => void;
  readonly log: Logger;
  readonly nowUs: () => number;
  readonly newId: () => string;
}

/** The live bank that a call names, once its key may touch it; `undefined` when there is none. */
export async function findOwnBank(
  { storage }: Pick<HandlerDeps, "storage">,
  ctx: CallContext,
  bankId: string,
): Promise<Bank | undefined> {
  const { tenantId } = requireBankScope(ctx, bankId);
  return storage.banks.findById(tenantId, bankId);
}

/** Like `findOwnBank`, but `not_found` when there is none. */
export async function getOwnBank(deps: Pick<HandlerDeps, "storage">, ctx: CallContext, bankId: string): Promise<Bank> {
  const bank = await findOwnBank(deps, ctx, bankId);
  if (!bank) throw bankNotFound(bankId);
  return bank;
}

/** How much of a list an answer holds: 0 or less asks for `initial`; more than `max` gets `max`. */
export function pageOf(
  { limit, offset }: { readonly limit: number; readonly offset: number },
  { initial, max }: { readonly initial: number; readonly max: number },
): { readonly limit: number; readonly offset: number } {
  return { limit: limit <= 0 ? initial : Math.min(limit, max), offset: Math.max(offset, 0) };
}
