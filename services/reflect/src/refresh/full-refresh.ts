import type { CallContext } from "@memory-bank/context";
import type { JsonObject } from "@memory-bank/jobs";
import { answerQuestion } from "../answer/answer-question.ts";
import type { Question } from "../answer/question.ts";
import type { MentalModel } from "../domain/mental-model.ts";
import type { ReflectDeps } from "../reflect-deps.ts";
import type { RefreshAttempt } from "./refresh-attempt.ts";

/** Answers the model's question anew. */
export async function refreshFully(
  deps: ReflectDeps,
  ctx: CallContext,
  model: MentalModel,
  question: Question,
  extra: JsonObject = {},
): Promise<RefreshAttempt> {
  const answer = await answerQuestion(deps, ctx, question);
  const content = answer.text.trim();
  if (content === "") return { kind: "failed", reason: "empty_candidate" };
  if (answer.structuredOutput === null) return { kind: "failed", reason: "structured_output_failed" };
  return {
    kind: "answered",
    content,
    answer,
    outcome: content === model.content ? "content_unchanged" : "content_written",
    extra,
  };
}
