import type { CallContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { Job, JobRun } from "@memory-bank/jobs";
import { type Question, recallBounds } from "../answer/question.ts";
import { reflectResponseOf } from "../domain/based-on.ts";
import { type MentalModel, modelNotFound } from "../domain/mental-model.ts";
import { scopeOf } from "../domain/trigger.ts";
import { asBank, findBankByUid, type ReflectBank, type ReflectDeps, requireLanguageModel } from "../reflect-deps.ts";
import { isDeltaDue, refreshByDelta } from "./delta-refresh.ts";
import { refreshFully } from "./full-refresh.ts";
import { changesScope } from "./staleness.ts";

const STEPS = 3;

/** Carries out one refresh, and saves what it came to together with the end of its job. */
export async function runRefresh(deps: ReflectDeps, ctx: CallContext, job: Job, run: JobRun): Promise<"committed"> {
  const modelId = String(job.payload["mental_model_id"]);
  const bank = await findBankByUid(deps, ctx, job.groupKey);
  if (!bank) throw new AppError("not_found", "BANK_NOT_FOUND", "The bank was deleted");
  const model = await deps.store.find(bank.bankUid, modelId);
  if (!model) throw modelNotFound(modelId);
  requireLanguageModel(deps);
  const progress = (stage: string, processed: number) => run.progress({ stage, processed, total: STEPS });

  await progress("reading", 0);
  const own = asBank(ctx, bank);
  // The snapshot comes before the reading: what is committed between the two may be seen, and still counts as new.
  const scopes = [changesScope(model, { withCited: true })];
  const { commitSeq, changes } = await deps.memory.findScopeChanges(own, { bankUid: bank.bankUid, scopes });
  const { changedCount, missingIds, newestUpdatedAtUs } = changes[0]!;

  await progress("answering", 1);
  const question = questionOf(bank, model, commitSeq);
  const attempt = isDeltaDue(model)
    ? await refreshByDelta(deps, own, model, question, { changedCount, goneIds: new Set(missingIds) })
    : await refreshFully(deps, own, model, question);

  await progress("saving", 2);
  if (attempt.kind === "failed") {
    await deps.store.failRefresh(run.claim, attempt.reason);
    return "committed";
  }
  const stamps = {
    refreshedQuery: model.sourceQuery,
    watermarkSeq: commitSeq,
    memorySeenAtUs: newestUpdatedAtUs ?? null,
    atUs: deps.nowUs(),
  };
  if (attempt.kind === "preserved") {
    const outcome = "content_preserved_no_new_facts";
    const reflectResponse = { ...model.reflectResponse, outcome, refresh_skipped: true };
    await deps.store.commitRefresh(run.claim, model, { content: model.content, reflectResponse, ...stamps }, outcome);
    return "committed";
  }
  const { content, answer, outcome, extra } = attempt;
  const reflectResponse = reflectResponseOf({ ...answer, text: content }, outcome, {
    keepsTrace: model.trigger.keepTrace,
    extra,
  });
  await deps.store.commitRefresh(run.claim, model, { content, reflectResponse, ...stamps }, outcome);
  return "committed";
}

/** The model's own question, within its scope, without itself among the sources. */
function questionOf(bank: ReflectBank, model: MentalModel, maxCommitSeq: number): Question {
  const { trigger } = model;
  return {
    bank,
    query: model.sourceQuery,
    asked: model.sourceQuery,
    budget: "low",
    maxTokens: model.maxTokens,
    tags: scopeOf(model),
    factTypes: trigger.factTypes ?? [],
    appliesAllDirectives: false,
    hiddenModels: trigger.excludeMentalModels ? "all" : new Set([model.id, ...(trigger.excludeMentalModelIds ?? [])]),
    recall: recallBounds(bank.config, {
      includeChunks: trigger.includeChunks,
      maxTokens: trigger.recallMaxTokens,
      chunksMaxTokens: trigger.recallChunksMaxTokens,
    }),
    responseSchema: trigger.responseSchema ?? undefined,
    maxCommitSeq,
  };
}
