import type { CallContext } from "@memory-bank/context";
import { Budget } from "@memory-bank/proto/common/v1/common";
import type { RecallResponse } from "@memory-bank/proto/memory/v1/memory";
import { present, tagFilterToProto } from "../convert.ts";
import type { Directive } from "../domain/answer.ts";
import { applicableDirectives } from "../domain/directives.ts";
import type { RetrievedFact } from "../domain/local-answer.ts";
import { MODELS_PER_BANK_MAX } from "../domain/mental-model.ts";
import { type RankedModel, rankModels } from "../domain/rank-models.ts";
import { openFilter } from "../domain/tags.ts";
import type { ReflectDeps } from "../reflect-deps.ts";
import { findStale } from "../refresh/staleness.ts";
import type { Question } from "./question.ts";

const DIRECTIVE_PAGE = 1_000; // the largest page that the bank service answers
const DIRECTIVES_MAX = 2_000; // more rules than any model can follow; the least important ones are left out

const budgets = { low: Budget.LOW, mid: Budget.MID, high: Budget.HIGH } as const;

/** The directives that apply to the question, most important first. */
export async function directivesFor(
  { bank: client }: Pick<ReflectDeps, "bank">,
  ctx: CallContext,
  { bank, tags, appliesAllDirectives }: Question,
): Promise<readonly Directive[]> {
  if (bank.bankUid === "") return [];
  const active = [];
  for (let offset = 0; offset < DIRECTIVES_MAX; offset += DIRECTIVE_PAGE) {
    const request = { bankId: bank.bankId, tags: tagFilterToProto(openFilter), activeOnly: true, limit: DIRECTIVE_PAGE, offset };
    const { directives, total } = await client.listDirectives(ctx, request);
    active.push(...directives);
    if (active.length >= total || directives.length === 0) break;
  }
  return applicableDirectives(active, tags, appliesAllDirectives).map(({ id, name, content }) => ({ id, name, content }));
}

export interface FoundModel extends RankedModel {
  readonly isStale: boolean;
}

/** Mental models that may be read for the question and speak of `query`, best first. */
export async function searchModels(
  deps: Pick<ReflectDeps, "store" | "memory">,
  ctx: CallContext,
  { bank, tags, hiddenModels }: Question,
  query: string,
  limit: number,
): Promise<readonly FoundModel[]> {
  if (hiddenModels === "all" || bank.bankUid === "") return [];
  const { models } = await deps.store.list({ bankUid: bank.bankUid, tags, limit: MODELS_PER_BANK_MAX, offset: 0 });
  const ranked = rankModels(
    query,
    models.filter(({ id }) => !hiddenModels.has(id)),
    limit,
  );
  const stale = await findStale(
    deps,
    ctx,
    bank.bankUid,
    ranked.map(({ model }) => model),
  );
  return ranked.map((found) => ({ ...found, isStale: stale.has(found.model.id) }));
}

export interface Search {
  readonly query: string;
  /** Fact types of this search, among those that the question allows. */
  readonly types: readonly string[];
  readonly maxTokens: number;
  readonly chunksMaxTokens: number;
  /** Memories committed at or before this are left out; 0 leaves out none. */
  readonly minCommitSeq?: number;
}

export interface Found {
  readonly facts: readonly RetrievedFact[];
  readonly chunks: readonly { readonly id: string; readonly text: string }[];
  /** Facts that wait for consolidation: observations do not know them yet. */
  readonly pendingConsolidation: number;
}

/** Memories within the question's scope, best first. */
export async function searchMemories(
  { memory }: Pick<ReflectDeps, "memory">,
  ctx: CallContext,
  { bank, budget, tags, maxCommitSeq }: Question,
  search: Search,
): Promise<Found> {
  if (bank.bankUid === "") return { facts: [], chunks: [], pendingConsolidation: 0 };
  const response = await memory.recall(ctx, {
    bankId: bank.bankId,
    query: search.query,
    types: [...search.types],
    budget: budgets[budget],
    maxTokens: search.maxTokens,
    // Whoever reads decides what an observation makes superfluous: it sees which memories were replaced.
    preferObservations: false,
    // The terms of the scores tell which memories a later one replaced.
    trace: true,
    tags: tagFilterToProto(tags),
    maxCommitSeq,
    minCommitSeq: search.minCommitSeq ?? 0,
    forReflect: true,
    ...(search.chunksMaxTokens > 0 ? { includeChunks: { maxTokens: search.chunksMaxTokens, maxTokensPerObservation: -1 } } : {}),
  });
  return {
    facts: response.results.map(factOf),
    chunks: response.chunks.map(({ id, text }) => ({ id, text })),
    pendingConsolidation: response.pendingConsolidation,
  };
}

function factOf(result: RecallResponse["results"][number]): RetrievedFact {
  const { id, text, type, context, entities, scores, terms } = result;
  return {
    id,
    text,
    type,
    context,
    entities,
    semantic: scores?.semantic,
    sourceIds: result.sourceFactIds,
    isSuperseded: terms.some(({ name }) => name === "superseded"),
    ...present({
      occurredStartUs: result.occurredStartUs,
      occurredEndUs: result.occurredEndUs,
      mentionedAtUs: result.mentionedAtUs,
    }),
  };
}
