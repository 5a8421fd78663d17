import { AppError } from "@memory-bank/errors";
import type { TokenUsage } from "@memory-bank/models";
import type { ObservationUpdate } from "../../memory-store.ts";
import { foldText } from "../text/analyzer.ts";
import { addUsage, noUsage } from "../token-usage.ts";
import type { BankRef, NewUnit, ObservationScopes, Unit } from "../unit.ts";
import type { FactBatch } from "./batches.ts";
import type { ConsolidationSettings } from "./consolidation-settings.ts";
import type { Consolidator, Proposal } from "./consolidator.ts";
import { newObservation, type ReadObservation, readObservation, updatedObservation } from "./observation-units.ts";
import { type Scope, scopeKey, scopeLimit } from "./scopes.ts";
import { createSurroundings, type SurroundingsDeps } from "./surroundings.ts";

export interface DecideDeps extends SurroundingsDeps {
  readonly consolidator: Consolidator;
  readonly newId: () => string;
}

export interface DecideOn {
  readonly bank: BankRef;
  readonly config: Readonly<Record<string, unknown>>;
  readonly settings: ConsolidationSettings;
  readonly scopesOverride: ObservationScopes | undefined;
  readonly batch: FactBatch;
  readonly signal: AbortSignal;
}

/** Everything that one batch changes, with ids and vectors, before it is checked against what happened meanwhile. */
export interface Decision {
  readonly deletes: readonly string[];
  readonly updates: readonly ObservationUpdate[];
  readonly creates: readonly NewUnit[];
  readonly supersedes: readonly { readonly unitId: string; readonly byId: string }[];
  /** Of created and updated observations. */
  readonly vectors: ReadonlyMap<string, Float32Array>;
  /** The units that the decision rests on, as they were. */
  readonly restsOn: readonly Unit[];
  readonly usage: TokenUsage;
}

/** The nearest observation of a scope from this cosine on is a twin (contract 3.4, `consolidation_dedup_threshold`). */
const twinMin = 0.97;
/** Nearest observations looked at for a twin: those of other scopes stand in between. */
const twinCandidatesMax = 20;

/** What becomes of the observations of each scope that the batch feeds. Reads only. */
export async function decide(deps: DecideDeps, on: DecideOn): Promise<Decision> {
  const draft = createDraft();
  let usage = noUsage;
  for (const scope of on.batch.scopes) {
    on.signal.throwIfAborted();
    usage = addUsage(usage, await decideScope(deps, on, scope, draft));
  }
  const { created, updated } = draft;
  const sourcesOf = [...created, ...updated].map(
    ([id, { sources }]) => [id, new Set(sources.map(({ unitId }) => unitId))] as const,
  );
  return {
    deletes: [...draft.deletes],
    updates: [...updated.values()].map(({ observation, read, sources, scope }) =>
      updatedObservation(observation, read, sources, scope),
    ),
    creates: [...created].map(([unitId, { read, sources, scope }]) =>
      newObservation(read, sources, { scope, unitId, nowUs: deps.nowUs() }),
    ),
    // What no longer holds ranks below the fact that ended it, and below the observations that say what holds now.
    supersedes: draft.supersedes.flatMap(({ unitId, byId }) => [
      { unitId, byId },
      ...sourcesOf.filter(([, ids]) => ids.has(unitId) && ids.has(byId)).map(([id]) => ({ unitId, byId: id })),
    ]),
    vectors: draft.vectors,
    restsOn: [...draft.restsOn.values()],
    usage,
  };
}

interface Drafted {
  readonly read: ReadObservation;
  readonly sources: readonly Unit[];
  readonly scope: Scope;
}

interface Draft {
  readonly deletes: Set<string>;
  readonly updated: Map<string, Drafted & { readonly observation: Unit }>;
  readonly created: Map<string, Drafted>;
  readonly supersedes: { unitId: string; byId: string }[];
  readonly vectors: Map<string, Float32Array>;
  readonly restsOn: Map<string, Unit>;
}

const createDraft = (): Draft => ({
  deletes: new Set(),
  updated: new Map(),
  created: new Map(),
  supersedes: [],
  vectors: new Map(),
  restsOn: new Map(),
});

async function decideScope(deps: DecideDeps, on: DecideOn, scope: Scope, draft: Draft): Promise<TokenUsage> {
  const { bank, settings, batch, signal } = on;
  const { bankUid } = bank;
  const shown = new Map<string, Unit>(batch.facts.map((fact) => [fact.unitId, fact]));
  const around = createSurroundings(deps, { ...on, bankUid, scope, facts: batch.facts, shown });
  const counts = await deps.store.observationScopes(bankUid);
  const present = counts.find(({ tags }) => scopeKey([...tags].sort()) === scopeKey(scope))?.count ?? 0;
  const createsMax = Math.max(0, scopeLimit(scope, settings) - present);
  const { mission } = settings;
  const proposal = await deps.consolidator.propose({ scope, facts: batch.facts, around, mission, createsMax, signal });
  const checked = checkedProposal(proposal, shown, createsMax);
  let { usage } = proposal;

  for (const observationId of checked.deletes) {
    draft.deletes.add(observationId);
    note(draft, shown.get(observationId)!);
  }
  for (const { observationId, text, sources } of checked.updates) {
    await update(deps, on, draft, { observation: shown.get(observationId)!, text, fresh: sources, scope, shown });
  }
  for (const { text, sources } of checked.creates) {
    const read = readObservation(text, sources);
    const [vector] = await deps.embedder.embed([read.embeddedText], { signal, purpose: "document" });
    const twin = await findTwin(deps, bankUid, vector!, scope, draft);
    const merged = twin && (await deps.consolidator.mergeTwins({ text, existing: twin, signal }));
    usage = addUsage(usage, merged?.usage ?? noUsage);
    if (twin && merged?.text !== undefined) {
      await update(deps, on, draft, { observation: twin, text: merged.text, fresh: sources, scope, shown });
      continue;
    }
    const unitId = deps.newId();
    draft.created.set(unitId, { read, sources, scope });
    draft.vectors.set(unitId, vector!);
    for (const source of sources) note(draft, source);
  }
  draft.supersedes.push(...checked.supersedes);
  return usage;
}

