import { consolidationJob } from "./consolidation-job.ts";
import type { MemoryDeps, ResolvedBank } from "./memory-deps.ts";
import type { Consequences } from "./memory-store.ts";

/** Sources of observations that went away want another run. */
export function requeue(deps: MemoryDeps, bank: ResolvedBank): Consequences {
  const isWanted = Boolean(bank.config["enable_observations"]) && Boolean(bank.config["enable_auto_consolidation"]);
  return { events: [], jobs: isWanted ? [consolidationJob(bank, deps.newId(), deps.nowUs())] : [] };
}

/** Units are gone from every read with the commit; their vectors follow, and the workers learn of what the commit queued. */
export async function afterRemoval(deps: MemoryDeps, bank: ResolvedBank, removedUnitIds: readonly string[]): Promise<void> {
  if (removedUnitIds.length > 0) await deps.vectors.remove(bank.bankUid, removedUnitIds);
  deps.wake();
}
