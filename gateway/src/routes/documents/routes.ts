import type { CallContext } from "@memory-bank/context";
import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { id } from "../../validation/scalars.ts";
import { pageOf } from "../answer-parts.ts";
import { chunkFromProto } from "../chunks/convert.ts";
import { chunkRecord } from "../chunks/schemas.ts";
import { BULK_TIMEOUT_MS, bankParams, bankUrl, boundedPage, filterText } from "../request-parts.ts";
import { tagFilterToProto } from "../tag-filter.ts";
import { noAnswer, withdrawn } from "../withdrawn.ts";
import { documentFromProto, documentListItemFromProto } from "./convert.ts";
import {
  documentDeleted,
  documentListItem,
  documentListQuery,
  documentPatchBody,
  documentRecord,
  documentUpdated,
  reprocessQueued,
} from "./schemas.ts";

export interface DocumentRouteDeps {
  readonly memory: Pick<
    GatewayClients["memory"],
    "listDocuments" | "getDocument" | "updateDocument" | "deleteDocument" | "listChunks" | "reprocessDocument" | "listMemories"
  >;
}

export function documentRoutes(app: FastifyInstance, { memory }: DocumentRouteDeps): void {
  const tag = "documents";
  const url = `${bankUrl}/documents` as const;
  const documentUrl = `${url}/{document_id}` as const;
  const params = { ...bankParams, document_id: id() };

  route(app, {
    method: "GET",
    url,
    operationId: "listDocuments",
    summary: "List documents, newest first",
    tag,
    params: bankParams,
    query: documentListQuery,
    response: pageOf(documentListItem),
    handler: async (ctx, { params: { bank_id: bankId }, query }) => {
      const idPart = filterText(query.q);
      const tags = tagFilterToProto(query);
      const { limit, offset } = query;
      const { documents, total } = await memory.listDocuments(ctx, {
        bankId,
        ...(idPart !== undefined && { query: idPart }),
        ...(tags && { tags }),
        limit,
        offset,
      });
      return { items: documents.map(documentListItemFromProto), total, limit, offset };
    },
  });

  route(app, {
    method: "GET",
    url: documentUrl,
    operationId: "getDocument",
    summary: "Read one document with its text",
    tag,
    params,
    response: documentRecord,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, document_id: documentId } }) => {
      const document = await memory.getDocument(ctx, { bankId, documentId });
      return documentFromProto(document, await countByFactType(memory, ctx, bankId, documentId));
    },
  });

  route(app, {
    method: "PATCH",
    url: documentUrl,
    operationId: "updateDocument",
    summary: "Replace the tags of a document and of its memory units",
    tag,
    params,
    body: documentPatchBody,
    timeoutMs: BULK_TIMEOUT_MS,
    response: documentUpdated,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, document_id: documentId }, body: { tags } }) => {
      await memory.updateDocument(ctx, { bankId, documentId, ...(tags && { tags: { values: tags } }) });
      return { success: true };
    },
  });

  route(app, {
    method: "DELETE",
    url: documentUrl,
    operationId: "deleteDocument",
    summary: "Delete a document and its memory units",
    tag,
    params,
    timeoutMs: BULK_TIMEOUT_MS,
    response: documentDeleted,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, document_id: documentId } }) => {
      const { deletedCount } = await memory.deleteDocument(ctx, { bankId, documentId });
      const message = `Document '${documentId}' and ${deletedCount} memory units deleted`;
      return { success: true, message, document_id: documentId, memory_units_deleted: deletedCount };
    },
  });

  route(app, {
    method: "GET",
    url: `${documentUrl}/chunks`,
    operationId: "listDocumentChunks",
    summary: "List the chunks of a document in order",
    tag,
    params,
    query: boundedPage(100, 1000),
    response: pageOf(chunkRecord),
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId, document_id: documentId }, query: { limit, offset } }) => {
      const { chunks, total } = await memory.listChunks(ctx, { bankId, documentId, limit, offset });
      return { items: chunks.map(chunkFromProto), total, limit, offset };
    },
  });

  route(app, {
    method: "POST",
    url: `${documentUrl}/reprocess`,
    operationId: "reprocessDocument",
    summary: "Extract a document again, as a queued operation",
    tag,
    params,
    response: reprocessQueued,
    errors: [400, 404],
    handler: async (ctx, { params: { bank_id: bankId, document_id: documentId } }) => {
      const { operationId } = await memory.reprocessDocument(ctx, { bankId, documentId });
      return { success: true, operation_id: operationId, items_count: 1 };
    },
  });

  route(app, {
    method: "GET",
    url: `${bankUrl}/document-transfer`,
    operationId: "getDocumentTransfer",
    summary: "Withdrawn",
    tag,
    params: bankParams,
    response: noAnswer,
    errors: [410],
    handler: withdrawn("documents are read with GET …/documents"),
  });
}

/** Types that a document can give; observations belong to several documents, and so to none. */
const documentTypes = ["world", "preference", "fact", "experience"];

/** Counts a document's live units by type, leaving out types that do not occur. */
async function countByFactType(memory: DocumentRouteDeps["memory"], ctx: CallContext, bankId: string, documentId: string) {
  const countOf = async (type: string) => {
    const request = { bankId, type, documentId, consolidationState: "", state: "", limit: 0, offset: 0 };
    return [type, (await memory.listMemories(ctx, request)).total] as const;
  };
  const counts = await Promise.all(documentTypes.map(countOf));
  return Object.fromEntries(counts.filter(([, total]) => total > 0));
}
