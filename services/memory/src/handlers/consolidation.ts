import { AppError } from "@memory-bank/errors";
import type { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { consolidationJob } from "../consolidation-job.ts";
import { scopesFromProto } from "../convert.ts";
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
    const plain = consolidationJob(bank, deps.newId(), nowUs);
    const scopes = scopesFromProto(observationScopes);
    // A run with scopes of its own must not be lost in a waiting one without.
    const { dedupeKey: _, ...unique } = plain;
    const job = scopes === undefined ? plain : { ...unique, payload: { ...plain.payload, observation_scopes: scopes as never } };
    const [enqueued] = await deps.jobs.enqueue([{ ...job, runAtUs: nowUs }]);
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
