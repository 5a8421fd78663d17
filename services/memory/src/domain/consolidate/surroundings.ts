import { cutToTokens } from "@memory-bank/models";
import type { MemoryStore } from "../../memory-store.ts";
import { type RecallDeps, recallMemories } from "../../recall-memories.ts";
import { familyOf, type RankingRecord } from "../fact.ts";
import type { RecallIndexView } from "../recall/recall-index-view.ts";
import { recallSettings } from "../recall/recall-settings.ts";
import type { ObservationScopes, Unit } from "../unit.ts";
import type { ConsolidationSettings } from "./consolidation-settings.ts";
import type { ShownObservation, Surroundings } from "./consolidator.ts";
import { type Scope, scopeKey, scopesOf } from "./scopes.ts";

export interface SurroundingsDeps extends RecallDeps {
  readonly store: MemoryStore;
  readonly nowUs: () => number;
}

export interface SurroundingsOf {
  readonly bankUid: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly settings: ConsolidationSettings;
  readonly scope: Scope;
  readonly facts: readonly Unit[];
  readonly scopesOverride: ObservationScopes | undefined;
  /** Every unit that a lookup answers is noted here by id. */
  readonly shown: Map<string, Unit>;
  readonly signal: AbortSignal;
}

/** Facts that restate one another lie closer than this in every embedding that we use; the words decide then. */
const similarMin = 0.5;
/** Restatements come first; beyond twenty others of the same meaning the fact adds nothing. */
const similarMax = 20;
/** Facts on one topic of one person; older ones were settled by earlier runs. */
const factsByTermMax = 64;
/** Facts looked through for a topic, newest first: about 50 ms of reading the first time. */
const factsReadMax = 2_000;
/** Tokens of recalled observations per fact (contract 13.3). */
const recalledTokensMax = 512;
/** A recall's question may not be longer (contract 1.10). */
const questionTokensMax = 500;
/** Observations that one call is shown: about what 8 facts times 512 tokens bring. */
const observationsShownMax = 60;

