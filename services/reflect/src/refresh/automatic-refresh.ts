import type { CallContext } from "@memory-bank/context";
import type { DomainEvent } from "@memory-bank/events";
import { type MentalModel, refreshJob } from "../domain/mental-model.ts";
import { mayBeTouchedBy } from "../domain/trigger.ts";
import { consolidationCompleted } from "../events.ts";
import { asBank, findBankByUid, type ReflectBank, type ReflectDeps } from "../reflect-deps.ts";
import { findStale } from "./staleness.ts";

const DUE_PAGE = 100;
const DUE_MAX = 1_000; // per look; the rest is due at the next one

/** After a consolidation run: queues the models that ask for it, that the run may have touched, and that are stale. */
export async function refreshAfterConsolidation(deps: ReflectDeps, ctx: CallContext, event: DomainEvent): Promise<void> {
  const { bankUid, status, tagSets } = consolidationCompleted.payloadOf(event);
  if (status !== "completed" || deps.languageModel.kind === "none") return;
  const automatic = await deps.store.listRefreshedAfterConsolidation(bankUid);
  const concerned = automatic.filter((model) => mayBeTouchedBy(model, tagSets));
  if (concerned.length === 0) return;
  const bank = await findBankByUid(deps, ctx, bankUid);
  if (!bank) return;
  const stale = await findStale(deps, asBank(ctx, bank), bankUid, concerned);
  for (const model of concerned) {
    if (!stale.has(model.id)) continue;
    const nowUs = deps.nowUs();
    const runAtUs = Math.max(nowUs, earliestUs(bank, model));
    await deps.store.enqueueRefresh(model.id, refreshJob(bank, model.id, { id: deps.newId(), nowUs, runAtUs }));
  }
  deps.wake();
}

/** Queues the models whose schedule is due. */
export async function refreshScheduled(deps: ReflectDeps, ctx: CallContext): Promise<void> {
  if (deps.languageModel.kind === "none") return;
  for (let seen = 0; seen < DUE_MAX; seen += DUE_PAGE) {
    const nowUs = deps.nowUs();
    const due = await deps.store.listDue(nowUs, DUE_PAGE);
    for (const one of due) {
      const bank = await findBankByUid(deps, ctx, one.bankUid);
      // A bank that is gone has not told this service yet; its fence takes the model out of the schedule.
      if (bank) await deps.store.enqueueDue(one, refreshJob(bank, one.id, { id: deps.newId(), nowUs }), nowUs);
    }
    if (due.length < DUE_PAGE) break;
  }
  deps.wake();
}

/** When the model's minimum interval since its last refresh is over. */
function earliestUs(bank: ReflectBank, model: MentalModel): number {
  const configured = bank.config["mental_model_min_refresh_interval_seconds"];
  const seconds = model.trigger.minRefreshIntervalSeconds ?? (typeof configured === "number" ? configured : 0);
  return (model.lastRefreshedAtUs ?? Number.NEGATIVE_INFINITY) + seconds * 1_000_000;
}