function note(draft: Draft, unit: Unit): void {
  draft.restsOn.set(unit.unitId, unit);
}

interface Rewrite {
  readonly observation: Unit;
  readonly text: string;
  /** Sources that it gains. */
  readonly fresh: readonly Unit[];
  readonly scope: Scope;
  /** What was read already. */
  readonly shown: ReadonlyMap<string, Unit>;
}

async function knownOrRead(deps: DecideDeps, on: DecideOn, shown: ReadonlyMap<string, Unit>, unitIds: readonly string[]) {
  const unknown = unitIds.filter((unitId) => !shown.has(unitId));
  const read = unknown.length === 0 ? [] : await deps.store.getUnits(on.bank.bankUid, unknown);
  return [...unitIds.flatMap((unitId) => shown.get(unitId) ?? []), ...read];
}

async function update(
  deps: DecideDeps,
  on: DecideOn,
  draft: Draft,
  { observation, text, fresh, scope, shown }: Rewrite,
): Promise<void> {
  const { unitId } = observation;
  const before = draft.updated.get(unitId)?.sources ?? (await knownOrRead(deps, on, shown, observation.sourceUnitIds));
  const sources = [...new Map([...before, ...fresh].map((source) => [source.unitId, source])).values()];
  const isSame = text === observation.text && sources.length === observation.sourceUnitIds.length;
  if (isSame && !draft.updated.has(unitId)) return;
  const read = readObservation(text, sources);
  const [vector] = await deps.embedder.embed([read.embeddedText], { signal: on.signal, purpose: "document" });
  draft.updated.set(unitId, { observation, read, sources, scope });
  draft.vectors.set(unitId, vector!);
  for (const unit of [observation, ...sources]) note(draft, unit);
}

async function findTwin(
  deps: DecideDeps,
  bankUid: string,
  vector: Float32Array,
  scope: Scope,
  draft: Draft,
): Promise<Unit | undefined> {
  const families = ["observation"] as const;
  const hits = await deps.vectors.search(bankUid, vector, { limit: twinCandidatesMax, minScore: twinMin, families });
  const units = await deps.store.getUnits(
    bankUid,
    hits.map((hit) => hit.unitId),
  );
  return units.find((unit) => !draft.deletes.has(unit.unitId) && scopeKey([...unit.tags].sort()) === scopeKey(scope));
}

interface Checked {
  readonly deletes: readonly string[];
  readonly updates: readonly { observationId: string; text: string; sources: readonly Unit[] }[];
  readonly creates: readonly { text: string; sources: readonly Unit[] }[];
  readonly supersedes: Proposal["supersedes"];
}

/**
 * What of a proposal may be done (contract 13.4): ids that were not shown are ignored, an observation changes once, and a new one
 * neither repeats a text that is there nor goes over the scope's limit.
 */
function checkedProposal(proposal: Proposal, shown: ReadonlyMap<string, Unit>, createsMax: number): Checked {
  const isObservation = (unitId: string): boolean => shown.get(unitId)?.type === "observation";
  const sourcesOf = (unitIds: readonly string[]): Unit[] =>
    [...new Set(unitIds)].flatMap((unitId) => shown.get(unitId) ?? []).filter((unit) => unit.type !== "observation");
  const deletes = [...new Set(proposal.deletes.filter(isObservation))];
  const changed = new Set(deletes);
  const texts = new Set<string>();
  for (const unit of shown.values()) if (unit.type === "observation" && !changed.has(unit.unitId)) texts.add(foldText(unit.text));
  const updates = proposal.updates.flatMap(({ observationId, text, sourceIds }) => {
    const sources = sourcesOf(sourceIds);
    if (!isObservation(observationId) || changed.has(observationId) || sources.length === 0 || !hasWords(text)) return [];
    changed.add(observationId);
    texts.add(foldText(text));
    return [{ observationId, text: text.trim(), sources }];
  });
  const creates = proposal.creates.flatMap(({ text, sourceIds }) => {
    const sources = sourcesOf(sourceIds);
    if (sources.length === 0 || !hasWords(text) || texts.has(foldText(text))) return [];
    texts.add(foldText(text));
    return [{ text: text.trim(), sources }];
  });
  const isFact = (unitId: string): boolean => shown.has(unitId) && !isObservation(unitId);
  const supersedes = proposal.supersedes.filter(({ unitId, byId }) => isFact(unitId) && isFact(byId) && unitId !== byId);
  return { deletes, updates, creates: creates.slice(0, createsMax), supersedes };
}

const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** Whether a failure says that nothing can be decided at present, rather than that a fact cannot be. */
export function isOutage(error: unknown, signal: AbortSignal): boolean {
  const codes: readonly string[] = ["unavailable", "resource_exhausted", "deadline_exceeded", "failed_precondition", "cancelled"];
  return signal.aborted || (error instanceof AppError && codes.includes(error.code));
}
