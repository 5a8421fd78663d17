import { countTokens, cutToTokens } from "@memory-bank/models";
import type { MemoryInternalServiceService, ScopeChanges } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { defined, tagFilterFromProto } from "../convert.ts";
import { type FactType, factTypes, familyOf } from "../domain/fact.ts";
import { type MemoryDeps, readableUid } from "../memory-deps.ts";

type Internal = Omit<Rpc<typeof MemoryInternalServiceService>, "verifyBanks">;

/** Calls of the mesh: the end of a bank, and what reflect needs beside recall. */
export const internalHandlers = (deps: MemoryDeps): Internal => ({
  async fence(_, { bankUid }) {
    const hiddenCount = await deps.store.fence(bankUid);
    await deps.jobs.cancelGroup(bankUid);
    deps.indexes.drop(bankUid);
    return { hiddenCount };
  },

  async purge(_, { bankUid }) {
    await deps.store.fence(bankUid);
    if (!(await deps.store.purge(bankUid))) return { done: false };
    await deps.vectors.dropBank(bankUid);
    await deps.jobs.purgeGroup(bankUid);
    return { done: (await deps.vectors.count(bankUid)) === 0 };
  },

  async findScopeChanges(_, { bankUid, scopes }) {
    const commitSeq = await deps.store.seq(bankUid);
    const changes: ScopeChanges[] = [];
    for (const { tags, factTypes: words, sinceSeq, citedIds } of scopes) {
      const scope = { tags: tagFilterFromProto(tags), types: selectedTypes(words), sinceSeq, citedIds };
      const { changedCount, newestUpdatedAtUs, missingIds } = await deps.store.scopeChanges(bankUid, scope);
      changes.push({ changedCount, missingIds: [...missingIds], ...defined({ newestUpdatedAtUs }) });
    }
    return { commitSeq, changes };
  },

  async expandMemories(ctx, { bankId, memoryIds, depth, maxTokens }) {
    const bankUid = await readableUid(deps, ctx, bankId);
    const units = await deps.store.getUnits(bankUid, memoryIds);
    const expansions = [];
    let left = maxTokens;
    for (const { unitId, documentId, chunkId } of units) {
      if (left <= 0) break;
      const whole =
        depth === "document" && documentId !== undefined
          ? (await deps.store.findDocument(bankUid, documentId))?.originalText
          : undefined;
      const text = whole ?? (chunkId === undefined ? undefined : (await deps.store.getChunks(bankUid, [chunkId]))[0]?.text);
      if (text === undefined) continue;
      const shown = cutToTokens(text, left);
      left -= countTokens(shown);
      expansions.push({ memoryId: unitId, text: shown, truncated: shown.length < text.length, ...defined({ documentId }) });
    }
    return { expansions };
  },
});

/** Selections for retrieval take `world` for its whole family (contract 4.1); the others are exact. None means all. */
function selectedTypes(words: readonly string[]): readonly FactType[] | undefined {
  if (words.length === 0) return undefined;
  return factTypes.filter((type) => words.includes(type) || (familyOf(type) === "world" && words.includes("world")));
}
