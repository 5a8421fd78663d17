import { AppError, valueError } from "@memory-bank/errors";
import type { JsonObject } from "@memory-bank/jobs";
import { Budget } from "@memory-bank/proto/common/v1/common";
import type { ReflectRequest, ReflectResponse, ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import type { Rpc } from "@memory-bank/rpc";
import { answerQuestion } from "../answer/answer-question.ts";
import { type BudgetLevel, type Question, recallBounds } from "../answer/question.ts";
import { present, tagFilterFromProto } from "../convert.ts";
import type { Answer } from "../domain/answer.ts";
import { type ReflectBank, type ReflectDeps, readBank, requireLanguageModel } from "../reflect-deps.ts";

type Reflect = Pick<Rpc<typeof ReflectServiceService>, "reflect">;

/** Nobody waits longer for one answer (contract 1.7). */
export const ANSWER_TIMEOUT_MS = 300_000;
const TOKENS_UNLESS_TOLD = 4_096;

/** In place of an answer that the model refused or left empty. */
const NO_ANSWER = "The language model gave no answer to this question.";

const budgetWords: Readonly<Record<number, BudgetLevel>> = { [Budget.MID]: "mid", [Budget.HIGH]: "high" };

export const reflectHandlers = (deps: ReflectDeps): Reflect => ({
  async reflect(ctx, request) {
    const bank = await readBank(deps, ctx, request.bankId);
    requireLanguageModel(deps);
    if (!/[\p{L}\p{N}]/u.test(request.query)) {
      throw valueError(["body", "query"], "query must contain at least one letter or digit", request.query);
    }
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const bounded = { ...ctx, signal: AbortSignal.any([ctx.signal, timeout]) };
    try {
      return responseOf(await answerQuestion(deps, bounded, questionOf(bank, request)), request);
    } catch (error) {
      if (timeout.aborted && !ctx.signal.aborted) throw tooSlow(error);
      throw error;
    }
  },
});

function questionOf(bank: ReflectBank, request: ReflectRequest): Question {
  return {
    bank,
    query: request.context ? `${request.query}\n\n${request.context}` : request.query,
    asked: request.query,
    budget: budgetWords[request.budget] ?? "low",
    maxTokens: request.maxTokens > 0 ? request.maxTokens : TOKENS_UNLESS_TOLD,
    tags: tagFilterFromProto(request.tags),
    factTypes: request.factTypes,
    appliesAllDirectives: request.applyAllDirectives,
    hiddenModels: request.excludeMentalModels ? "all" : new Set(request.excludeMentalModelIds),
    recall: recallBounds(bank.config),
    responseSchema: request.responseSchema as JsonObject | undefined,
    maxCommitSeq: 0,
  };
}

function responseOf(answer: Answer, { includeFacts, includeTrace, traceOutputs }: ReflectRequest): ReflectResponse {
  const { input, output, cached, reasoning } = answer.usage;
  return {
    text: answer.text.trim() === "" ? NO_ANSWER : answer.text,
    usage: {
      inputTokens: input,
      outputTokens: output,
      totalTokens: input + output,
      cachedTokens: cached,
      thoughtsTokens: reasoning,
    },
    ...(answer.structuredOutput === undefined ? {} : { structuredOutput: answer.structuredOutput }),
    ...(includeFacts ? { basedOn: basedOn(answer) } : {}),
    ...(includeTrace
      ? {
          trace: {
            toolCalls: answer.tools.map(({ output: shown, input: given, ...call }) => ({
              ...call,
              input: { ...given },
              ...(traceOutputs ? { output: shown } : {}),
            })),
            llmCalls: answer.modelCalls.map((call) => ({ ...call })),
          },
        }
      : {}),
  };
}

function basedOn({ facts, models, directives, areDirectivesApplied }: Answer): NonNullable<ReflectResponse["basedOn"]> {
  return {
    memories: facts.map(({ id, text, type, context, occurredStartUs, occurredEndUs }) => ({
      id,
      text,
      type,
      context,
      ...present({ occurredStartUs, occurredEndUs }),
    })),
    mentalModels: models.map(({ id, text, name }) => ({ id, text, context: name })),
    directives: directives.map(({ id, name, content }) => ({ id, name, content })),
    ...(areDirectivesApplied ? {} : { directivesApplied: false }),
  };
}

const tooSlow = (cause: unknown): AppError =>
  new AppError("deadline_exceeded", "REFLECT_TIMEOUT", `Reflect ran past its limit of ${ANSWER_TIMEOUT_MS / 1_000} s`, { cause });
