import type { CallContext } from "@memory-bank/context";
import type { JsonObject } from "@memory-bank/jobs";
import { countTokens } from "@memory-bank/models";
import { structured } from "../agent/answer-with-model.ts";
import { proposeDelta } from "../agent/delta-with-model.ts";
import { shownFact } from "../agent/evidence-book.ts";
import { type CallableModel, createModelSession } from "../agent/model-session.ts";
import type { Question } from "../answer/question.ts";
import { directivesFor, searchMemories } from "../answer/sources.ts";
import { traceTool } from "../answer/trace.ts";
import { type Answer, type Fact, noUsage, type TracedTool } from "../domain/answer.ts";
import { citedFactsOf } from "../domain/based-on.ts";
import { applyOperations, type BlockOperation } from "../domain/block-operations.ts";
import { type Document, parseDocument, renderDocument } from "../domain/document.ts";
import { judgeEvidence } from "../domain/evidence.ts";
import { NOT_HELD, type RetrievedFact, withoutRestated } from "../domain/local-answer.ts";
import { proposeLocalDelta } from "../domain/local-delta.ts";
import { fillStructure } from "../domain/local-structure.ts";
import { answersOtherQuestion, hasAnswer, type MentalModel } from "../domain/mental-model.ts";
import { systemPrompt } from "../prompts/system-prompt.ts";
import type { ReflectDeps } from "../reflect-deps.ts";
import { refreshFully } from "./full-refresh.ts";
import type { RefreshAttempt } from "./refresh-attempt.ts";

/** What changed in a model's scope since its last refresh. */
export interface ScopeNews {
  readonly changedCount: number;
  /** Cited memories that no longer exist. */
  readonly goneIds: ReadonlySet<string>;
}

/** Whether the model's content can be edited instead of written anew. */
export function isDeltaDue(model: MentalModel): boolean {
  return model.trigger.mode === "delta" && hasAnswer(model) && !answersOtherQuestion(model);
}

/** Edits the model's content by what is new; what is not touched keeps its words. */
export async function refreshByDelta(
  deps: ReflectDeps,
  ctx: CallContext,
  model: MentalModel,
  question: Question,
  news: ScopeNews,
): Promise<RefreshAttempt> {
  if (news.changedCount === 0 && news.goneIds.size === 0) return { kind: "preserved" };
  // Not an answer that could be added to.
  if (model.content.startsWith(NOT_HELD)) return refreshFully(deps, ctx, model, question, notApplied("no_answer_before"));
  const document = parseDocument(model.content);
  if (!document) return { kind: "failed", reason: "structured_doc_unreadable" };

  const { query, factTypes, recall } = question;
  const tools: TracedTool[] = [];
  const search = { query, types: factTypes, maxTokens: recall.maxTokens, chunksMaxTokens: 0 };
  const { facts } = await traceTool(
    deps,
    tools,
    { tool: "recall", input: { query }, iteration: 1 },
    () => searchMemories(deps, ctx, question, search),
    (found) => ({ memory_ids: found.facts.map(({ id }) => id) }),
  );
  const edit = { model, question, document, goneIds: news.goneIds, facts, cited: citedFactsOf(model.reflectResponse) };
  const proposal = await propose(deps, ctx, edit);
  if (!proposal) return { kind: "failed", reason: "delta_ops_failed" };

  const { operations } = proposal;
  const { document: edited, appliedCount, skippedCount } = applyOperations(document, operations);
  if (operations.length > 0 && appliedCount === 0) return { kind: "failed", reason: "delta_ops_all_skipped" };
  const content = appliedCount === 0 ? model.content : renderDocument(edited);
  if (content.trim() === "") {
    // Rules take out only what is gone, so nothing is left to keep; a model that empties a document has erred.
    if (deps.languageModel.kind === "openai") return { kind: "failed", reason: "delta_not_applied" };
    return refreshFully(deps, ctx, model, question, notApplied("nothing_left"));
  }
  if (countTokens(content) > model.maxTokens) return refreshFully(deps, ctx, model, question, notApplied("too_long"));
  const structuredOutput = await proposal.structure(content);
  if (structuredOutput === null) return { kind: "failed", reason: "structured_output_failed" };
  return {
    kind: "answered",
    content,
    answer: { text: content, models: [], tools, structuredOutput, ...proposal.answer() },
    outcome: content === model.content ? "content_unchanged" : "content_written",
    extra: { delta_applied: appliedCount > 0, delta_operations_applied: appliedCount, delta_operations_skipped: skippedCount },
  };
}

