import type { Entity, UnitSummary } from "../../memory-store.ts";
import type { VectorHit } from "../../vector-index.ts";
import { type ExtractedFact, familyOf } from "../fact.ts";
import { pairNorm } from "../recall/pair-norm.ts";
import { analyze } from "../text/analyzer.ts";
import { eventUsOf, type Link, type NewEntity, type NewUnit, type ObservationScopes } from "../unit.ts";
import { type DuplicateCandidate, isComparable, sameWords } from "./duplicates.ts";
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
  /** Live units among those hits. */
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
      createdAtUs: deps.nowUs,
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
  return {
    units,
    skippedUnitIds: facts.map((prepared) => prepared.unitId).filter((unitId) => !keptIds.has(unitId)),
    entities: directory.created,
    entityKinds: [...directory.kinds].map(([entityId, kind]) => ({ entityId, kind })),
    links: linksOf(kept, around, thresholds.semanticLink),
  };
}

/** The words by which lists find a unit: text, context and entity names, analysed. */
export function searchTokens(text: string, context: string, entityNames: readonly string[]): string[] {
  return [text, context, ...entityNames].flatMap((part) => analyze(part));
}

function dropDuplicates(facts: readonly PreparedFact[], around: Surroundings, threshold: number): PreparedFact[] {
  const kept: PreparedFact[] = [];
  const keptCandidates = new Map<string, DuplicateCandidate>();
  const keptByWords = new Map<string, string[]>();
  for (const prepared of facts) {
    const fresh = candidateOf(prepared);
    const isSame = (other: DuplicateCandidate | undefined, score: number) =>
      other !== undefined && (score > threshold || sameWords(fresh.text, other.text)) && isComparable(fresh, other);
    const similar = around.similar(prepared.unitId).some(({ unitId, score }) => {
      if (unitId === prepared.unitId) return false;
      const stored = around.summaries.get(unitId);
      const isReplaced = stored?.documentId !== undefined && around.replacedDocumentIds.has(stored.documentId);
      return isSame(keptCandidates.get(unitId) ?? (isReplaced ? undefined : stored), score);
    });
    const twins = keptByWords.get(fresh.text) ?? [];
    if (similar || twins.some((unitId) => isSame(keptCandidates.get(unitId), 1))) continue;
    kept.push(prepared);
    keptCandidates.set(prepared.unitId, fresh);
    keptByWords.set(fresh.text, [...twins, prepared.unitId]);
  }
  return kept;
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

function linksOf(kept: readonly PreparedFact[], around: Surroundings, semanticMin: number): Link[] {
  const own = new Map(kept.map((prepared) => [prepared.unitId, prepared]));
  const isLive = (unitId: string) => {
    const stored = around.summaries.get(unitId);
    return (
      own.has(unitId) ||
      (stored !== undefined && !(stored.documentId !== undefined && around.replacedDocumentIds.has(stored.documentId)))
    );
  };
  const dated = kept.flatMap(({ unitId, fact, mentionedAtUs }) => {
    const eventUs = eventUsOf({ occurredStartUs: fact.occurredStartUs, mentionedAtUs });
    return eventUs === undefined ? [] : [{ unitId, eventUs, family: familyOf(fact.type) }];
  });
  const semantic = kept.flatMap(({ unitId: fromId }) =>
    around
      .similar(fromId)
      .filter(({ unitId, score }) => unitId !== fromId && score >= semanticMin && isLive(unitId))
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
