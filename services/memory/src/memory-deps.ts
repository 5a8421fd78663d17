import { type CallContext, requireBankScope } from "@memory-bank/context";
import type { JobStore } from "@memory-bank/jobs";
import type { Embedder, LanguageModel } from "@memory-bank/models";
import type { BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import type { BankRef } from "./domain/unit.ts";
import type { KeyedLock } from "./keyed-lock.ts";
import type { MemoryKeeping } from "./memory-keeping.ts";
import type { MemoryStore } from "./memory-store.ts";
import type { RecallIndexes } from "./recall-indexes.ts";
import type { VectorIndex } from "./vector-index.ts";

/** What the handlers work with. */
export interface MemoryDeps {
  readonly store: MemoryStore;
  readonly keeping: MemoryKeeping;
  readonly vectors: VectorIndex;
  readonly jobs: JobStore;
  readonly embedder: Embedder;
  readonly languageModel: LanguageModel;
  readonly indexes: RecallIndexes;
  readonly lock: KeyedLock;
  readonly bank: Pick<Rpc<typeof BankInternalServiceService>, "resolveBank">;
  /** Tells the relay and the runner that a commit left work for them. */
  readonly wake: () => void;
  readonly nowUs: () => number;
  readonly newId: () => string;
}

/** A live bank with its resolved configuration. */
export interface ResolvedBank extends BankRef {
  readonly config: Readonly<Record<string, unknown>>;
  /** Whose memory it is, when the bank was given a name. */
  readonly narrator: string | undefined;
}

/** A bank is named after its id until somebody names it. */
export function narratorOf({ bankId, name }: { readonly bankId: string; readonly name: string }): string | undefined {
  return name === bankId || name === "" ? undefined : name;
}

/** The bank that a caller names, after the scope check; created when it is absent. */
export async function ensureBank(deps: MemoryDeps, ctx: CallContext, bankId: string): Promise<ResolvedBank> {
  return (await resolve(deps, ctx, bankId, true))!;
}

/** The bank that a caller names, after the scope check; undefined when there is none. */
export function findBank(deps: MemoryDeps, ctx: CallContext, bankId: string): Promise<ResolvedBank | undefined> {
  return resolve(deps, ctx, bankId, false);
}

async function resolve(deps: MemoryDeps, ctx: CallContext, bankId: string, create: boolean): Promise<ResolvedBank | undefined> {
  requireBankScope(ctx, bankId);
  const { bank, tenantId, config } = await deps.bank.resolveBank(ctx, { tenantId: "", bankId, bankUid: "", create });
  return bank && { tenantId, bankId, bankUid: bank.bankUid, config: config ?? {}, narrator: narratorOf(bank) };
}

/** The uid that reads use when there is no bank: nothing is ever stored under it. */
const noBank = "";

/** The incarnation to read; an unknown bank reads as empty. */
export async function readableUid(deps: MemoryDeps, ctx: CallContext, bankId: string): Promise<string> {
  return (await findBank(deps, ctx, bankId))?.bankUid ?? noBank;
}
