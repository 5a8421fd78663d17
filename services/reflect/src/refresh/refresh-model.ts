import type { CallContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { Job, JobRun } from "@memory-bank/jobs";
import { answerQuestion } from "../answer/answer-question.ts";
import { type Question, recallBounds } from "../answer/question.ts";
import { reflectResponseOf } from "../domain/based-on.ts";
import { type MentalModel, modelNotFound } from "../domain/mental-model.ts";
import { scopeOf } from "../domain/trigger.ts";
import { asBank, findBankByUid, type ReflectBank, type ReflectDeps, requireLanguageModel } from "../reflect-deps.ts";
import { changesScope } from "./staleness.ts";

const STEPS = 3;

/** Carries out one refresh: answers the model's question anew and saves the answer together with the end of the job. */
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
  // The snapshot comes before the reading: what is committed between the two is seen and still counts as new.
  const { commitSeq, changes } = await deps.memory.findScopeChanges(own, {
    bankUid: bank.bankUid,
    scopes: [changesScope(model, { withCited: false })],
  });
  await progress("answering", 1);
  const answer = await answerQuestion(deps, own, questionOf(bank, model, commitSeq));
  await progress("saving", 2);
  if (answer.text.trim() === "") {
    await deps.store.failRefresh(run.claim, "empty_candidate");
    return "committed";
  }
  if (answer.structuredOutput === null) {
    await deps.store.failRefresh(run.claim, "structured_output_failed");
    return "committed";
  }
  const outcome = answer.text === model.content ? "content_unchanged" : "content_written";
  await deps.store.commitRefresh(
    run.claim,
    model,
    {
      content: answer.text,
      reflectResponse: reflectResponseOf(answer, outcome, { keepsTrace: model.trigger.keepTrace }),
      refreshedQuery: model.sourceQuery,
      watermarkSeq: commitSeq,
      memorySeenAtUs: changes[0]?.newestUpdatedAtUs ?? null,
      atUs: deps.nowUs(),
    },
    outcome,
  );
  return "committed";
}

/** The model's own question, within its scope, without itself among the sources. */
export function questionOf(bank: ReflectBank, model: MentalModel, maxCommitSeq: number): Question {
  const { trigger } = model;
  return {
    bank,
    query: model.sourceQuery,
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
