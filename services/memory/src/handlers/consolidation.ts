import type { CallContext } from "@memory-bank/context";
import { AppError, isAppError } from "@memory-bank/errors";
import { type Job, type JobRun, type JsonObject, type RetryPolicy, retryWithBackoff } from "@memory-bank/jobs";
import type { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import type { Logger } from "@memory-bank/telemetry";
import { type ConsolidationPayload, consolidationJob } from "../consolidation-job.ts";
import { scopesFromProto } from "../convert.ts";
import { consolidateBank } from "../domain/consolidate/consolidate-bank.ts";
import { consolidationSettings } from "../domain/consolidate/consolidation-settings.ts";
import type { Consolidator } from "../domain/consolidate/consolidator.ts";
import { ensureBank, findBank, type MemoryDeps } from "../memory-deps.ts";
import { requeue } from "../removals.ts";

type Consolidation = Pick<Rpc<typeof MemoryServiceService>, "consolidate" | "recoverConsolidation">;

export const consolidationHandlers = (deps: MemoryDeps): Consolidation => ({
  async consolidate(ctx, { bankId, observationScopes }) {
    const bank = await ensureBank(deps, ctx, bankId);
    if (!bank.config["enable_observations"]) {
      throw new AppError("invalid_argument", "OBSERVATIONS_DISABLED", `Observations are disabled for bank '${bankId}'`);
    }
    const nowUs = deps.nowUs();
    const job = consolidationJob(bank, deps.newId(), nowUs, { scopes: scopesFromProto(observationScopes), isUrgent: true });
    const [enqueued] = await deps.jobs.enqueue([job]);
    deps.wake();
    return { operationId: enqueued!.job.id, deduplicated: enqueued!.deduplicated };
  },

  async recoverConsolidation(ctx, { bankId }) {
    const bank = await findBank(deps, ctx, bankId);
    if (!bank) return { retriedCount: 0 };
    const { retriedCount } = await deps.store.recoverFailed(bank, deps.nowUs(), requeue(deps, bank));
    deps.wake();
    return { retriedCount };
  },
});

/** Unlimited tries (contract 10): an outage of a model ends some time. A bank that is gone does not come back. */
const backoff = retryWithBackoff({ baseMs: 5_000, capMs: 1_800_000 });
export const retryConsolidation: RetryPolicy = (failure) =>
  isAppError(failure.error, "BANK_FENCED") ? "give_up" : backoff(failure);

/** Runs one round of a bank's consolidation. Its last commit completes the job. */
export async function runConsolidationJob(
  deps: MemoryDeps & { readonly log: Logger; readonly consolidatorFor: (provider: "local" | "openai" | "none") => Consolidator },
  ctx: CallContext,
  job: Job,
  run: JobRun,
): Promise<"committed" | JsonObject> {
  const payload = job.payload as ConsolidationPayload;
  const bankUid = job.groupKey;
  const { bank, config = {} } = await deps.bank.resolveBank(ctx, { tenantId: job.tenantKey, bankId: "", bankUid, create: false });
  if (!bank) throw new AppError("cancelled", "BANK_FENCED", `Bank '${payload.bank_id}' was deleted`);
  const settings = consolidationSettings(config);
  if (!settings.isEnabled) return { items_count: 0, observations_created: 0, observations_updated: 0, observations_deleted: 0 };
  await consolidateBank(
    { ...deps, consolidator: deps.consolidatorFor(settings.provider) },
    {
      bank: { tenantId: job.tenantKey, bankId: bank.bankId, bankUid },
      config,
      scopesOverride: payload.observation_scopes,
      claim: run.claim,
      signal: run.signal,
      progress: (processed, total) => run.progress({ stage: "consolidating", processed, total }),
    },
  );
  deps.wake();
  return "committed";
}

/** Banks that one sweep queues at most; the next sweep goes on with those that are still pending. */
const sweptBanksMax = 1_000;

/** Queues a run for every bank that has pending units, wants them consolidated, and has no run waiting. */
export async function sweepPending(deps: MemoryDeps, ctx: CallContext): Promise<void> {
  for (const { tenantId, bankUid } of await deps.store.banksWithPending(sweptBanksMax)) {
    ctx.signal.throwIfAborted();
    const { bank, config = {} } = await deps.bank.resolveBank(ctx, { tenantId, bankId: "", bankUid, create: false });
    if (!bank || !consolidationSettings(config).isAutomatic) continue;
    const { bankId } = bank;
    await deps.jobs.enqueue([consolidationJob({ tenantId, bankId, bankUid }, deps.newId(), deps.nowUs(), { isUrgent: true })]);
  }
  deps.wake();
}
