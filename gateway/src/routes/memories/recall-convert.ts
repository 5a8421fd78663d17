import { Budget } from "@memory-bank/proto/common/v1/common";
import type { RecallRequest, RecallResponse, RecallResult } from "@memory-bank/proto/memory/v1/memory";
import { instantText, referenceInstant } from "../instant-text.ts";
import { tagFilterToProto } from "../tag-filter.ts";
import type { RecallBody } from "./recall-schemas.ts";

export const budgetByWord = { low: Budget.LOW, mid: Budget.MID, high: Budget.HIGH } as const;

const UNBOUNDED = -1;
const TOKENS_MAX = 2 ** 31 - 1;

export function recallToProto(bankId: string, body: RecallBody): RecallRequest {
  const { include, min_scores: minScores, temporal_window: window } = body;
  const { entities = null, chunks, source_facts: sourceFacts } = include;
  const queryTimestampUs = referenceInstant("query_timestamp", body.query_timestamp);
  const tags = tagFilterToProto(body);
  return {
    bankId,
    query: body.query,
    types: [...body.types],
    budget: budgetByWord[body.budget],
    maxTokens: body.max_tokens,
    preferObservations: body.prefer_observations,
    trace: body.trace,
    ...(queryTimestampUs !== undefined && { queryTimestampUs }),
    ...(entities && { includeEntities: inclusion(entities.max_tokens) }),
    ...(chunks && { includeChunks: inclusion(chunks.max_tokens) }),
    ...(sourceFacts && { includeSourceFacts: inclusion(sourceFacts.max_tokens, sourceFacts.max_tokens_per_observation) }),
    ...(tags && { tags }),
    ...(minScores && { minScores: { ...minScores } }),
    ...(window && { windowStartUs: window.start, windowEndUs: window.end }),
    maxCommitSeq: 0,
    minCommitSeq: 0,
    forReflect: false,
  };
}

function inclusion(maxTokens: number, maxTokensPerObservation = UNBOUNDED) {
  return { maxTokens: maxTokens === UNBOUNDED ? TOKENS_MAX : maxTokens, maxTokensPerObservation };
}

/** Additions stand in the answer when they were asked for, also when there are none. */
export function recallFromProto(request: RecallRequest, answer: RecallResponse) {
  return {
    results: answer.results.map(resultFromProto),
    ...(request.includeEntities && {
      entities: keyed(
        answer.entities,
        ({ canonicalName }) => canonicalName,
        ({ entityId, canonicalName }) => ({ entity_id: entityId, canonical_name: canonicalName, observations: [] }),
      ),
    }),
    ...(request.includeChunks && {
      chunks: keyed(
        answer.chunks,
        ({ id }) => id,
        ({ id, text, chunkIndex, truncated }) => ({ id, text, chunk_index: chunkIndex, truncated }),
      ),
    }),
    ...(request.includeSourceFacts && {
      source_facts: keyed(answer.sourceFacts, ({ id }) => id, resultFromProto),
      source_facts_truncated: answer.sourceFactsTruncated,
    }),
    ...(request.trace && { trace: traceFromProto(answer) }),
  };
}

/** A record by name that takes any name, `__proto__` too. */
function keyed<T, U>(items: readonly T[], nameOf: (item: T) => string, convert: (item: T) => U): Record<string, U> {
  return Object.fromEntries(items.map((item) => [nameOf(item), convert(item)]));
}

function resultFromProto(result: RecallResult) {
  return {
    id: result.id,
    text: result.text,
    type: result.type,
    entities: result.entities,
    context: result.context,
    ...(result.occurredStartUs !== undefined && { occurred_start: instantText(result.occurredStartUs) }),
    ...(result.occurredEndUs !== undefined && { occurred_end: instantText(result.occurredEndUs) }),
    ...(result.mentionedAtUs !== undefined && { mentioned_at: instantText(result.mentionedAtUs) }),
    ...(result.documentId !== undefined && { document_id: result.documentId }),
    metadata: result.metadata,
    ...(result.chunkId !== undefined && { chunk_id: result.chunkId }),
    tags: result.tags,
    ...(result.sourceFactIds.length > 0 && { source_fact_ids: result.sourceFactIds }),
    ...(result.scores && { scores: scoresFromProto(result.scores) }),
  };
}

function scoresFromProto({ final, reranker, semantic, keyword }: NonNullable<RecallResult["scores"]>) {
  return {
    final,
    ...(reranker !== undefined && { reranker }),
    ...(semantic !== undefined && { semantic }),
    ...(keyword !== undefined && { keyword }),
  };
}

function traceFromProto({ trace, results }: RecallResponse) {
  return { ...trace, results: results.map(({ id, terms }) => ({ id, terms })) };
}
