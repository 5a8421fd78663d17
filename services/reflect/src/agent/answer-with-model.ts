import type { CallContext } from "@memory-bank/context";
import type { JsonObject, JsonValue } from "@memory-bank/jobs";
import { countTokens, cutToTokens } from "@memory-bank/models";
import { Errors } from "typebox/schema";
import type { Question } from "../answer/question.ts";
import { directivesFor } from "../answer/sources.ts";
import type { Answer, Directive, TracedTool } from "../domain/answer.ts";
import { rewritePrompt } from "../prompts/rewrite-prompt.ts";
import { structurePrompt } from "../prompts/structure-prompt.ts";
import { systemPrompt } from "../prompts/system-prompt.ts";
import type { ReflectDeps } from "../reflect-deps.ts";
import { searchUntilDone } from "./agent-loop.ts";
import { conclude } from "./conclude.ts";
import { createEvidenceBook } from "./evidence-book.ts";
import { type CallableModel, createModelSession, type ModelSession } from "./model-session.ts";
import { createToolRunner } from "./tool-runner.ts";

const STRUCTURE_TRIES = 2; // the second one is told what was wrong with the first

/** Answers with a language model that searches the bank by tools. What it cites is checked against what it was shown. */
export async function answerWithModel(
  deps: ReflectDeps,
  ctx: CallContext,
  model: CallableModel,
  question: Question,
): Promise<Answer> {
  const session = createModelSession(model, { nowUs: deps.nowUs, signal: ctx.signal });
  const directives = await directivesFor(deps, ctx, question);
  const system = systemPrompt({ bank: question.bank, directives, budget: question.budget, nowUs: deps.nowUs() });
  const book = createEvidenceBook();
  const tools: TracedTool[] = [];
  const runner = createToolRunner(deps, ctx, question, book);
  const written =
    (await searchUntilDone({ deps, question, system, session, runner, book, tools })) ??
    (await conclude(session, system, question, book));
  const text = await withinLength(session, written.text.trim(), question.maxTokens, directives);
  const { responseSchema } = question;
  return {
    text,
    ...book.citations(written),
    directives,
    areDirectivesApplied: true,
    structuredOutput: responseSchema && text !== "" ? await structured(session, responseSchema, text, question.query) : undefined,
    tools,
    usage: session.usage,
    modelCalls: session.calls,
  };
}

/** An answer that is too long is rewritten once; what is too long even then is cut. */
export async function withinLength(
  session: ModelSession,
  text: string,
  maxTokens: number,
  directives: readonly Directive[],
): Promise<string> {
  if (countTokens(text) <= maxTokens) return text;
  const rewritten = (await session.text("rewrite", rewritePrompt(text, maxTokens, directives), maxTokens)).trim();
  return cutToTokens(rewritten === "" ? text : rewritten, maxTokens);
}

/** The answer in the caller's schema; `null` when the model does not bring it into it. */
export async function structured(session: ModelSession, shape: JsonObject, text: string, query: string): Promise<JsonValue> {
  let complaint: string | undefined;
  for (let tries = 0; tries < STRUCTURE_TRIES; tries++) {
    const prompt = structurePrompt(text, query, complaint);
    const { json } = await session.json("structured output", prompt, { name: "structured_output", shape }, countTokens(text) * 2);
    const faults = json === undefined ? ["it was no JSON"] : faultsOf(shape, json);
    if (json !== undefined && faults.length === 0) return json;
    complaint = faults.join("; ");
  }
  return null;
}

function faultsOf(shape: JsonObject, json: JsonValue): string[] {
  const [follows, faults] = Errors({ ...shape }, json);
  return follows ? [] : faults.map(({ instancePath, message }) => `${instancePath || "/"} ${message}`);
}
