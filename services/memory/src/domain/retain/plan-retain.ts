import type { Entity, UnitSummary } from "../../memory-store.ts";
import type { VectorHit } from "../../vector-index.ts";
import { type ExtractedFact, familyOf } from "../fact.ts";
import { pairNorm } from "../recall/pair-norm.ts";
import { analyze, foldText } from "../text/analyzer.ts";
import { eventUsOf, type Link, type NewEntity, type NewUnit, type ObservationScopes } from "../unit.ts";
import { type DuplicateCandidate, isComparable } from "./duplicates.ts";
import { openEntityDirectory } from "./entity-directory.ts";
import { type Dated, semanticLinksMax, temporalLinks } from "./links.ts";

/** A fact with everything that its item says about it, before the bank is asked about neighbours and names. */
export interface PreparedFact {
  readonly unitId: string;
  readonly fact: ExtractedFact;
  readonly vector: Float32Array;
  readonly tokenCount: number;
  readonly documentId: string;
  readonly chunkId: string;
  readonly sessionId: string;
  readonly passage: number;
  readonly mentionedAtUs: number | undefined;
  readonly context: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly observationScopes: ObservationScopes | undefined;
  readonly exactEntities: boolean;
  /** Earlier facts of the same item that this one is an effect of. */
  readonly causes: readonly string[];
}

/** What the bank knows that bears on the facts, read at one commit. */
export interface Surroundings {
  readonly entities: readonly Entity[];
  readonly cooccurring: (entityId: string) => Promise<ReadonlySet<string>>;
  /** Nearest vectors of a fact, the batch's own among them; best first. */
  readonly similar: (unitId: string) => readonly VectorHit[];
  /** Live units among those hits that are similar enough to be duplicates. */
  readonly summaries: ReadonlyMap<string, UnitSummary>;
  /** Existing units close in time to a fact. */
  readonly nearInTime: (unitId: string) => readonly Dated[];
  /** Documents whose units go away with this commit; they are nobody's duplicate and nobody's neighbour. */
  readonly replacedDocumentIds: ReadonlySet<string>;
}

export interface RetainThresholds {
  /** Cosine above which comparable facts are one (`retain_dedup_threshold`). */
  readonly duplicate: number;
  /** Cosine from which facts are linked (`semantic_link_min_similarity`). */
  readonly semanticLink: number;
}

export interface RetainPlan {
  readonly units: readonly NewUnit[];
  readonly skippedUnitIds: readonly string[];
  readonly entities: readonly NewEntity[];
  readonly entityKinds: readonly { readonly entityId: string; readonly kind: string }[];
  readonly links: readonly Link[];
}

/** Decides what of the facts is stored and how it hangs together: duplicates, entities, links. Equal input, equal plan. */
export async function planRetain(
  facts: readonly PreparedFact[],
  around: Surroundings,
  thresholds: RetainThresholds,
  deps: { readonly newId: () => string; readonly nowUs: number },
): Promise<RetainPlan> {
  const kept = dropDuplicates(facts, around, thresholds.duplicate);
  const directory = openEntityDirectory(around.entities, { newId: deps.newId, cooccurring: around.cooccurring });
  const norms = pairNorms(facts);
  const units: NewUnit[] = [];
  for (const prepared of kept) {
    const { fact } = prepared;
    const entityIds: string[] = [];
    const eventUs = eventUsOf({ occurredStartUs: fact.occurredStartUs, mentionedAtUs: prepared.mentionedAtUs });
    for (const mention of fact.entities) {
      const entityId = await directory.resolve(mention, { eventUs, exact: prepared.exactEntities, companions: entityIds });
      if (!entityIds.includes(entityId)) entityIds.push(entityId);
    }
    units.push({
      unitId: prepared.unitId,
      type: fact.type,
      text: fact.text,
      context: prepared.context,
      documentId: prepared.documentId,
      chunkId: prepared.chunkId,
      sessionId: prepared.sessionId,
      passage: prepared.passage,
      sentenceIndex: fact.sentenceIndex,
      author: fact.author,
      subject: fact.subject,
      mentionedAtUs: prepared.mentionedAtUs,
      occurredStartUs: fact.occurredStartUs,
      occurredEndUs: fact.occurredEndUs,
      tags: prepared.tags,
      metadata: prepared.metadata,
      observationScopes: prepared.observationScopes,
      features: { intervals: fact.intervals, flags: fact.flags, pairNorm: norms.get(passageKey(prepared)) ?? 0 },
      tokenCount: prepared.tokenCount,
      entityIds,
      // A microsecond apart, so that facts of one call keep their order in every list.
      createdAtUs: deps.nowUs + units.length,
      proofCount: 1,
      sourceUnitIds: [],
      searchTokens: searchTokens(
        fact.text,
        prepared.context,
        fact.entities.map((mention) => mention.name),
      ),
    });
  }
  const keptIds = new Set(kept.map((prepared) => prepared.unitId));
  const skippedUnitIds = facts.map((prepared) => prepared.unitId).filter((unitId) => !keptIds.has(unitId));
  return {
    units,
    skippedUnitIds,
    entities: directory.created,
    entityKinds: [...directory.kinds].map(([entityId, kind]) => ({ entityId, kind })),
    links: linksOf(kept, new Set(skippedUnitIds), around, thresholds.semanticLink),
  };
}

