import type { CallContext } from "@memory-bank/context";
import type { Answer } from "../domain/answer.ts";
import { type ReflectDeps, requireLanguageModel } from "../reflect-deps.ts";
import { answerLocally } from "./answer-locally.ts";
import type { Question } from "./question.ts";

/** Answers from the bank's memories with what the deployment has: a language model, or rules. */
export async function answerQuestion(deps: ReflectDeps, ctx: CallContext, question: Question): Promise<Answer> {
  requireLanguageModel(deps);
  return answerLocally(deps, ctx, question);
}
