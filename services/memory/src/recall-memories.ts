import { AppError, valueError } from "@memory-bank/errors";
import { countTokens, type Embedder } from "@memory-bank/models";
import type { Interval, RankingRecord } from "./domain/fact.ts";
import { GRAPH_SEEDS_MAX } from "./domain/recall/candidates.ts";
import { type RecallFilter, searchScope } from "./domain/recall/filter.ts";
import { planRecall } from "./domain/recall/plan.ts";
import { understandQuery } from "./domain/recall/query.ts";
import { type RecallHit, rankRecall } from "./domain/recall/recall.ts";
import type { RecallSettings } from "./domain/recall/recall-settings.ts";
import { meaningShareOf } from "./domain/recall/score.ts";
import type { MemoryStore } from "./memory-store.ts";
import type { RecallIndexes } from "./recall-indexes.ts";
import type { VectorIndex } from "./vector-index.ts";

export interface RecallDeps {
  readonly store: Pick<MemoryStore, "lacksVectors">;
  readonly indexes: RecallIndexes;
  readonly vectors: VectorIndex;
  readonly embedder: Embedder;
}

/** What is found of a bank whose vectors are being made anew: some would come up, and seem the only ones that fit. */
const noMeanings: Pick<VectorIndex, "search" | "scores"> = { search: async () => [], scores: async () => new Map() };

export interface RecallCall {
  readonly bankUid: string;
  readonly query: string;
  readonly filter: RecallFilter;
  readonly settings: RecallSettings;
  readonly maxTokens: number;
  /** What "last week" is relative to. */
  readonly referenceUs: number;
  readonly window: Interval | undefined;
  readonly minScores: { readonly semantic?: number; readonly keyword?: number; readonly final?: number };
  readonly prefersObservations: boolean;
  readonly isTraced: boolean;
  readonly signal: AbortSignal;
}

export interface Recalled {
  readonly hits: readonly RecallHit[];
  /** The bank's commit that was read. */
  readonly seq: number;
  /** Finds further records of the same bank, for sources of observations. */
  readonly find: (unitId: string) => RankingRecord | undefined;
  /** What the question was understood to ask. */
  readonly understood: Readonly<Record<string, unknown>>;
  /** Milliseconds by step. */
  readonly timings: Readonly<Record<string, number>>;
}

/** Questions longer than this are refused (contract 1.10). */
const queryTokensMax = 500;
/** No text of fewer bytes has more tokens than the bound, so most questions need no counting. */
const certainlyShort = queryTokensMax;
/** Vectors less similar than this are noise. Lower than Hindsight's 0.3, which costs 0.2 points of recall in ten: the budget bounds the arm anyway. */
const semanticMin = 0.1;
/** Results before the token budget, per candidate of one arm (contract 14.3). */
const hitsPerCandidate = 2;

/** Finds memories: understand the question, gather candidates from the arms, score them in one way, cut to the budget. */
export async function recallMemories(deps: RecallDeps, call: RecallCall): Promise<Recalled> {
  const { bankUid, filter, settings } = call;
  const vectors = (await deps.store.lacksVectors(bankUid)) ? noMeanings : deps.vectors;
  const clock = createStopwatch();
  const first = await deps.indexes.fresh(bankUid);
  clock.lap("index");
  const query = understandQuery(call.query, call.referenceUs, first.index.view, call.window);
  clock.lap("understand");
  const [vector] = await deps.embedder.embed([query.embeddingText], { purpose: "query", signal: call.signal });
  clock.lap("embed");
  // The question may have waited for the encoder: read the bank as it is now.
  const { index, seq, neighboursOf } = await deps.indexes.fresh(bankUid);
  const scope = searchScope(index.view, filter);
  const semanticHits = await vectors.search(bankUid, vector!, { limit: settings.budget, minScore: semanticMin, ...scope });
  const neighbours = settings.isGraphEnabled
    ? await neighboursOf(semanticHits.slice(0, GRAPH_SEEDS_MAX).map((hit) => hit.unitId))
    : new Map<string, readonly { unitId: string; weight: number }[]>();
  clock.lap("search");
  const plan = planRecall(index.view, query, filter, {
    budget: settings.budget,
    semanticHits,
    meaningShare: meaningShareOf(deps.embedder.provider),
    linksOf: (unitId) => neighbours.get(unitId) ?? [],
    isTemporalEnabled: settings.isTemporalEnabled,
    isGraphEnabled: settings.isGraphEnabled,
  });
  clock.lap("plan");
  const cosines = await vectors.scores(bankUid, vector!, plan.unitIdsToScore);
  clock.lap("score");
  const hits = rankRecall(plan, cosines, {
    hitsMax: hitsPerCandidate * settings.budget,
    maxTokens: call.maxTokens,
    countTokens: (record) => record.tokenCount,
    minScores: call.minScores,
    prefersObservations: call.prefersObservations,
    isRerankingEnabled: settings.isRerankingEnabled,
    isTraced: call.isTraced,
  });
  clock.lap("rank");
  const { terms, people, intervals, embeddingText } = query;
  return {
    hits,
    seq,
    find: (unitId) => index.find(unitId),
    understood: { terms, people, intervals, embedding_text: embeddingText, candidates: plan.candidateCount },
    timings: clock.laps,
  };
}

/** Refuses questions that cannot be searched for: without a letter or digit (422), or too long (400). */
export function requireAskable(query: string): void {
  if (!/[\p{L}\p{N}]/u.test(query)) {
    throw valueError(["body", "query"], "query must contain at least one letter or digit", query);
  }
  if (query.length > certainlyShort && countTokens(query) > queryTokensMax) {
    throw new AppError("invalid_argument", "QUERY_TOO_LONG", `Query is too long: at most ${queryTokensMax} tokens are allowed`);
  }
}

function createStopwatch(): { readonly laps: Record<string, number>; lap(name: string): void } {
  const laps: Record<string, number> = {};
  let last = performance.now();
  return {
    laps,
    lap(name) {
      const now = performance.now();
      laps[name] = Math.round((now - last) * 1000) / 1000;
      last = now;
    },
  };
}
