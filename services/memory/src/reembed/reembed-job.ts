import type { CallContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import { type Job, type JobRun, type NewJob, type RetryPolicy, retryWithBackoff } from "@memory-bank/jobs";
import { pairNorm } from "../domain/recall/pair-norm.ts";
import type { BankRef } from "../domain/unit.ts";
import type { MemoryDeps } from "../memory-deps.ts";
import type { PlacedUnit } from "../memory-keeping.ts";
import type { VectorIndex } from "../vector-index.ts";
import { findVectorGaps } from "../verify/vector-gaps.ts";
import { embedMissing } from "./embed-missing.ts";

export const REEMBED_KIND = "reembed";

/** The operation that gives a bank the vectors of another embedder; one per bank. */
export function reembedJob({ tenantId, bankUid, bankId }: BankRef, id: string, nowUs: number): NewJob {
  return {
    id,
    kind: REEMBED_KIND,
    groupKey: bankUid,
    tenantKey: tenantId,
    dedupeKey: `reembed ${bankUid}`,
    payload: { bank_id: bankId },
    createdAtUs: nowUs,
  };
}

/** A remote model that is away comes back some time, and until then the bank is searched without vectors. */
const backoff = retryWithBackoff({ baseMs: 5_000, capMs: 600_000 });
export const retryReembed: RetryPolicy = (failure) => (isAppError(failure.error, "BANK_FENCED") ? "give_up" : backoff(failure));

/**
 * Embeds what has no vector yet, so that another try goes on where one ended; then tells the store, in the commit that ends the
 * job, how long the new vectors' passages are. Only then recall compares meanings again.
 */
export async function runReembedJob(deps: MemoryDeps, ctx: CallContext, job: Job, run: JobRun): Promise<"committed"> {
  const bankUid = job.groupKey;
  const { bank } = await deps.bank.resolveBank(ctx, { tenantId: job.tenantKey, bankId: "", bankUid, create: false });
  if (!bank) throw new AppError("cancelled", "BANK_FENCED", "The bank was deleted");
  const { missing } = await findVectorGaps(deps, bankUid);
  await embedMissing(deps, bankUid, missing, {
    signal: run.signal,
    progress: (processed) => run.progress({ stage: "embedding", processed, total: missing.length }),
  });
  await deps.lock.run(bankUid, async () => {
    const units = await deps.keeping.listPlacedUnits(bankUid);
    await deps.keeping.commitVectors({
      bank: { tenantId: job.tenantKey, bankId: bank.bankId, bankUid },
      nowUs: deps.nowUs(),
      pairNorms: await pairNorms(deps.vectors, bankUid, units),
      completes: { claim: run.claim, result: { items_count: missing.length } },
    });
  });
  return "committed";
}

/** Per unit the length of its passage's vectors and those of the passage before it, as retain counts them; edited units stand alone. */
async function pairNorms(
  vectors: VectorIndex,
  bankUid: string,
  units: readonly PlacedUnit[],
): Promise<ReadonlyMap<string, number>> {
  const norms = new Map<string, number>();
  let before: { readonly sessionId: string; readonly vectors: readonly Float32Array[] } | undefined;
  for (let at = 0; at < units.length; ) {
    const { sessionId, passage } = units[at]!;
    const members: PlacedUnit[] = [];
    while (units[at]?.sessionId === sessionId && units[at]?.passage === passage) members.push(units[at++]!);
    const found = await vectors.get(
      bankUid,
      members.map((unit) => unit.unitId),
    );
    const own = [...found.values()];
    const norm = pairNorm(before?.sessionId === sessionId ? before.vectors : [], own);
    for (const unit of members) {
      const alone = found.get(unit.unitId);
      norms.set(unit.unitId, unit.isEdited && alone ? Math.hypot(...alone) : norm);
    }
    before = { sessionId, vectors: own };
  }
  return norms;
}
