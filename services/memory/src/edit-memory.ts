import { AppError } from "@memory-bank/errors";
import { countTokens } from "@memory-bank/models";
import type { UpdateMemoryRequest } from "@memory-bank/proto/memory/v1/memory";
import { defined } from "./convert.ts";
import { type EntityMention, type FactType, familyOf } from "./domain/fact.ts";
import { openEntityDirectory } from "./domain/retain/entity-directory.ts";
import { semanticLinksMax, temporalLinks, temporalLinksMax, temporalWindowUs } from "./domain/retain/links.ts";
import { searchTokens } from "./domain/retain/plan-retain.ts";
import { rereadUnit } from "./domain/retain/reread-unit.ts";
import { retainSettings } from "./domain/retain/retain-settings.ts";
import { eventUsOf, type Link, type Unit } from "./domain/unit.ts";
import type { MemoryDeps, ResolvedBank } from "./memory-deps.ts";
import type { UnitEdit } from "./memory-store.ts";
import { afterRemoval, requeue } from "./removals.ts";

/** Edits, invalidates or restores a raw unit: re-embeds and re-links it, and queues it for consolidation again. */
export function editMemory(
  deps: MemoryDeps,
  bank: ResolvedBank,
  request: UpdateMemoryRequest,
  signal: AbortSignal,
): Promise<Unit> {
  return deps.lock.run(bank.bankUid, async () => {
    const { store, vectors } = deps;
    const before = await store.findUnit(bank.bankUid, request.memoryId);
    if (!before) throw new AppError("not_found", "MEMORY_NOT_FOUND", `Memory unit '${request.memoryId}' not found`);
    if (before.type === "observation")
      throw new AppError("invalid_argument", "OBSERVATION_IMMUTABLE", "Observations cannot be edited");
    const after = edited(before, request);
    requireSound(after);
    if (after.state === "invalidated") {
      const committed = await store.editUnit({
        ...contentOf(request),
        ...baseOf(deps, bank, before),
        state: "invalidated",
        ...defined({ reason: request.reason }),
      });
      await afterRemoval(deps, bank, committed.removedUnitIds);
    } else {
      const family = familyOf(after.type);
      const read = rereadUnit(after);
      const [vector] = await deps.embedder.embed([read.embeddedText], { signal, purpose: "document" });
      await vectors.upsert(bank.bankUid, [{ unitId: before.unitId, vector: vector!, family }]);
      const entities = await resolveEntities(deps, bank, request, after, read.entities);
      const committed = await store.editUnit({
        ...contentOf(request),
        ...baseOf(deps, bank, before),
        state: "valid",
        links: await linksOf(deps, bank, after, vector!),
        features: { intervals: read.intervals, flags: read.flags, pairNorm: Math.hypot(...vector!) },
        tokenCount: countTokens(after.text),
        searchTokens: searchTokens(after.text, after.context, entities?.names ?? before.entities.map((entity) => entity.name)),
        ...(entities ? { entities } : {}),
      });
      // Its observations went; the unit itself was taken out and brought back.
      const gone = committed.removedUnitIds.filter((unitId) => unitId !== before.unitId);
      await afterRemoval(deps, bank, gone);
    }
    return (await store.findUnit(bank.bankUid, request.memoryId))!;
  });
}

function edited(unit: Unit, request: UpdateMemoryRequest): Unit {
  const { text, context, occurredStartUs, occurredEndUs, factType, state } = request;
  return {
    ...unit,
    ...defined({
      text,
      context,
      occurredStartUs,
      occurredEndUs,
      type: factType as FactType | undefined,
      state: state as Unit["state"] | undefined,
    }),
  };
}

function contentOf(request: UpdateMemoryRequest): Partial<UnitEdit> {
  const { text, context, occurredStartUs, occurredEndUs, factType } = request;
  return defined({ text, context, occurredStartUs, occurredEndUs, type: factType as FactType | undefined });
}

const baseOf = (deps: MemoryDeps, bank: ResolvedBank, unit: Unit) => ({
  bank,
  unitId: unit.unitId,
  nowUs: deps.nowUs(),
  ...requeue(deps, bank),
});

function requireSound({ text, occurredStartUs, occurredEndUs }: Unit): void {
  if (!/[\p{L}\p{N}]/u.test(text))
    throw new AppError("invalid_argument", "BLANK_MEMORY", "text must contain at least one letter or digit");
  if (occurredStartUs !== undefined && occurredEndUs !== undefined && occurredEndUs < occurredStartUs) {
    throw new AppError("invalid_argument", "TIME_REVERSED", "occurred_end must not be before occurred_start");
  }
}

/** The entities that the caller names, else those of a changed text; undefined keeps the unit's own. */
async function resolveEntities(
  deps: MemoryDeps,
  bank: ResolvedBank,
  request: UpdateMemoryRequest,
  unit: Unit,
  found: readonly EntityMention[],
) {
  const kindOf = (name: string) => unit.entities.find((entity) => entity.name === name)?.kind ?? "CONCEPT";
  const named = request.entities?.values.map((name) => name.replace(/\s+/gu, " ").trim()).filter((name) => name !== "");
  const mentions = named
    ? [...new Set(named)].map((name) => ({ name, kind: kindOf(name) }))
    : request.text === undefined
      ? undefined
      : found;
  if (!mentions) return undefined;
  const directory = openEntityDirectory(await deps.store.entityNames(bank.bankUid), {
    newId: deps.newId,
    cooccurring: (entityId) => deps.store.cooccurringIds(bank.bankUid, entityId),
  });
  const entityIds: string[] = [];
  for (const mention of mentions) {
    const entityId = await directory.resolve(mention, {
      eventUs: eventUsOf(unit),
      exact: request.exactEntities,
      companions: entityIds,
    });
    if (!entityIds.includes(entityId)) entityIds.push(entityId);
  }
  return { created: directory.created, entityIds, names: mentions.map((mention) => mention.name) };
}

async function linksOf(deps: MemoryDeps, bank: ResolvedBank, unit: Unit, vector: Float32Array): Promise<Link[]> {
  const { store, vectors } = deps;
  const { semanticLinkMin: minScore } = retainSettings(bank.config, undefined);
  const family = familyOf(unit.type);
  const hits = await vectors.search(bank.bankUid, vector, { limit: semanticLinksMax + 1, minScore, families: [family] });
  const semantic = hits
    .filter((hit) => hit.unitId !== unit.unitId)
    .slice(0, semanticLinksMax)
    .map((hit): Link => ({ fromId: unit.unitId, toId: hit.unitId, type: "semantic", weight: Math.min(1, hit.score) }));
  const eventUs = eventUsOf(unit);
  if (eventUs === undefined) return semantic;
  const near = await store.nearestInTime(bank.bankUid, family, eventUs, temporalWindowUs, temporalLinksMax + 1);
  return [...temporalLinks([{ unitId: unit.unitId, eventUs, family }], () => near), ...semantic];
}
