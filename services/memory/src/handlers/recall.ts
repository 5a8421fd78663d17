import { countTokens, cutToTokens } from "@memory-bank/models";
import { Budget as BudgetMessage } from "@memory-bank/proto/common/v1/common";
import type { MemoryServiceService, RecallRequest, RecallResponse } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { chunkToProto, defined, resultToProto, tagFilterFromProto } from "../convert.ts";
import type { RankingRecord } from "../domain/fact.ts";
import { type Budget, recallSettings } from "../domain/recall/recall-settings.ts";
import { findBank, type MemoryDeps } from "../memory-deps.ts";
import { type Recalled, recallMemories, requireAskable } from "../recall-memories.ts";

type Recall = Pick<Rpc<typeof MemoryServiceService>, "recall">;

const budgetWords: Record<number, Budget> = {
  [BudgetMessage.LOW]: "low",
  [BudgetMessage.MID]: "mid",
  [BudgetMessage.HIGH]: "high",
};

export const recallHandlers = (deps: MemoryDeps): Recall => ({
  async recall(ctx, request) {
    requireAskable(request.query);
    const bank = await findBank(deps, ctx, request.bankId);
    if (!bank) return emptyResponse;
    const recalled = await recallMemories(deps, {
      bankUid: bank.bankUid,
      query: request.query,
      filter: { ...tagFilterFromProto(request.tags), ...(request.types.length > 0 ? { types: request.types } : {}) },
      settings: recallSettings(bank.config, budgetWords[request.budget] ?? "mid", request.maxTokens),
      maxTokens: request.maxTokens,
      referenceUs: request.queryTimestampUs ?? deps.nowUs(),
      window:
        request.windowStartUs === undefined && request.windowEndUs === undefined
          ? undefined
          : { startUs: request.windowStartUs ?? Number.MIN_SAFE_INTEGER, endUs: request.windowEndUs ?? Number.MAX_SAFE_INTEGER },
      minScores: minScores(request),
      prefersObservations: request.preferObservations,
      isTraced: request.trace,
      signal: ctx.signal,
    });
    return {
      results: recalled.hits.map((hit) => resultToProto(hit.record, hit)),
      ...entitiesOf(request, recalled),
      ...(await chunksOf(deps, bank.bankUid, request, recalled)),
      ...sourceFactsOf(request, recalled),
      commitSeq: recalled.seq,
      pendingConsolidation: request.forReflect ? (await deps.store.stats(bank.bankUid)).pendingConsolidation : 0,
      ...(request.trace ? { trace: { query: recalled.understood, timings_ms: recalled.timings } } : {}),
    };
  },
});

const emptyResponse: RecallResponse = {
  results: [],
  entities: [],
  chunks: [],
  sourceFacts: [],
  sourceFactsTruncated: false,
  commitSeq: 0,
  pendingConsolidation: 0,
};

function minScores({ minScores: wanted }: RecallRequest) {
  return defined({ semantic: wanted?.semantic, keyword: wanted?.keyword, final: wanted?.final ?? wanted?.reranker });
}

/** The entities of the results in order of first use, as many as their names fit the token bound. */
function entitiesOf({ includeEntities }: RecallRequest, { hits }: Recalled): Pick<RecallResponse, "entities"> {
  if (!includeEntities) return { entities: [] };
  const names = new Map<string, string>();
  for (const { record } of hits) {
    for (const [i, entityId] of record.entityIds.entries()) names.set(entityId, record.entityNames[i]!);
  }
  const entities = [];
  let tokens = 0;
  for (const [entityId, canonicalName] of names) {
    tokens += nameTokens(canonicalName);
    if (tokens > includeEntities.maxTokens) break;
    entities.push({ entityId, canonicalName });
  }
  return { entities };
}

/** Names come back with every recall of a bank; counting them anew would cost more than the ranking. */
const namesCountedMax = 20_000;
const countedNames = new Map<string, number>();

function nameTokens(name: string): number {
  const counted = countedNames.get(name);
  if (counted !== undefined) return counted;
  if (countedNames.size >= namesCountedMax) countedNames.clear();
  const tokens = countTokens(name);
  countedNames.set(name, tokens);
  return tokens;
}

/** The chunks of the results in order of first use; the one at the token bound is cut, and nothing comes after it. */
async function chunksOf(
  deps: MemoryDeps,
  bankUid: string,
  { includeChunks }: RecallRequest,
  { hits }: Recalled,
): Promise<Pick<RecallResponse, "chunks">> {
  if (!includeChunks) return { chunks: [] };
  const ids = [...new Set(hits.flatMap(({ record }) => record.chunkId ?? []))];
  const stored = new Map((await deps.store.getChunks(bankUid, ids)).map((chunk) => [chunk.chunkId, chunk]));
  const chunks = [];
  let left = includeChunks.maxTokens;
  for (const chunkId of ids) {
    const chunk = stored.get(chunkId);
    if (!chunk || left <= 0) continue;
    const text = cutToTokens(chunk.text, left);
    left -= countTokens(text);
    const { id, chunkIndex } = chunkToProto("", chunk);
    chunks.push({ id, text, chunkIndex, truncated: text.length < chunk.text.length });
  }
  return { chunks };
}

/** The facts that the observations among the results cite, within the bounds in all and per observation. */
function sourceFactsOf(
  { includeSourceFacts }: RecallRequest,
  { hits, find }: Recalled,
): Pick<RecallResponse, "sourceFacts" | "sourceFactsTruncated"> {
  if (!includeSourceFacts) return { sourceFacts: [], sourceFactsTruncated: false };
  const { maxTokens, maxTokensPerObservation } = includeSourceFacts;
  const taken = new Map<string, RankingRecord>();
  let truncated = false;
  let tokens = 0;
  for (const { record } of hits) {
    let own = 0;
    for (const sourceId of record.sourceUnitIds) {
      const source = find(sourceId);
      if (!source || taken.has(sourceId)) continue;
      own += source.tokenCount;
      if (tokens + source.tokenCount > maxTokens || (maxTokensPerObservation >= 0 && own > maxTokensPerObservation)) {
        truncated = true;
        break;
      }
      tokens += source.tokenCount;
      taken.set(sourceId, source);
    }
  }
  return { sourceFacts: [...taken.values()].map((source) => resultToProto(source)), sourceFactsTruncated: truncated };
}
