import { type CallContext, requireBankScope } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import type { Rpc } from "@memory-bank/rpc";
import type { HandlerDeps } from "../deps.ts";
import { bankDeleted } from "../events.ts";
import { purgeJob } from "../purge.ts";

const FENCE_MS_MAX = 10_000; // an owner answers a fence with one small write; longer means that it is in trouble
const RETRY_AFTER_MS = 30_000; // what the public contract tells callers of an unavailable service

/**
 * Once the tombstone is written the deletion goes through whatever happens: the purge job fences again. A fence that fails is
 * told to the caller all the same, since the owner may still work for the dead bank.
 */
export const createDeleteBankHandler =
  (deps: HandlerDeps): Rpc<typeof BankServiceService>["deleteBank"] =>
  async (ctx, request) => {
    const { tenantId } = requireBankScope(ctx, request.bankId);
    const nowUs = deps.nowUs();
    const bank = await deps.storage.banks.bury({
      tenantId,
      bankId: request.bankId,
      deletedAtUs: nowUs,
      // Not before the fences below have answered: only the first fence of an owner tells how much it has hidden.
      jobs: (bank) => [purgeJob(bank, { id: deps.newId(), nowUs, delayMs: FENCE_MS_MAX })],
      events: ({ tenantId, bankUid, bankId }) => [
        bankDeleted.create({
          id: deps.newId(),
          occurredAtUs: nowUs,
          payload: { tenantId, bankUid, bankId },
          traceparent: ctx.traceparent,
        }),
      ],
    });
    if (!bank) return { existed: false, deletedCount: 0 };
    const hidden = await fence(deps, ctx, bank.bankUid);
    await deps.storage.jobs.enqueue([purgeJob(bank, { id: deps.newId(), nowUs })]);
    deps.nudge();
    if (hidden.memory === undefined || hidden.reflect === undefined || hidden.webhook === undefined) {
      throw new AppError("unavailable", "FENCE_FAILED", "Service temporarily unavailable", { retryAfterMs: RETRY_AFTER_MS });
    }
    return { existed: true, deletedCount: hidden.memory };
  };

/** Fences the bank on every owner at once; answers how many records each has hidden, `undefined` for one that failed. */
async function fence({ owners, log, nowUs }: HandlerDeps, ctx: CallContext, bankUid: string) {
  const bounded = { ...ctx, deadlineMs: Math.min(ctx.deadlineMs, Math.floor(nowUs() / 1_000) + FENCE_MS_MAX) };
  const hiddenBy = async (owner: keyof typeof owners) => {
    try {
      return (await owners[owner].fence(bounded, { bankUid })).hiddenCount;
    } catch (error) {
      log.warn({ owner, bankUid, requestId: ctx.requestId, err: error }, "fence failed; the purge job repeats it");
      return undefined;
    }
  };
  const [memory, reflect, webhook] = await Promise.all([hiddenBy("memory"), hiddenBy("reflect"), hiddenBy("webhook")]);
  return { memory, reflect, webhook };
}