/** The words by which lists find a unit: text, context and entity names, analysed. */
export function searchTokens(text: string, context: string, entityNames: readonly string[]): string[] {
  return [text, context, ...entityNames].flatMap((part) => analyze(part));
}

function dropDuplicates(facts: readonly PreparedFact[], around: Surroundings, threshold: number): PreparedFact[] {
  const kept: PreparedFact[] = [];
  const keptById = new Map<string, DuplicateCandidate>();
  const keptByWords = new Map<string, DuplicateCandidate[]>();
  for (const prepared of facts) {
    const fresh = candidateOf(prepared);
    const words = foldText(fresh.text);
    const twins = keptByWords.get(words) ?? [];
    const isDuplicate =
      twins.some((twin) => isComparable(fresh, twin)) ||
      around.similar(prepared.unitId).some(({ unitId, score }) => {
        if (score <= threshold || unitId === prepared.unitId) return false;
        const other = keptById.get(unitId) ?? around.summaries.get(unitId);
        return other !== undefined && !isReplaced(other, around) && isComparable(fresh, other);
      });
    if (isDuplicate) continue;
    kept.push(prepared);
    keptById.set(prepared.unitId, fresh);
    keptByWords.set(words, [...twins, fresh]);
  }
  return kept;
}

/** Units of a document that this commit replaces are nobody's duplicate. */
function isReplaced(unit: DuplicateCandidate | UnitSummary, around: Surroundings): boolean {
  return "documentId" in unit && unit.documentId !== undefined && around.replacedDocumentIds.has(unit.documentId);
}

function candidateOf({ fact, mentionedAtUs, tags }: PreparedFact): DuplicateCandidate {
  return {
    family: familyOf(fact.type),
    text: fact.text,
    author: fact.author,
    eventUs: eventUsOf({ occurredStartUs: fact.occurredStartUs, mentionedAtUs }),
    tags,
    entityNames: fact.entities.map((mention) => mention.name),
  };
}

/** The store drops links to units that are gone by the time of the commit; only skipped facts of this batch are left out here. */
function linksOf(kept: readonly PreparedFact[], skipped: ReadonlySet<string>, around: Surroundings, semanticMin: number): Link[] {
  const own = new Map(kept.map((prepared) => [prepared.unitId, prepared]));
  const dated = kept.flatMap(({ unitId, fact, mentionedAtUs }) => {
    const eventUs = eventUsOf({ occurredStartUs: fact.occurredStartUs, mentionedAtUs });
    return eventUs === undefined ? [] : [{ unitId, eventUs, family: familyOf(fact.type) }];
  });
  const semantic = kept.flatMap(({ unitId: fromId }) =>
    around
      .similar(fromId)
      .filter(({ unitId, score }) => unitId !== fromId && score >= semanticMin && !skipped.has(unitId))
      .slice(0, semanticLinksMax)
      .map(({ unitId, score }): Link => ({ fromId, toId: unitId, type: "semantic", weight: Math.min(1, score) })),
  );
  const causal = kept.flatMap(({ unitId, causes }) =>
    causes
      .filter((cause) => own.has(cause))
      .map((cause): Link => ({ fromId: unitId, toId: cause, type: "caused_by", weight: 1 })),
  );
  return [...temporalLinks(dated, around.nearInTime), ...semantic, ...causal];
}

const passageKey = ({ sessionId, passage }: PreparedFact) => `${sessionId} ${passage}`;

/** Per passage the length of its sentence vectors' sum with those of the passage before it (see `pairNorm`). */
function pairNorms(facts: readonly PreparedFact[]): Map<string, number> {
  const norms = new Map<string, number>();
  let previous: Float32Array[] = [];
  for (let at = 0; at < facts.length; ) {
    const first = facts[at]!;
    const passage: Float32Array[] = [];
    while (at < facts.length && passageKey(facts[at]!) === passageKey(first)) passage.push(facts[at++]!.vector);
    norms.set(passageKey(first), pairNorm(previous, passage));
    previous = facts[at]?.sessionId === first.sessionId ? passage : [];
  }
  return norms;
}
