import type { CallContext } from "@memory-bank/context";
import type { JsonObject } from "@memory-bank/jobs";
import { countTokens } from "@memory-bank/models";
import type { Question } from "../answer/question.ts";
import { directivesFor, searchMemories } from "../answer/sources.ts";
import { traceTool } from "../answer/trace.ts";
import { type Answer, noUsage, type TracedTool } from "../domain/answer.ts";
import { citedFactsOf } from "../domain/based-on.ts";
import { applyOperations } from "../domain/block-operations.ts";
import { parseDocument, renderDocument } from "../domain/document.ts";
import { judgeEvidence } from "../domain/evidence.ts";
import { NOT_HELD } from "../domain/local-answer.ts";
import { proposeLocalDelta } from "../domain/local-delta.ts";
import { fillStructure } from "../domain/local-structure.ts";
import { answersOtherQuestion, hasAnswer, type MentalModel } from "../domain/mental-model.ts";
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
  const document = parseDocument(model.content);
  if (!document) return { kind: "failed", reason: "structured_doc_unreadable" };
  return editLocally(deps, ctx, model, question, { document, goneIds: news.goneIds });
}

async function editLocally(
  deps: ReflectDeps,
  ctx: CallContext,
  model: MentalModel,
  question: Question,
  { document, goneIds }: Pick<ScopeNews, "goneIds"> & { readonly document: NonNullable<ReturnType<typeof parseDocument>> },
): Promise<RefreshAttempt> {
  // Not an answer that could be added to.
  if (model.content.startsWith(NOT_HELD)) return refreshFully(deps, ctx, model, question, notApplied("no_answer_before"));
  const { query, factTypes, recall, responseSchema } = question;
  const tools: TracedTool[] = [];
  const search = { query, types: factTypes, maxTokens: recall.maxTokens, chunksMaxTokens: 0, prefersObservations: true };
  const { facts } = await traceTool(
    deps,
    tools,
    { tool: "recall", input: { query }, iteration: 1 },
    () => searchMemories(deps, ctx, question, search),
    (found) => ({ memory_ids: found.facts.map(({ id }) => id) }),
  );
  const found = facts.filter(judgeEvidence(query, facts).isRelated);
  const delta = proposeLocalDelta({ document, cited: citedFactsOf(model.reflectResponse), goneIds, found });
  const { document: edited, appliedCount, skippedCount } = applyOperations(document, delta.operations);
  if (delta.operations.length > 0 && appliedCount === 0) return { kind: "failed", reason: "delta_ops_all_skipped" };
  const content = appliedCount === 0 ? model.content : renderDocument(edited);
  // Everything that it rested on is gone, or it has grown too long: both want an answer of its own.
  if (content.trim() === "") return refreshFully(deps, ctx, model, question, notApplied("nothing_left"));
  if (countTokens(content) > model.maxTokens) return refreshFully(deps, ctx, model, question, notApplied("too_long"));

  const directives = await directivesFor(deps, ctx, question);
  const answer: Answer = {
    text: content,
    facts: delta.facts,
    models: [],
    directives,
    areDirectivesApplied: directives.length === 0,
    structuredOutput: responseSchema && fillStructure(responseSchema, content, delta.facts),
    usage: noUsage,
    tools,
    modelCalls: [],
  };
  return {
    kind: "answered",
    content,
    answer,
    outcome: content === model.content ? "content_unchanged" : "content_written",
    extra: { delta_applied: appliedCount > 0, delta_operations_applied: appliedCount, delta_operations_skipped: skippedCount },
  };
}

const notApplied = (reason: string): JsonObject => ({ delta_applied: false, delta_skipped_reason: reason });
