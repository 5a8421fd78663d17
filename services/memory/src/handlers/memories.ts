import { AppError } from "@memory-bank/errors";
import type { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { changeToProto, tagFilterFromProto, unitToProto } from "../convert.ts";
import { type FactFamily, type FactType, factTypes, familyOf } from "../domain/fact.ts";
import { analyze, foldText } from "../domain/text/analyzer.ts";
import type { ConsolidationState, Unit } from "../domain/unit.ts";
import { editMemory } from "../edit-memory.ts";
import { type ensureBank, findBank, type MemoryDeps, type ResolvedBank, readableUid } from "../memory-deps.ts";
import type { UnitQuery } from "../memory-store.ts";
import { afterRemoval, requeue } from "../removals.ts";

type Memories = Pick<
  Rpc<typeof MemoryServiceService>,
  | "listMemories"
  | "getMemory"
  | "getMemoryHistory"
  | "updateMemory"
  | "clearMemories"
  | "clearMemoryObservations"
  | "clearObservations"
>;

export const memoryHandlers = (deps: MemoryDeps): Memories => ({
  async listMemories(ctx, request) {
    const bankUid = await readableUid(deps, ctx, request.bankId);
    const { items, total } = await deps.store.listUnits(bankUid, {
      ...searchOf(request.query),
      state: request.state === "invalidated" ? "invalidated" : "valid",
      ...(request.tags ? { tags: tagFilterFromProto(request.tags) } : {}),
      ...(request.type === undefined ? {} : { type: request.type }),
      ...(request.consolidationState === "" ? {} : { consolidationState: request.consolidationState as ConsolidationState }),
      ...(request.documentId === undefined ? {} : { documentId: request.documentId }),
      ...(request.entityId === undefined ? {} : { entityId: request.entityId }),
      limit: request.limit,
      offset: request.offset,
    });
    return { units: items.map((unit) => unitToProto(request.bankId, unit)), total };
  },

  async getMemory(ctx, { bankId, memoryId }) {
    const bankUid = await readableUid(deps, ctx, bankId);
    const unit = await requireUnit(deps, bankUid, memoryId);
    const sources = await deps.store.getUnits(bankUid, unit.sourceUnitIds);
    const newestFirst = [...sources].sort((a, b) => (b.mentionedAtUs ?? -Infinity) - (a.mentionedAtUs ?? -Infinity));
    return unitToProto(bankId, withSourceEntities(unit, sources), newestFirst);
  },

  async getMemoryHistory(ctx, { bankId, memoryId }) {
    const bankUid = await readableUid(deps, ctx, bankId);
    await requireUnit(deps, bankUid, memoryId);
    return { changes: (await deps.store.history(bankUid, memoryId)).map(changeToProto) };
  },

  async updateMemory(ctx, request) {
    const bank = await requireBank(deps, ctx, request.bankId, request.memoryId);
    const unit = await editMemory(deps, bank, request, ctx.signal);
    return unitToProto(request.bankId, unit);
  },

  async clearMemories(ctx, { bankId, type }) {
    const bank = await findBank(deps, ctx, bankId);
    const family = type === undefined ? undefined : familyOfWord(type);
    if (!bank || family === null) return { deletedCount: 0 };
    const { deletedCount, removedUnitIds } = await deps.store.clearUnits(bank, family, deps.nowUs(), requeue(deps, bank));
    await afterRemoval(deps, bank, removedUnitIds);
    return { deletedCount };
  },

  async clearMemoryObservations(ctx, { bankId, memoryId }) {
    const bank = await requireBank(deps, ctx, bankId, memoryId);
    const { deletedCount, removedUnitIds } = await deps.store.clearObservations(
      bank,
      memoryId,
      deps.nowUs(),
      requeue(deps, bank),
    );
    await afterRemoval(deps, bank, removedUnitIds);
    return { deletedCount };
  },

  async clearObservations(ctx, { bankId }) {
    const bank = await findBank(deps, ctx, bankId);
    if (!bank) return { deletedCount: 0 };
    const { deletedCount, removedUnitIds } = await deps.store.clearObservations(
      bank,
      undefined,
      deps.nowUs(),
      requeue(deps, bank),
    );
    await afterRemoval(deps, bank, removedUnitIds);
    return { deletedCount };
  },
});

/**
 * Words of a list search: all must occur, the last one also as the start of a word. A query without letters or digits is
 * a literal part of the text; a blank one selects everything.
 */
export function searchOf(query: string | undefined): Pick<UnitQuery, "words" | "substring"> {
  if (query === undefined || query.trim() === "") return {};
  if (!/[\p{L}\p{N}]/u.test(query)) return { substring: query };
  const words = query.trim().split(/\s+/u);
  const last = foldText(words.at(-1)!).replace(/[^\p{L}\p{M}\p{N}]+$/u, "");
  const isPlainWord = /^[\p{L}\p{M}\p{N}]+$/u.test(last);
  const all = analyze(isPlainWord ? words.slice(0, -1).join(" ") : query);
  if (isPlainWord) {
    // A stem may be no prefix of the typed word ("happy", "happi"): the shorter common start of both finds either.
    return { words: { all, prefix: commonStart(last, analyze(last)[0] ?? last) } };
  }
  return all.length > 0 ? { words: { all } } : { substring: query };
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length === 0 ? b : a.slice(0, length);
}

/** The family that a type word selects; null for words that match nothing. */
function familyOfWord(type: string): FactFamily | null {
  return factTypes.includes(type as FactType) ? familyOf(type as FactType) : null;
}

async function requireUnit(deps: MemoryDeps, bankUid: string, memoryId: string): Promise<Unit> {
  const unit = await deps.store.findUnit(bankUid, memoryId);
  if (!unit) throw memoryNotFound(memoryId);
  return unit;
}

async function requireBank(
  deps: MemoryDeps,
  ctx: Parameters<typeof ensureBank>[1],
  bankId: string,
  memoryId: string,
): Promise<ResolvedBank> {
  const bank = await findBank(deps, ctx, bankId);
  if (!bank) throw memoryNotFound(memoryId);
  return bank;
}

const memoryNotFound = (memoryId: string) => new AppError("not_found", "MEMORY_NOT_FOUND", `Memory unit '${memoryId}' not found`);

/** An observation shows the entities of all its sources. */
function withSourceEntities(unit: Unit, sources: readonly Unit[]): Unit {
  if (unit.type !== "observation") return unit;
  const byId = new Map([unit, ...sources].flatMap((source) => source.entities).map((entity) => [entity.entityId, entity]));
  return { ...unit, entities: [...byId.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) };
}