interface Edit {
  readonly model: MentalModel;
  readonly question: Question;
  readonly document: Document;
  readonly goneIds: ReadonlySet<string>;
  /** What a search for the model's question brings now. */
  readonly facts: readonly RetrievedFact[];
  readonly cited: readonly Fact[];
}

interface Proposal {
  readonly operations: readonly BlockOperation[];
  structure(content: string): Promise<Answer["structuredOutput"]>;
  /** What the edited document rests on, and what the edit cost. */
  answer(): Pick<Answer, "facts" | "directives" | "areDirectivesApplied" | "usage" | "modelCalls">;
}

function propose(deps: ReflectDeps, ctx: CallContext, edit: Edit): Promise<Proposal | undefined> {
  const { languageModel } = deps;
  return languageModel.kind === "openai" ? proposeWithModel(deps, ctx, languageModel, edit) : proposeLocally(deps, ctx, edit);
}

async function proposeLocally(deps: ReflectDeps, ctx: CallContext, edit: Edit): Promise<Proposal> {
  const { question, facts } = edit;
  const found = withoutRestated(facts.filter(judgeEvidence(question.query, facts).isRelated));
  const delta = proposeLocalDelta({ ...edit, found });
  const directives = await directivesFor(deps, ctx, question);
  return {
    operations: delta.operations,
    structure: async (content) => question.responseSchema && fillStructure(question.responseSchema, content, delta.facts),
    answer: () => ({
      facts: delta.facts,
      directives,
      areDirectivesApplied: directives.length === 0,
      usage: noUsage,
      modelCalls: [],
    }),
  };
}

async function proposeWithModel(
  deps: ReflectDeps,
  ctx: CallContext,
  languageModel: CallableModel,
  { model, question, document, goneIds, facts, cited }: Edit,
): Promise<Proposal | undefined> {
  const session = createModelSession(languageModel, { nowUs: deps.nowUs, signal: ctx.signal });
  const directives = await directivesFor(deps, ctx, question);
  const citedTexts = new Map(cited.map(({ id, text }) => [id, text]));
  const news = withoutRestated(facts).filter(({ id, text }) => citedTexts.get(id) !== text);
  const gone = cited.filter(({ id }) => goneIds.has(id));
  const kept = cited.filter(({ id }) => !goneIds.has(id));
  const system = systemPrompt({ bank: question.bank, directives, budget: question.budget, nowUs: deps.nowUs() });
  // The scope changed, and nothing of it concerns the question.
  const nothing = { operations: [], memoryIds: [] };
  const delta =
    news.length === 0 && gone.length === 0
      ? nothing
      : await proposeDelta(session, system, {
          query: question.query,
          document,
          newMemories: news.map(shownFact),
          goneMemories: gone.map(({ id, text }) => ({ id, text })),
          maxTokens: model.maxTokens,
        });
  if (!delta) return undefined;
  const used = news.filter(({ id }) => delta.memoryIds.includes(id));
  return {
    operations: delta.operations,
    structure: async (content) =>
      question.responseSchema && structured(session, question.responseSchema, content, question.query),
    answer: () => ({
      facts: [...kept.filter(({ id }) => !used.some((fact) => fact.id === id)), ...used],
      directives,
      areDirectivesApplied: true,
      usage: session.usage,
      modelCalls: session.calls,
    }),
  };
}

const notApplied = (reason: string): JsonObject => ({ delta_applied: false, delta_skipped_reason: reason });
