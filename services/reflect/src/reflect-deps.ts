import { type CallContext, requireBankScope } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { JobStore } from "@memory-bank/jobs";
import type { LanguageModel } from "@memory-bank/models";
import type { BankInternalServiceService, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { MemoryInternalServiceService, MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import type { Logger } from "@memory-bank/telemetry";
import type { ReflectStore } from "./reflect-store.ts";

export type BankClient = Pick<Rpc<typeof BankInternalServiceService>, "resolveBank"> &
  Pick<Rpc<typeof BankServiceService>, "listDirectives">;
export type MemoryClient = Pick<Rpc<typeof MemoryServiceService>, "recall"> &
  Pick<Rpc<typeof MemoryInternalServiceService>, "findScopeChanges" | "expandMemories">;

/** What the handlers and the refreshes work with. */
export interface ReflectDeps {
  readonly store: ReflectStore;
  readonly jobs: JobStore;
  readonly bank: BankClient;
  readonly memory: MemoryClient;
  readonly languageModel: LanguageModel;
  /** Tells the runner that a commit left work for it. */
  readonly wake: () => void;
  readonly log: Logger;
  readonly nowUs: () => number;
  readonly newId: () => string;
}

/** Traits of 1 to 5 that steer an answer; 3 is neutral. */
export interface Disposition {
  readonly skepticism: number;
  readonly literalism: number;
  readonly empathy: number;
}

/** A live bank, or the defaults of one that does not exist (its `bankUid` is empty, and nothing is ever stored under it). */
export interface ReflectBank {
  readonly tenantId: string;
  readonly bankUid: string;
  readonly bankId: string;
  readonly name: string;
  readonly mission: string;
  readonly disposition: Disposition;
  readonly config: Readonly<Record<string, unknown>>;
}

const NEUTRAL = 3;
const neutral: Disposition = { skepticism: NEUTRAL, literalism: NEUTRAL, empathy: NEUTRAL };

/** The bank that a caller names, after the scope check; created when it is absent. */
export function ensureBank(deps: Pick<ReflectDeps, "bank">, ctx: CallContext, bankId: string): Promise<ReflectBank> {
  requireBankScope(ctx, bankId);
  return resolve(deps, ctx, { bankId, bankUid: "", create: true });
}

/** The bank that a caller names, after the scope check. One that does not exist reads as empty. */
export function readBank(deps: Pick<ReflectDeps, "bank">, ctx: CallContext, bankId: string): Promise<ReflectBank> {
  requireBankScope(ctx, bankId);
  return resolve(deps, ctx, { bankId, bankUid: "", create: false });
}

/** An incarnation, for background work; `undefined` when it is dead. */
export async function findBankByUid(
  deps: Pick<ReflectDeps, "bank">,
  ctx: CallContext,
  bankUid: string,
): Promise<ReflectBank | undefined> {
  const bank = await resolve(deps, ctx, { bankId: "", bankUid, create: false });
  return bank.bankUid === bankUid ? bank : undefined;
}

/** A context for background work in the name of one bank: whoever is called sees a caller that may touch that bank and nothing else. */
export function asBank(ctx: CallContext, { tenantId, bankId }: Pick<ReflectBank, "tenantId" | "bankId">): CallContext {
  return { ...ctx, principal: { tenantId, keyId: "reflect", role: "member", capabilities: [], allowedBankIds: [bankId] } };
}

/** Refuses work that writes answers when the operator has switched it off. */
export function requireLanguageModel({ languageModel }: Pick<ReflectDeps, "languageModel">): void {
  if (languageModel.kind === "none") throw noLanguageModel();
}

export const noLanguageModel = (): AppError =>
  new AppError("invalid_argument", "NO_LANGUAGE_MODEL", "No language model is configured (LLM_PROVIDER is none)");

async function resolve(
  { bank: client }: Pick<ReflectDeps, "bank">,
  ctx: CallContext,
  request: { readonly bankId: string; readonly bankUid: string; readonly create: boolean },
): Promise<ReflectBank> {
  const { bank, tenantId, config } = await client.resolveBank(ctx, { tenantId: "", ...request });
  return {
    tenantId,
    bankUid: bank?.bankUid ?? "",
    bankId: bank?.bankId ?? request.bankId,
    name: bank?.name ?? request.bankId,
    mission: bank?.mission ?? "",
    disposition: bank?.disposition ?? neutral,
    config: config ?? {},
  };
}
