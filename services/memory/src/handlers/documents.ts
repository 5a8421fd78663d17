import { mayAccessBank, requirePrincipal } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import type { NewJob } from "@memory-bank/jobs";
import type { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { chunkToProto, defined, documentToProto, tagFilterFromProto } from "../convert.ts";
import type { RetainItem } from "../domain/retain/retain-batch.ts";
import type { ObservationScopes } from "../domain/unit.ts";
import { findBank, type MemoryDeps, type ResolvedBank, readableUid } from "../memory-deps.ts";
import type { Document } from "../memory-store.ts";
import { afterRemoval, requeue } from "../removals.ts";

type Documents = Pick<
  Rpc<typeof MemoryServiceService>,
  "listDocuments" | "getDocument" | "updateDocument" | "deleteDocument" | "reprocessDocument" | "listChunks" | "getChunk"
>;

export const documentHandlers = (deps: MemoryDeps): Documents => ({
  async listDocuments(ctx, { bankId, query, tags, limit, offset }) {
    const { items, total } = await deps.store.listDocuments(await readableUid(deps, ctx, bankId), {
      ...(query === undefined || query === "" ? {} : { idPart: query }),
      ...(tags ? { tags: tagFilterFromProto(tags) } : {}),
      limit,
      offset,
    });
    return { documents: items.map((document) => documentToProto(bankId, document)), total };
  },

  async getDocument(ctx, { bankId, documentId }) {
    return documentToProto(bankId, await requireDocument(deps, await readableUid(deps, ctx, bankId), documentId));
  },

  async updateDocument(ctx, { bankId, documentId, tags }) {
    const bank = await findBank(deps, ctx, bankId);
    if (!bank) throw documentNotFound();
    if (!tags)
      return { document: documentToProto(bankId, await requireDocument(deps, bank.bankUid, documentId)), unitsUpdated: 0 };
    const wanted = [...new Set(tags.values.filter((tag) => tag !== ""))];
    const { updatedCount, removedUnitIds } = await deps.store.retagDocument(
      bank,
      documentId,
      wanted,
      deps.nowUs(),
      requeue(deps, bank),
    );
    await afterRemoval(deps, bank, removedUnitIds);
    return {
      document: documentToProto(bankId, await requireDocument(deps, bank.bankUid, documentId)),
      unitsUpdated: updatedCount,
    };
  },

  async deleteDocument(ctx, { bankId, documentId }) {
    const bank = await findBank(deps, ctx, bankId);
    if (!bank) throw documentNotFound();
    const { deletedCount, removedUnitIds } = await deps.store.deleteDocument(bank, documentId, deps.nowUs(), requeue(deps, bank));
    await afterRemoval(deps, bank, removedUnitIds);
    return { deletedCount };
  },

  async reprocessDocument(ctx, { bankId, documentId }) {
    const bank = await findBank(deps, ctx, bankId);
    if (!bank) throw documentNotFound();
    const document = await requireDocument(deps, bank.bankUid, documentId);
    if (document.originalText === undefined) {
      throw new AppError(
        "invalid_argument",
        "DOCUMENT_TEXT_NOT_KEPT",
        `Document '${documentId}' cannot be reprocessed: its text is not kept`,
      );
    }
    const [parent, child] = reprocessJobs(deps, bank, document, document.originalText);
    await deps.jobs.enqueue([parent, child]);
    deps.wake();
    return { operationId: parent.id, deduplicated: false };
  },

  async listChunks(ctx, { bankId, documentId, limit, offset }) {
    const bankUid = await readableUid(deps, ctx, bankId);
    await requireDocument(deps, bankUid, documentId);
    const { items, total } = await deps.store.listChunks(bankUid, documentId, { limit, offset });
    return { chunks: items.map((chunk) => chunkToProto(bankId, chunk)), total };
  },

  async getChunk(ctx, { chunkId }) {
    const principal = requirePrincipal(ctx);
    const chunk = await deps.store.findChunk(principal.tenantId, chunkId);
    if (!chunk || !mayAccessBank(principal, chunk.bankId)) throw new AppError("not_found", "CHUNK_NOT_FOUND", "Chunk not found");
    return chunkToProto(chunk.bankId, chunk);
  },
});

async function requireDocument(deps: MemoryDeps, bankUid: string, documentId: string): Promise<Document> {
  const document = await deps.store.findDocument(bankUid, documentId);
  if (!document) throw documentNotFound();
  return document;
}

const documentNotFound = () => new AppError("not_found", "DOCUMENT_NOT_FOUND", "Document not found");

/** A reprocessing is an asynchronous retain of the stored text with the parameters that it was stored with. */
function reprocessJobs(deps: MemoryDeps, bank: ResolvedBank, document: Document, content: string): [NewJob, NewJob] {
  const nowUs = deps.nowUs();
  const params = document.retainParams as {
    context?: string;
    timestamp_us?: number | null;
    strategy?: string;
    entities?: RetainItem["entities"];
    exact_entities?: boolean;
    observation_scopes?: ObservationScopes;
  };
  const item = {
    content,
    context: params.context ?? "",
    documentId: document.documentId,
    metadata: document.metadata,
    tags: document.tags,
    entities: params.entities ?? [],
    exactEntities: params.exact_entities ?? false,
    append: false,
    ...defined({
      timestampUs: params.timestamp_us ?? undefined,
      strategy: params.strategy,
      observationScopes: params.observation_scopes,
    }),
  };
  const common = { groupKey: bank.bankUid, tenantKey: bank.tenantId, createdAtUs: nowUs };
  const parentId = deps.newId();
  const parent: NewJob = {
    ...common,
    id: parentId,
    kind: "batch_retain",
    isParent: true,
    payload: { bank_id: bank.bankId },
    details: { items_count: 1, num_sub_batches: 1, is_parent: true, document_id: document.documentId },
  };
  const child: NewJob = {
    ...common,
    id: deps.newId(),
    kind: "retain",
    parentId,
    index: 0,
    total: 1,
    serialKey: `documents ${bank.bankUid}`,
    payload: { bank_id: bank.bankId, call_id: parentId, first_item_index: 0, items: [item as never] },
    details: { items_count: 1, document_id: document.documentId },
  };
  return [parent, child];
}