export function createSurroundings(deps: SurroundingsDeps, of: SurroundingsOf): Surroundings {
  const { store, vectors, indexes } = deps;
  const { bankUid, scope, settings, shown, signal } = of;
  const key = scopeKey(scope);

  const show = (units: readonly Unit[]): readonly Unit[] => {
    for (const unit of units) shown.set(unit.unitId, unit);
    return units;
  };
  const feedsScope = (unit: Unit): boolean =>
    scopesOf(unit.tags, of.scopesOverride ?? unit.observationScopes).some((own) => scopeKey(own) === key);
  /** Units that were read before come again as they were, so that they are understood once. */
  const read = async (unitIds: readonly string[]): Promise<readonly Unit[]> => {
    const unknown = unitIds.filter((unitId) => !shown.has(unitId));
    if (unknown.length > 0) show(await store.getUnits(bankUid, unknown));
    return unitIds.flatMap((unitId) => shown.get(unitId) ?? []);
  };
  const inScope = async (unitIds: readonly string[]): Promise<readonly Unit[]> =>
    (await read(unitIds)).filter((unit) => unit.type !== "observation" && feedsScope(unit));
  const vectorsOfFacts = lazily(() =>
    vectors.get(
      bankUid,
      of.facts.map((fact) => fact.unitId),
    ),
  );

  return {
    async similarFacts(fact, isWanted) {
      const vector = (await vectorsOfFacts()).get(fact.unitId);
      if (!vector) return [];
      const families = [familyOf(fact.type)];
      const hits = await vectors.search(bankUid, vector, { limit: similarMax + 1, minScore: similarMin, families });
      const { index } = await indexes.fresh(bankUid);
      const wanted = hits.flatMap((hit) => index.find(hit.unitId) ?? []).filter((record) => isWanted(record));
      return inScope(wanted.map((record) => record.unitId).filter((unitId) => unitId !== fact.unitId));
    },

    async factsWithTerms(terms, isWanted) {
      const { index } = await indexes.fresh(bankUid);
      const held =
        terms === undefined ? index.view.records.filter((record) => record !== undefined) : recordsWithTerms(index.view, terms);
      held.sort((a, b) => (b.mentionedAtUs ?? 0) - (a.mentionedAtUs ?? 0) || (a.unitId < b.unitId ? -1 : 1));
      const found = held.slice(0, factsReadMax).filter((record) => record.type !== "observation" && isWanted(record));
      return inScope(found.slice(0, factsByTermMax).map((record) => record.unitId));
    },

    async observationsOf(unitIds) {
      const { index } = await indexes.fresh(bankUid);
      const wanted = new Set(unitIds);
      const found = index.view.records.filter(
        (record) =>
          record?.type === "observation" &&
          record.sourceUnitIds.some((unitId) => wanted.has(unitId)) &&
          scopeKey([...record.tags].sort()) === key,
      );
      const observations = await store.getUnits(
        bankUid,
        found.map((record) => record!.unitId),
      );
      const oldestFirst = observations.toSorted((a, b) => a.createdAtUs - b.createdAtUs || (a.unitId < b.unitId ? -1 : 1));
      show(oldestFirst);
      return Promise.all(
        oldestFirst.map(async (observation) => ({
          observation,
          sources: await read(observation.sourceUnitIds),
        })),
      );
    },

    async relatedObservations() {
      const lists = await Promise.all(of.facts.map((fact) => relatedIds(fact)));
      const ids = roundRobin(lists).slice(0, observationsShownMax);
      const observations = show(await store.getUnits(bankUid, ids));
      return withSources(observations);
    },
  };

  /** The nearest by meaning first, so that a twin is never missed, then what recall finds. */
  async function relatedIds(fact: Unit): Promise<string[]> {
    const tags = scope.length > 0 ? ({ tags: scope, tagsMatch: "all_strict" } as const) : {};
    const { hits } = await recallMemories(deps, {
      bankUid,
      query: cutToTokens(fact.text, questionTokensMax),
      filter: { ...tags, types: ["observation"] },
      settings: recallSettings(of.config, "low", recalledTokensMax),
      maxTokens: recalledTokensMax,
      referenceUs: fact.mentionedAtUs ?? deps.nowUs(),
      window: undefined,
      minScores: {},
      prefersObservations: false,
      isTraced: false,
      signal,
    });
    const recalled = hits.map(({ record }) => record.unitId);
    const nearest = hits.toSorted((a, b) => (b.semantic ?? -1) - (a.semantic ?? -1))[0]?.record.unitId;
    return nearest === undefined ? [] : [nearest, ...recalled.filter((unitId) => unitId !== nearest)];
  }

  /** Sources in order of the observations, as many as the token bounds allow. */
  async function withSources(observations: readonly Unit[]): Promise<ShownObservation[]> {
    const result: ShownObservation[] = [];
    let left = settings.sourceTokensMax;
    for (const observation of observations) {
      let own = settings.sourceTokensPerObservationMax;
      const sources: Unit[] = [];
      for (const source of await read(observation.sourceUnitIds)) {
        if (source.tokenCount > own || source.tokenCount > left) break;
        own -= source.tokenCount;
        left -= source.tokenCount;
        sources.push(source);
      }
      result.push({ observation, sources });
    }
    return result;
  }
}

/** Live units that hold any of the index terms in their own text. */
function recordsWithTerms(view: RecallIndexView, terms: readonly string[]): RankingRecord[] {
  const units = new Set<number>();
  for (const term of new Set(terms)) {
    const termId = view.postings.idOf(term);
    if (termId === undefined) continue;
    for (const passage of view.postings.get(termId).passages) {
      for (const unit of view.passages.units[passage]!) if (view.unitTerms[unit]!.includes(termId)) units.add(unit);
    }
  }
  return [...units].map((unit) => view.records[unit]!);
}

function roundRobin(lists: readonly (readonly string[])[]): string[] {
  const taken = new Set<string>();
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let at = 0; at < longest; at++) {
    for (const list of lists) if (list[at] !== undefined) taken.add(list[at]!);
  }
  return [...taken];
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
