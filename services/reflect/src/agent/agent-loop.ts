import { isAppError } from "@memory-bank/errors";
import { countTokens, type Message, type ToolCall } from "@memory-bank/models";
import { Type } from "typebox";
import { Check } from "typebox/value";
import type { BudgetLevel, Question } from "../answer/question.ts";
import { traceTool } from "../answer/trace.ts";
import type { TracedTool } from "../domain/answer.ts";
import { dataBlock, dataText } from "../prompts/data-block.ts";
import { agentTools, toolComplaints } from "../prompts/tools.ts";
import type { ReflectDeps } from "../reflect-deps.ts";
import type { CitedIds, EvidenceBook } from "./evidence-book.ts";
import type { ModelSession } from "./model-session.ts";
import { allowedTools, type createToolRunner } from "./tool-runner.ts";

/** Rounds before the answer has to be written (contract 15.2: ten, times the budget's share). */
const rounds: Readonly<Record<BudgetLevel, number>> = { low: 5, mid: 10, high: 20 };
/** Tokens of conversation from which on no more is gathered (contract 3.4). */
export const CONTEXT_TOKENS_MAX = 100_000;
const CALLS_PER_ROUND_MAX = 8; // more at once is a model that has lost its way

const doneSchema = Type.Object({
  answer: Type.String(),
  memory_ids: Type.Optional(Type.Array(Type.String())),
  mental_model_ids: Type.Optional(Type.Array(Type.String())),
  observation_ids: Type.Optional(Type.Array(Type.String())),
});

export interface WrittenAnswer extends CitedIds {
  readonly text: string;
}

export interface LoopInput {
  readonly deps: Pick<ReflectDeps, "nowUs">;
  readonly question: Question;
  readonly system: string;
  readonly session: ModelSession;
  readonly runner: ReturnType<typeof createToolRunner>;
  readonly book: EvidenceBook;
  readonly tools: TracedTool[];
}

/**
 * Lets the model search until it says that it is done. Each way of searching is forced once, in order; then the model is
 * free. Answers `undefined` when the rounds are over or the conversation has grown too long: then the answer is written from
 * what was gathered.
 */
export async function searchUntilDone(input: LoopInput): Promise<WrittenAnswer | undefined> {
  const { question, system, session } = input;
  const forced = allowedTools(question);
  const offered = [...forced.map((name) => agentTools[name]), agentTools.expand, agentTools.done];
  const messages: Message[] = [
    { role: "system", content: system },
    { role: "user", content: `${dataBlock("question", question.query)}\n\nThe answer has at most ${question.maxTokens} tokens.` },
  ];
  let tokens = countTokens(system) + countTokens(question.query);
  // The last round is the writing.
  for (let iteration = 1; iteration < rounds[question.budget] && tokens < CONTEXT_TOKENS_MAX; iteration++) {
    const next = forced.shift();
    const choice = next ? { name: next } : ("required" as const);
    const completion = await session
      .tools(`round ${iteration}`, messages, { offered, choice }, question.maxTokens)
      .catch((error: unknown) => {
        // The model reads less than is assumed here: the answer is written from what fits.
        if (isAppError(error, "PROMPT_TOO_LONG") && !input.book.isEmpty) return undefined;
        throw error;
      });
    if (!completion) return undefined;
    if (completion.kind !== "toolCalls") {
      messages.push({ role: "assistant", content: completion.kind === "text" ? completion.text : "" });
      messages.push({ role: "user", content: toolComplaints.notATool });
      continue;
    }
    const { toolCalls, text } = completion;
    messages.push({ role: "assistant", content: text, toolCalls });
    const turn = await answerCalls(input, toolCalls, iteration);
    if (turn.done) return turn.done;
    for (const [i, content] of turn.outputs.entries()) {
      messages.push({ role: "tool", toolCallId: toolCalls[i]!.id, content });
      tokens += countTokens(content);
    }
    if (turn.foundFreshModel && question.budget !== "high") forced.length = 0;
  }
  return undefined;
}

interface Turn {
  readonly done?: WrittenAnswer;
  /** One per call, in order. */
  readonly outputs: readonly string[];
  readonly foundFreshModel: boolean;
}

async function answerCalls(input: LoopInput, calls: readonly ToolCall[], iteration: number): Promise<Turn> {
  const outputs: string[] = [];
  let foundFreshModel = false;
  for (const [i, call] of calls.entries()) {
    if (call.name === agentTools.done.name) {
      const done = readDone(call.arguments, input.book);
      if (typeof done !== "string") return { done, outputs, foundFreshModel };
      outputs.push(dataText({ error: done }));
      continue;
    }
    if (i >= CALLS_PER_ROUND_MAX) {
      outputs.push(dataText({ error: toolComplaints.tooManyCalls }));
      continue;
    }
    const result = await traceTool(
      input.deps,
      input.tools,
      { tool: call.name, input: inputOf(call.arguments), iteration },
      () => input.runner.run(call.name, call.arguments),
      ({ output }) => output,
    );
    foundFreshModel ||= result.foundFreshModel;
    outputs.push(dataText(result.output));
  }
  return { outputs, foundFreshModel };
}

/** The answer, or what is wrong with it. */
function readDone(given: unknown, book: EvidenceBook): WrittenAnswer | string {
  if (!Check(doneSchema, given)) return toolComplaints.badArguments;
  if (book.isEmpty) return toolComplaints.nothingRetrieved;
  if (given.answer.trim() === "") return toolComplaints.emptyAnswer;
  return {
    text: given.answer,
    memoryIds: [...(given.observation_ids ?? []), ...(given.memory_ids ?? [])],
    modelIds: given.mental_model_ids ?? [],
  };
}

function inputOf(given: unknown): TracedTool["input"] {
  return typeof given === "object" && given !== null && !Array.isArray(given)
    ? (given as TracedTool["input"])
    : { arguments: String(given) };
}
