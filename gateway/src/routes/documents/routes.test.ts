import type { Document } from "@memory-bank/proto/memory/v1/memory";
import { expect, test } from "vitest";
import { failing, fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type ChunkRouteDeps, chunkRoutes } from "../chunks/routes.ts";
import { type DocumentRouteDeps, documentRoutes } from "./routes.ts";

const document: Document = {
  id: "a/b",
  bankId: "one",
  contentHash: "00ff",
  createdAtUs: 1,
  updatedAtUs: 2,
  textLength: 5,
  memoryUnitCount: 3,
  tags: ["t"],
  metadata: { a: "b" },
  originalText: "Hello",
  retainParams: {
    context: "call",
    timestamp_us: 0,
    observation_scopes: [["t"]],
    entities: [{ name: "Maria", kind: "PERSON" }],
    exact_entities: true,
  },
};
const chunk = { id: "c", bankId: "one", documentId: "a/b", chunkIndex: 0, text: "Hello", createdAtUs: 1 };
const shownChunk = {
  chunk_id: "c",
  document_id: "a/b",
  bank_id: "one",
  chunk_index: 0,
  chunk_text: "Hello",
  created_at: "1970-01-01T00:00:00.000001Z",
};

async function gatewayWith(answers: Partial<Record<keyof DocumentRouteDeps["memory"] | "getChunk", unknown>>) {
  const { client, calls } = fakeClient<DocumentRouteDeps["memory"] & ChunkRouteDeps["memory"]>(answers);
  const gateway = await testGateway((app) => {
    documentRoutes(app, { memory: client });
    chunkRoutes(app, { memory: client });
  });
  const send = async (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, payload?: unknown) => {
    const body = payload === undefined ? {} : { payload: JSON.stringify(payload) };
    return gateway.app.inject({ method, url: `/v1/default${path}`, headers: asOwner, ...body });
  };
  return { ...gateway, send, calls };
}
const url = "/banks/one/documents";

test("a document tells its text, how it was retained, and its units by type", async () => {
  const listMemories = ({ type }: { type: string }) => ({
    units: [],
    total: type === "world" ? 2 : type === "experience" ? 1 : 0,
  });
  await using gateway = await gatewayWith({ getDocument: document, listMemories });
  // An id may hold a slash; a caller encodes it.
  expect((await gateway.send("GET", `${url}/a%2Fb`)).json()).toEqual({
    id: "a/b",
    bank_id: "one",
    content_hash: "00ff",
    created_at: "1970-01-01T00:00:00.000001Z",
    updated_at: "1970-01-01T00:00:00.000002Z",
    text_length: 5,
    memory_unit_count: 3,
    tags: ["t"],
    document_metadata: { a: "b" },
    retain_params: {
      context: "call",
      timestamp: "1970-01-01T00:00:00.000000Z",
      observation_scopes: [["t"]],
      entities: [{ text: "Maria", type: "PERSON" }],
      resolve_entities: false,
    },
    original_text: "Hello",
    nodes_by_fact_type: { world: 2, experience: 1 },
    observation_scopes: [["t"]],
  });
  expect(gateway.calls[0]).toEqual(["getDocument", { bankId: "one", documentId: "a/b" }]);
  expect(gateway.calls.slice(1).every(([, request]) => request.documentId === "a/b" && request.limit === 0)).toBe(true);
});

test("a text that is not kept is null, and so is the time of one that has none", async () => {
  const { originalText: _, ...rest } = document;
  await using gateway = await gatewayWith({
    getDocument: { ...rest, retainParams: { timestamp_us: null } },
    listMemories: { units: [], total: 0 },
  });
  const answer = (await gateway.send("GET", `${url}/d`)).json();
  expect(answer).toMatchObject({ original_text: null, observation_scopes: null, nodes_by_fact_type: {} });
  expect(answer.retain_params).toEqual({ timestamp: null });
});

test("the list filters by id and tags", async () => {
  await using gateway = await gatewayWith({ listDocuments: { documents: [document], total: 1 } });
  const answer = (await gateway.send("GET", `${url}?q=rep&tags=t&tags_match=exact&limit=5`)).json();
  expect(answer).toMatchObject({ items: [{ id: "a/b", text_length: 5 }], total: 1, limit: 5, offset: 0 });
  expect(answer.items[0]).not.toHaveProperty("original_text");
  expect(gateway.calls[0]![1]).toMatchObject({ bankId: "one", query: "rep", tags: { tags: ["t"] }, limit: 5, offset: 0 });
});

test("tags are replaced when they are given, also by none", async () => {
  await using gateway = await gatewayWith({ updateDocument: { document, unitsUpdated: 3 } });
  for (const body of [{ tags: [] }, { tags: null }, { tags: ["x"] }]) {
    expect((await gateway.send("PATCH", `${url}/d`, body)).json()).toEqual({ success: true });
  }
  expect(gateway.calls.map(([, request]) => request.tags)).toEqual([{ values: [] }, undefined, { values: ["x"] }]);
});

test("deleting tells how many units went with it", async () => {
  await using gateway = await gatewayWith({ deleteDocument: { deletedCount: 3 } });
  expect((await gateway.send("DELETE", `${url}/d`)).json()).toEqual({
    success: true,
    message: "Document 'd' and 3 memory units deleted",
    document_id: "d",
    memory_units_deleted: 3,
  });
  await using empty = await gatewayWith({ deleteDocument: failing("not_found", "DOCUMENT_NOT_FOUND", "Document not found") });
  expect((await empty.send("DELETE", `${url}/d`)).statusCode).toBe(404);
});

test("chunks are listed in bounded pages, and read one by one", async () => {
  await using gateway = await gatewayWith({ listChunks: { chunks: [chunk], total: 1 }, getChunk: chunk });
  const page = { items: [shownChunk], total: 1, limit: 100, offset: 0 };
  expect((await gateway.send("GET", `${url}/a%2Fb/chunks`)).json()).toEqual(page);
  expect((await gateway.send("GET", `${url}/a%2Fb/chunks?limit=1001`)).statusCode).toBe(422);
  const chunkId = "6A1F0C52-3F0E-4C0F-8F35-0D7E5C1B2A90";
  expect((await gateway.send("GET", `/chunks/${chunkId}`)).json()).toEqual(shownChunk);
  expect(gateway.calls.at(-1)).toEqual(["getChunk", { chunkId: chunkId.toLowerCase() }]);
});

test("reprocessing answers its operation; transfer is gone", async () => {
  await using gateway = await gatewayWith({ reprocessDocument: { operationId: "o", deduplicated: false } });
  const queued = { success: true, operation_id: "o", items_count: 1 };
  expect((await gateway.send("POST", `${url}/d/reprocess`)).json()).toEqual(queued);
  expect((await gateway.send("GET", "/banks/one/document-transfer")).statusCode).toBe(410);
});
