import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "@memory-bank/telemetry";
import { findVectorGaps, removeOrphans, type VectorGapDeps } from "./vector-gaps.ts";
import { selectBanks } from "./verify-bank.ts";

/** Banks looked at after a start; two counts each, so this many take some seconds in the background. */
const banksPerSweep = 20_000;

/**
 * Removes vectors that a killed process left behind: they were written, and the commit that would have shown their units was not.
 * Units without a vector are only reported, because making vectors is the operator's decision (`verify --repair`).
 */
export async function sweepVectors(deps: VectorGapDeps & { readonly log: Logger }, signal: AbortSignal): Promise<void> {
  const { keeping, vectors, log } = deps;
  let looked = 0;
  for await (const { bankUid, bankId } of selectBanks(deps, undefined)) {
    if (signal.aborted || looked++ === banksPerSweep) return;
    // Deletions take vectors away after their commit, so equal counts hide at most what the next sweep sees.
    const counts = [await keeping.countLiveUnits(bankUid), await vectors.count(bankUid)] as const;
    if (counts[0] !== counts[1] && !(await deps.store.lacksVectors(bankUid))) {
      const { missing, orphans } = await findVectorGaps(deps, bankUid);
      await removeOrphans(deps, bankUid, orphans);
      if (orphans.length > 0) log.info({ bankUid, bankId, orphans: orphans.length }, "vectors without a unit were removed");
      if (missing.length > 0)
        log.warn({ bankUid, bankId, missing: missing.length }, "units have no vector; run admin verify --repair");
    }
    await nextTurn();
  }
}
