import type { Entity } from "../../memory-store.ts";
import type { EntityMention } from "../fact.ts";
import { foldText } from "../text/analyzer.ts";
import type { NewEntity } from "../unit.ts";
import { comparedCharactersMax, mayBeSameName, sequenceRatio, trigramSimilarity, trigrams } from "./name-similarity.ts";

/** Candidates with less in common are not looked at (contract 12.5). */
const trigramSimilarityMin = 0.15;
/** At most this many candidates are scored per name, most similar first. */
const candidatesMax = 200;
/** The best candidate above it is the entity meant. */
const scoreMin = 0.6;
const dayUs = 86_400_000_000;
/** An entity seen within a week before counts as more likely meant. */
const recentDays = 7;

interface Entry {
  readonly entityId: string;
  readonly name: string;
  readonly folded: string;
  readonly trigrams: ReadonlySet<string>;
  kind: string;
  lastSeenUs: number | undefined;
}

/** The entities of one bank while a retain is planned: those that exist and those that the plan creates. */
export interface EntityDirectory {
  /** The entity that a mention means; a new one when none fits. Labels (kind LABEL) and `exact` match by equal names only. */
  resolve(mention: EntityMention, context: MentionContext): Promise<string>;
  /** Entities that `resolve` made. */
  readonly created: readonly NewEntity[];
  /** Better kinds for entities that existed with CONCEPT or OTHER. */
  readonly kinds: ReadonlyMap<string, string>;
}

export interface MentionContext {
  readonly eventUs: number | undefined;
  readonly exact: boolean;
  /** Entities of the same fact that are resolved already. */
  readonly companions: readonly string[];
}

export function openEntityDirectory(
  known: readonly Entity[],
  deps: {
    readonly newId: () => string;
    /** Ids that occur together with an entity in stored units. */
    readonly cooccurring: (entityId: string) => Promise<ReadonlySet<string>>;
  },
): EntityDirectory {
  const byName = new Map<string, Entry>();
  const byTrigram = new Map<string, Entry[]>();
  const created: NewEntity[] = [];
  const kinds = new Map<string, string>();

  const add = (entry: Entry) => {
    byName.set(entry.folded, entry);
    for (const trigram of entry.trigrams) {
      const entries = byTrigram.get(trigram);
      if (entries) entries.push(entry);
      else byTrigram.set(trigram, [entry]);
    }
    return entry;
  };
  const entryOf = (entityId: string, name: string, kind: string, lastSeenUs: number | undefined): Entry => {
    const folded = foldText(name);
    return { entityId, name, folded, trigrams: trigrams(folded.slice(0, comparedCharactersMax)), kind, lastSeenUs };
  };
  for (const entity of known) add(entryOf(entity.entityId, entity.name, entity.kind, entity.lastSeenUs));

  const findSimilar = async (folded: string, context: MentionContext): Promise<Entry | undefined> => {
    const own = trigrams(folded.slice(0, comparedCharactersMax));
    const seen = new Set<Entry>();
    for (const trigram of own) for (const entry of byTrigram.get(trigram) ?? []) seen.add(entry);
    const candidates = [...seen]
      .map((entry) => ({ entry, similarity: trigramSimilarity(own, entry.trigrams) }))
      .filter(({ entry, similarity }) => similarity >= trigramSimilarityMin && entry.kind !== "LABEL")
      .sort((a, b) => b.similarity - a.similarity || (a.entry.folded < b.entry.folded ? -1 : 1))
      .slice(0, candidatesMax);
    let best: { entry: Entry; score: number } | undefined;
    for (const { entry } of candidates) {
      const ratio = sequenceRatio(folded.slice(0, comparedCharactersMax), entry.folded.slice(0, comparedCharactersMax));
      if (!mayBeSameName(folded, entry.folded, ratio)) continue;
      const score =
        0.5 * ratio + 0.3 * (await companionShare(entry, context.companions)) + 0.2 * recency(entry.lastSeenUs, context.eventUs);
      if (score > scoreMin && (!best || score > best.score)) best = { entry, score };
    }
    return best?.entry;
  };

  const companionShare = async (entry: Entry, companions: readonly string[]) => {
    const others = companions.filter((entityId) => entityId !== entry.entityId);
    if (others.length === 0) return 0;
    const together = await deps.cooccurring(entry.entityId);
    return others.filter((entityId) => together.has(entityId)).length / others.length;
  };

  return {
    created,
    kinds,
    async resolve({ name, kind }, context) {
      const folded = foldText(name);
      const isExact = context.exact || kind === "LABEL";
      const entry =
        byName.get(folded) ??
        (isExact ? undefined : await findSimilar(folded, context)) ??
        add(entryOf(createEntity(name, kind), name, kind, undefined));
      if (isVague(entry.kind) && !isVague(kind)) {
        entry.kind = kind;
        const own = created.findIndex((entity) => entity.entityId === entry.entityId);
        if (own >= 0) created[own] = { ...created[own]!, kind };
        else kinds.set(entry.entityId, kind);
      }
      if (context.eventUs !== undefined) entry.lastSeenUs = Math.max(entry.lastSeenUs ?? context.eventUs, context.eventUs);
      return entry.entityId;
    },
  };

  function createEntity(name: string, kind: string): string {
    const entityId = deps.newId();
    created.push({ entityId, name, kind });
    return entityId;
  }
}

/** Kinds that a later mention may improve on. */
const isVague = (kind: string) => kind === "CONCEPT" || kind === "OTHER";

function recency(lastSeenUs: number | undefined, eventUs: number | undefined): number {
  if (lastSeenUs === undefined || eventUs === undefined) return 0;
  const days = Math.abs(eventUs - lastSeenUs) / dayUs;
  return days < recentDays ? 1 - days / recentDays : 0;
}
