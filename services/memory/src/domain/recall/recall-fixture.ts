/** Test support: a bank from a few lines, and a whole recall over it in one call. */
import type { FactFlags, RankingRecord } from "../fact.ts";
import type { CandidateSources } from "./candidates.ts";
import type { RecallFilter } from "./filter.ts";
import { planRecall } from "./plan.ts";
import { understandQuery } from "./query.ts";
import { type RankOptions, type RecallHit, rankRecall } from "./recall.ts";
import type { RecallIndex } from "./recall-index.ts";

export const DAY_US = 86_400_000_000;
export const NOON = Date.UTC(2023, 4, 8, 12) * 1000;

const noFlags: FactFlags = {
  endsWithQuestion: false,
  containsQuestion: false,
  hasTimeExpression: false,
  hasPlace: false,
  nameCount: 0,
};

export interface RecordParts extends Partial<Omit<RankingRecord, "flags">> {
  readonly flags?: Partial<FactFlags>;
}

/** A note without author in a session of its own, unless said otherwise. A question mark at the end sets its flags. */
export function record(unitId: string, text: string, parts: RecordParts = {}): RankingRecord {
  const asks = text.endsWith("?");
  return {
    ...{ unitId, type: "world", text, context: "", author: undefined, subject: undefined, documentId: undefined },
    ...{ sessionId: unitId, passage: 0, sentenceIndex: 0, entityIds: [], entityNames: [], tags: [], intervals: [] },
    ...{ occurredStartUs: undefined, occurredEndUs: undefined, mentionedAtUs: NOON, createdAtUs: NOON, proofCount: 1 },
    ...{ pairNorm: 0, supersededBy: [], sourceUnitIds: [], chunkId: undefined, metadata: {}, tokenCount: 1 },
    ...parts,
    flags: { ...noFlags, endsWithQuestion: asks, containsQuestion: asks, ...parts.flags },
  };
}

/** Turns of one session, `Name: text` each; unit ids are `<session>.<turn>`. */
export function conversation(sessionId: string, turns: readonly string[], parts: RecordParts = {}): RankingRecord[] {
  return turns.map((text, passage) =>
    record(`${sessionId}.${passage}`, text, { author: text.slice(0, text.indexOf(":")), sessionId, passage, ...parts }),
  );
}

export interface RecallOverrides {
  readonly filter?: RecallFilter;
  readonly sources?: Partial<CandidateSources>;
  readonly options?: Partial<RankOptions>;
  /** Cosine of each unit with the question. */
  readonly cosines?: Readonly<Record<string, number>>;
  readonly referenceUs?: number;
}

export function recall(index: RecallIndex, question: string, overrides: RecallOverrides = {}): RecallHit[] {
  const query = understandQuery(question, overrides.referenceUs ?? NOON, index.view);
  const cosines = new Map(Object.entries(overrides.cosines ?? {}));
  const semanticHits = [...cosines].map(([unitId, score]) => ({ unitId, score })).sort((a, b) => b.score - a.score);
  const plan = planRecall(index.view, query, overrides.filter ?? {}, {
    ...{ budget: 100, semanticHits, meaningShare: 1, linksOf: () => [], isTemporalEnabled: true, isGraphEnabled: true },
    ...overrides.sources,
  });
  return rankRecall(plan, cosines, {
    ...{ hitsMax: 200, maxTokens: 4096, countTokens: ({ text }) => text.split(" ").length, prefersObservations: false },
    ...{ isRerankingEnabled: true, isTraced: true },
    ...overrides.options,
  });
}

export function idsOf(hits: readonly RecallHit[]): string[] {
  return hits.map((hit) => hit.record.unitId);
}

/** Value of one term of a hit, 0 when it is not among its terms. */
export function termOf(hits: readonly RecallHit[], unitId: string, name: string): number {
  return hits.find((hit) => hit.record.unitId === unitId)?.terms.find((term) => term.name === name)?.value ?? 0;
}
