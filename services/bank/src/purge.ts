import { systemContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { JobHandler, JobRun, NewJob } from "@memory-bank/jobs";
import type { BankOwners, HandlerDeps } from "./deps.ts";
import type { Bank } from "./domain/bank.ts";

export const PURGE_KIND = "purge";

const PURGES_AT_ONCE = 2; // purges read and write much; requests go first
const CALL_MS_MAX = 60_000; // an owner's part is bounded to about a second of work; this is for a stuck peer
const RETRY_BASE_MS = 1_000;
const RETRY_CAP_MS = 60_000;
const RETRY_DOUBLINGS_MAX = 6; // 64 s, past the cap

/** The job that deletes what is left of a dead bank, everywhere. Adding it again while it waits brings it forward. */
export function purgeJob(
  bank: Pick<Bank, "bankUid" | "tenantId">,
  { id, nowUs, delayMs = 0 }: { readonly id: string; readonly nowUs: number; readonly delayMs?: number },
): NewJob {
  return {
    id,
    dedupeKey: `purge:${bank.bankUid}`,
    runAtUs: nowUs + delayMs * 1_000,
    kind: PURGE_KIND,
    groupKey: bank.bankUid,
    tenantKey: bank.tenantId,
    payload: { bankUid: bank.bankUid },
    createdAtUs: nowUs,
  };
}

/**
 * Fences and purges on every owner, until each says that nothing is left; then drops the bank's own rows. All of it may be
 * repeated. A failure is tried again for ever: a deletion that was promised is never given up.
 */
export function createPurgeHandler(deps: Pick<HandlerDeps, "storage" | "owners" | "log" | "nowUs" | "newId">): JobHandler {
  return {
    concurrency: PURGES_AT_ONCE,
    retry: ({ retryCount }) => Math.min(RETRY_BASE_MS * 2 ** Math.min(retryCount, RETRY_DOUBLINGS_MAX), RETRY_CAP_MS),
    async handle(job, run) {
      const bankUid = String(job.payload["bankUid"]);
      const owners = Object.entries(deps.owners);
      const outcomes = await Promise.allSettled(owners.map(([, owner]) => purgeOwner(deps, run, owner, bankUid)));
      const unfinished = owners.flatMap(([owner], index) => {
        const outcome = outcomes[index];
        if (outcome?.status !== "rejected") return [];
        deps.log.warn({ owner, bankUid, jobId: job.id, err: outcome.reason }, "owner has not purged a dead bank yet");
        return [owner];
      });
      if (unfinished.length > 0) {
        throw new AppError("unavailable", "PURGE_UNFINISHED", `Not yet purged: ${unfinished.join(", ")}`);
      }
      while (!(await deps.storage.banks.purge(bankUid))) run.signal.throwIfAborted();
      return null;
    },
  };
}

async function purgeOwner(
  { nowUs, newId }: Pick<HandlerDeps, "nowUs" | "newId">,
  { signal }: JobRun,
  owner: BankOwners[keyof BankOwners],
  bankUid: string,
): Promise<void> {
  const ctx = () => systemContext(newId(), Math.floor(nowUs() / 1_000) + CALL_MS_MAX, signal);
  await owner.fence(ctx(), { bankUid });
  while (!(await owner.purge(ctx(), { bankUid })).done) signal.throwIfAborted();
}
