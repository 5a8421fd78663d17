import type { VectorHit } from "../../vector-index.ts";
import { askedPeople, createFeatureReader, FEATURE_COUNT, featureAt, type ReadFeatures, wordScore } from "./features.ts";
import { type LexicalScores, scoreWords } from "./lexical.ts";
import type { RecallQuery } from "./query.ts";
import type { RecallIndexView } from "./recall-index-view.ts";
import { dot, type RowWeights } from "./score.ts";
import { createTopK } from "./top-k.ts";

/** A unit's link to another, as the link store has it. */
export interface UnitLink {
  readonly unitId: string;
  /** 0..1. */
  readonly weight: number;
}

export interface CandidateSources {
  /** Most candidates from each arm. */
  readonly budget: number;
  /** Best first; empty when the semantic arm is off. */
  readonly semanticHits: readonly VectorHit[];
  /** See `meaningShareOf`. */
  readonly meaningShare: number;
  /** Semantic and causal links of a seed unit. */
  readonly linksOf: (unitId: string) => readonly UnitLink[];
  readonly isTemporalEnabled: boolean;
  readonly isGraphEnabled: boolean;
}

export const armNames = ["semantic", "keyword", "graph", "temporal"] as const;
export type ArmName = (typeof armNames)[number];

/** Passages worth a full look, and where they come from. Slots: valid until the index changes. */
export interface Candidates {
  /** Each arm's passages, best first. */
  readonly arms: Readonly<Record<ArmName, readonly number[]>>;
  /** All of them, each once. */
  readonly passages: readonly number[];
  readonly words: LexicalScores;
  readonly read: ReadFeatures;
}

/** As many of the nearest units open the graph. */
export const GRAPH_SEEDS_MAX = 20;
/** An entity in more units than this (the speaker of a diary) connects everything and so tells nothing. */
const ENTITY_UNITS_MAX = 200;
/** Supersession is followed this far; longer chains are found through their own words. */
const SUPERSEDING_STEPS_MAX = 5;

export function findCandidates(
  view: RecallIndexView,
  query: RecallQuery,
  sources: CandidateSources,
  weights: RowWeights,
  admittedUnits: Uint8Array,
): Candidates {
  const { passages } = view;
  const admitted = new Uint8Array(passages.slotCount);
  for (let unit = 0; unit < admittedUnits.length; unit++) {
    if (admittedUnits[unit] === 1 && view.records[unit] !== undefined) admitted[view.unitPassage[unit]!] = 1;
  }

  const semantic: number[] = [];
  const isSeen = new Uint8Array(passages.slotCount);
  for (const hit of sources.semanticHits) {
    const unit = view.slotOf(hit.unitId);
    if (unit === undefined || admittedUnits[unit] === 0) continue;
    const passage = view.unitPassage[unit]!;
    if (isSeen[passage] === 0) semantic.push(passage);
    isSeen[passage] = 1;
  }
  const near = sources.isGraphEnabled ? expandGraph(view, sources, admitted) : new Map<number, number>();
  const words = scoreWords(view, query, admitted);
  const read = createFeatureReader(view, query, words, near);

  const people = askedPeople(view, query);
  const precedes = tellsLater(view);
  const keyword = createTopK(sources.budget, precedes);
  const temporal = createTopK(sources.budget, precedes);
  const graph = createTopK(sources.budget, precedes);
  const hasTime = sources.isTemporalEnabled && query.intervals.length > 0;
  const row = new Float64Array(FEATURE_COUNT);
  for (let passage = 0; passage < passages.slotCount; passage++) {
    if (admitted[passage] === 0) continue;
    const weighting = passages.author[passage]! < 0 ? weights.note : weights.turn;
    // The whole row costs five times as much, and the best by words are the same few hundred passages.
    if (words.turn[passage]! > 0 || words.window[passage]! > 0 || words.context[passages.context[passage]!]! > 0) {
      const saidBy = people.has(passages.author[passage]!) ? weighting[featureAt.person]! : 0;
      keyword.offer(passage, wordScore(view, words, passage, weighting) + saidBy);
    }
    if (!hasTime) continue;
    read(passage, row, 0);
    if (row[featureAt.toldThen]! + row[featureAt.aboutThen]! > 0) temporal.offer(passage, dot(row, weighting));
  }
  for (const [passage, score] of near) graph.offer(passage, score);

  const arms = { semantic, keyword: keyword.take(), graph: graph.take(), temporal: temporal.take() };
  const found: number[] = [];
  const isFound = new Uint8Array(passages.slotCount);
  const note = (passage: number): void => {
    if (isFound[passage] === 0) found.push(passage);
    isFound[passage] = 1;
  };
  for (const arm of armNames) for (const passage of arms[arm]) note(passage);
  if (view.totals.superseded > 0) noteSuperseding(view, found, admitted, note);
  return { arms, passages: found, words, read };
}

/** Order among equal scores: told later first, then by unit id, so that slots never decide. */
function tellsLater({ passages, records }: RecallIndexView): (a: number, b: number) => boolean {
  const firstId = (passage: number): string => records[passages.units[passage]![0]!]!.unitId;
  const toldAt = (passage: number): number => {
    const at = passages.mentionedAtUs[passage]!;
    return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at;
  };
  return (a, b) => (toldAt(a) === toldAt(b) ? firstId(a) < firstId(b) : toldAt(a) > toldAt(b));
}

/** Passages that share entities or links with the nearest units: tanh(half the shared entities) plus the weights of their links, as a share of what it can be. */
function expandGraph(view: RecallIndexView, sources: CandidateSources, admitted: Uint8Array): Map<number, number> {
  const shared = new Map<number, number>();
  const linked = new Map<number, number>();
  for (const seed of sources.semanticHits.slice(0, GRAPH_SEEDS_MAX)) {
    const seedUnit = view.slotOf(seed.unitId);
    if (seedUnit === undefined) continue;
    for (const entityId of view.records[seedUnit]!.entityIds) {
      const units = view.unitsByEntity.get(entityId)!;
      if (units.size > ENTITY_UNITS_MAX) continue;
      for (const unit of units) if (unit !== seedUnit) shared.set(unit, (shared.get(unit) ?? 0) + 1);
    }
    for (const link of sources.linksOf(seed.unitId)) {
      const unit = view.slotOf(link.unitId);
      if (unit !== undefined) linked.set(unit, Math.max(linked.get(unit) ?? 0, link.weight));
    }
  }
  const near = new Map<number, number>();
  for (const unit of new Set([...shared.keys(), ...linked.keys()])) {
    const passage = view.unitPassage[unit]!;
    if (admitted[passage] === 0) continue;
    const signal = (Math.tanh(0.5 * (shared.get(unit) ?? 0)) + (linked.get(unit) ?? 0)) / 2;
    near.set(passage, Math.max(near.get(passage) ?? 0, signal));
  }
  return near;
}

/** What replaced a found fact must be found with it, or the past would look current. */
function noteSuperseding(
  view: RecallIndexView,
  found: readonly number[],
  admitted: Uint8Array,
  note: (passage: number) => void,
): void {
  for (let step = 0, from = 0; step < SUPERSEDING_STEPS_MAX && from < found.length; step++) {
    const until = found.length;
    for (; from < until; from++) {
      for (const unit of view.passages.units[found[from]!]!) {
        for (const unitId of view.records[unit]!.supersededBy) {
          const superseding = view.slotOf(unitId);
          if (superseding !== undefined && admitted[view.unitPassage[superseding]!] === 1) note(view.unitPassage[superseding]!);
        }
      }
    }
  }
}
