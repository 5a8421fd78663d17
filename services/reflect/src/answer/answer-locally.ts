import type { CallContext } from "@memory-bank/context";
import { type Answer, noUsage, type TracedTool } from "../domain/answer.ts";
import { composeLocalAnswer } from "../domain/local-answer.ts";
import { fillStructure } from "../domain/local-structure.ts";
import type { ReflectDeps } from "../reflect-deps.ts";
import type { BudgetLevel, Question } from "./question.ts";
import { directivesFor, searchMemories, searchModels } from "./sources.ts";
import { traceTool } from "./trace.ts";

/** A person reads the list; a larger budget asks for more of it. */
const factsMax: Readonly<Record<BudgetLevel, number>> = { low: 12, mid: 24, high: 48 };
const MODELS_MAX = 2;
/** A model stands in for an answer only when it was made for nearly the same question. */
const LIKE_ENOUGH = 0.6;

/** Answers by rules, in the memories' own words: no model, no network, no token. */
export async function answerLocally(deps: ReflectDeps, ctx: CallContext, question: Question): Promise<Answer> {
  const { query, asked, recall, maxTokens, budget, responseSchema, factTypes } = question;
  const tools: TracedTool[] = [];
  const call = (tool: string) => ({ tool, input: { query }, iteration: 1 });
  const directives = await directivesFor(deps, ctx, question);
  const models = await traceTool(
    deps,
    tools,
    call("search_mental_models"),
    () => searchModels(deps, ctx, question, query, MODELS_MAX),
    (found) => ({ mental_model_ids: found.map(({ model }) => model.id) }),
  );
  const { facts } = await traceTool(
    deps,
    tools,
    call("recall"),
    () =>
      searchMemories(deps, ctx, question, {
        query,
        types: factTypes,
        maxTokens: recall.maxTokens,
        chunksMaxTokens: 0,
      }),
    (found) => ({ memory_ids: found.facts.map(({ id }) => id) }),
  );
  const usable = models.filter(({ likeness, isStale }) => likeness >= LIKE_ENOUGH && !isStale);
  const answer = composeLocalAnswer({
    query: asked,
    facts,
    models: usable.map(({ model }) => ({ id: model.id, text: model.content, name: model.name })),
    maxTokens,
    factsMax: factsMax[budget],
  });
  const cited = answer.isAnswered ? answer.facts : [];
  return {
    text: answer.text,
    facts: answer.facts,
    models: answer.models,
    directives,
    areDirectivesApplied: directives.length === 0,
    structuredOutput: responseSchema && fillStructure(responseSchema, answer.text, cited),
    usage: noUsage,
    tools,
    modelCalls: [],
  };
}
