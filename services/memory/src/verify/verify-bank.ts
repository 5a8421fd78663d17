import type { Embedder } from "@memory-bank/models";
import type { BankRef } from "../domain/unit.ts";
import { DISAGREEMENTS_PER_CHECK, type Disagreement } from "../memory-keeping.ts";
import { embedMissing } from "../reembed/embed-missing.ts";
import { findVectorGaps, removeOrphans, type VectorGapDeps } from "./vector-gaps.ts";

export interface VerifyDeps extends VectorGapDeps {
  readonly embedder: Embedder;
  readonly nowUs: () => number;
  /** True when no other process writes to these banks: only then a vector without a unit is surely nobody's work in progress. */
  readonly isAlone: boolean;
  /** Told of a bank whose every unit may have changed. */
  readonly onRebuilt?: (bankUid: string) => void;
}

export interface BankReport {
  readonly bank: BankRef;
  readonly found: readonly Disagreement[];
  /** What a repair could not mend; the same as `found` when none was asked for. */
  readonly left: readonly Disagreement[];
}

/** Checks that the records of a bank agree with each other and with its vectors, and on request mends what can be derived. */
export async function verifyBank(
  deps: VerifyDeps,
  bank: BankRef,
  { repairs, signal }: { readonly repairs: boolean; readonly signal: AbortSignal },
): Promise<BankReport> {
  const found = await disagreementsOf(deps, bank.bankUid, signal);
  if (!repairs || found.length === 0) return { bank, found, left: found };
  if (found.some(({ part }) => part !== "vectors")) {
    await deps.lock.run(bank.bankUid, () => deps.keeping.rebuild(bank, deps.nowUs()));
    deps.onRebuilt?.(bank.bankUid);
  }
  const { missing, orphans } = await findVectorGaps(deps, bank.bankUid);
  if (deps.isAlone) await removeOrphans(deps, bank.bankUid, orphans);
  // A bank that waits for another embedder gets its vectors from that operation.
  if (!(await deps.store.lacksVectors(bank.bankUid))) await embedMissing(deps, bank.bankUid, missing, { signal });
  return { bank, found, left: await disagreementsOf(deps, bank.bankUid, signal) };
}

async function disagreementsOf(deps: VerifyDeps, bankUid: string, signal: AbortSignal): Promise<Disagreement[]> {
  const found: Disagreement[] = [];
  for await (const disagreement of deps.keeping.check(bankUid)) {
    signal.throwIfAborted();
    found.push(disagreement);
  }
  const { missing, orphans } = await findVectorGaps(deps, bankUid);
  const isWaiting = await deps.store.lacksVectors(bankUid);
  const said = (ids: readonly string[], say: (unitId: string) => string): Disagreement[] =>
    ids.slice(0, DISAGREEMENTS_PER_CHECK).map((unitId) => ({ part: "vectors", text: say(unitId) }));
  if (!isWaiting) found.push(...said(missing, (unitId) => `unit ${unitId} has no vector`));
  found.push(...said(orphans, (unitId) => `a vector belongs to unit ${unitId}, which is not there`));
  return found;
}

/** Banks read at a time. */
const banksPerPage = 200;

/** The banks that a command means: one by its public id, or all. */
export async function* selectBanks(
  { keeping }: Pick<VerifyDeps, "keeping">,
  only: { readonly tenantId: string; readonly bankId: string } | undefined,
): AsyncIterable<BankRef> {
  if (only) {
    yield* await keeping.findBanks(only.tenantId, only.bankId);
    return;
  }
  for (let afterUid = ""; ; ) {
    const page = await keeping.listBanks(afterUid, banksPerPage);
    yield* page;
    if (page.length < banksPerPage) return;
    afterUid = page.at(-1)!.bankUid;
  }
}
