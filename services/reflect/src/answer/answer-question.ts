import type { CallContext } from "@memory-bank/context";
import { answerWithModel } from "../agent/answer-with-model.ts";
import type { Answer } from "../domain/answer.ts";
import { noLanguageModel, type ReflectDeps } from "../reflect-deps.ts";
import { answerLocally } from "./answer-locally.ts";
import type { Question } from "./question.ts";

/** Answers from the bank's memories with what the deployment has: a language model, or rules. */
export async function answerQuestion(deps: ReflectDeps, ctx: CallContext, question: Question): Promise<Answer> {
  switch (deps.languageModel.kind) {
    case "none":
      throw noLanguageModel();
    case "local":
      return answerLocally(deps, ctx, question);
    case "openai":
      return answerWithModel(deps, ctx, deps.languageModel, question);
  }
}
