import { TagsMatch } from "@memory-bank/proto/common/v1/common";
import type { MemoryUnit } from "@memory-bank/proto/memory/v1/memory";
import { describe, expect, test } from "vitest";
import { failing, fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type MemoryRouteDeps, memoryRoutes } from "./routes.ts";

const memoryId = "3f2b8c1e-7a64-4d0b-9c55-1e8a2b6f9d03";
const unit: MemoryUnit = {
  id: memoryId,
  bankId: "one",
  text: "Maria runs the Lisbon office",
  context: "",
  type: "world",
  entities: [
    { id: "e2", name: "Maria", kind: "PERSON" },
    { id: "e1", name: "Lisbon", kind: "LOCATION" },
  ],
  proofCount: 1,
  tags: ["t"],
  metadata: { channel: "ops" },
  state: "valid",
  createdAtUs: 1,
  updatedAtUs: 2,
  sourceMemories: [],
  sourceMemoryIds: [],
};
const observation: MemoryUnit = {
  ...unit,
  type: "observation",
  occurredStartUs: 5,
  mentionedAtUs: 7,
  observationScopes: { preset: "", explicit: [{ tags: ["t"] }] },
  sourceMemoryIds: ["s"],
  sourceMemories: [{ id: "s", text: "source", type: "world", context: "", mentionedAtUs: 9 }],
};

async function gatewayWith(answers: Partial<Record<keyof MemoryRouteDeps["memory"], unknown>>) {
  const { client, calls } = fakeClient<MemoryRouteDeps["memory"]>(answers);
  const gateway = await testGateway((app) => memoryRoutes(app, { memory: client }));
  const send = async (method: "GET" | "PATCH" | "DELETE", path: string, payload?: unknown) => {
    const body = payload === undefined ? {} : { payload: JSON.stringify(payload) };
    return gateway.app.inject({ method, url: `/v1/default/banks/one/memories${path}`, headers: asOwner, ...body });
  };
  return { ...gateway, send, calls };
}

describe("the list of memories", () => {
  test("shows every member, empty text for what a unit does not have, and entities for people", async () => {
    await using gateway = await gatewayWith({ listMemories: { units: [unit], total: 9 } });
    expect((await gateway.send("GET", "/list?limit=3000")).json()).toEqual({
      items: [
        {
          id: memoryId,
          text: unit.text,
          context: "",
          date: "",
          entities: "Lisbon (LOCATION), Maria (PERSON)",
          type: "world",
          fact_type: "world",
          document_id: null,
          chunk_id: null,
          mentioned_at: null,
          occurred_start: null,
          occurred_end: null,
          proof_count: 1,
          tags: ["t"],
          metadata: { channel: "ops" },
          consolidated_at: null,
          consolidation_failed_at: null,
          state: "valid",
          invalidation_reason: null,
          invalidated_at: null,
          edited_at: null,
          updated_at: "1970-01-01T00:00:00.000002Z",
          source_memory_ids: [],
        },
      ],
      total: 9,
      limit: 1000,
      offset: 0,
    });
    expect(gateway.calls).toEqual([
      ["listMemories", { bankId: "one", consolidationState: "", state: "", limit: 1000, offset: 0 }],
    ]);
  });

  test("sends its filters", async () => {
    await using gateway = await gatewayWith({ listMemories: { units: [], total: 0 } });
    const query = `type=world&q=lisb&consolidation_state=PENDING&state=invalidated&document_id=d&entity_id=${memoryId.toUpperCase()}`;
    await gateway.send("GET", `/list?${query}&tags=a&tags=b&tags_match=all&limit=0&offset=4`);
    expect(gateway.calls[0]![1]).toEqual({
      bankId: "one",
      type: "world",
      query: "lisb",
      consolidationState: "pending",
      state: "invalidated",
      documentId: "d",
      entityId: memoryId,
      tags: { tags: ["a", "b"], match: TagsMatch.ALL, groups: [] },
      limit: 0,
      offset: 4,
    });
  });

  test.each([
    ["consolidation_state=Odd", "Invalid consolidation_state 'Odd': expected 'failed', 'pending', or 'done'."],
    ["state=gone", "Invalid state 'gone': expected 'valid' or 'invalidated'."],
    ["entity_id=maria", "Invalid entity_id: 'maria' is not a valid UUID"],
  ])("%s is 400", async (query, detail) => {
    await using gateway = await gatewayWith({});
    const response = await gateway.send("GET", `/list?${query}`);
    expect([response.statusCode, response.json()]).toEqual([400, { detail }]);
  });
});

describe("one memory", () => {
  test("has its entities as names and an empty history; sources belong to observations", async () => {
    await using gateway = await gatewayWith({ getMemory: unit });
    const record = (await gateway.send("GET", `/${memoryId.replaceAll("-", "")}`)).json();
    expect(gateway.calls).toEqual([["getMemory", { bankId: "one", memoryId }]]);
    expect(record).toMatchObject({
      bank_id: "one",
      date: "",
      entities: ["Maria", "Lisbon"],
      observation_scopes: null,
      history: [],
      created_at: "1970-01-01T00:00:00.000001Z",
    });
    expect(record).not.toHaveProperty("source_memory_ids");
    expect(record).not.toHaveProperty("fact_type");
  });

  test("that is an observation tells its sources, and its event before when it was said", async () => {
    await using gateway = await gatewayWith({ getMemory: observation });
    expect((await gateway.send("GET", `/${memoryId}`)).json()).toMatchObject({
      date: "1970-01-01T00:00:00.000005Z",
      observation_scopes: [["t"]],
      source_memory_ids: ["s"],
      source_memories: [
        {
          id: "s",
          text: "source",
          type: "world",
          context: "",
          occurred_start: null,
          mentioned_at: "1970-01-01T00:00:00.000009Z",
        },
      ],
    });
  });

  test.each([
    ["GET", ""],
    ["PATCH", ""],
    ["GET", "/history"],
    ["DELETE", "/observations"],
  ] as const)("%s …/{memory_id}%s wants a UUID", async (method, path) => {
    await using gateway = await gatewayWith({});
    const response = await gateway.send(method, `/m-1${path}`, method === "PATCH" ? {} : undefined);
    expect([response.statusCode, response.json()]).toEqual([400, { detail: "Invalid memory_id: 'm-1' is not a valid UUID" }]);
  });

  test("that is unknown is 404", async () => {
    const text = `Memory unit '${memoryId}' not found`;
    await using gateway = await gatewayWith({ getMemory: failing("not_found", "MEMORY_NOT_FOUND", text) });
    const response = await gateway.send("GET", `/${memoryId}`);
    expect([response.statusCode, response.json()]).toEqual([404, { detail: text }]);
  });
});

describe("an edit", () => {
  test("sends the members that were given", async () => {
    await using gateway = await gatewayWith({ updateMemory: unit });
    await gateway.send("PATCH", `/${memoryId}`, {});
    await gateway.send("PATCH", `/${memoryId}`, {
      text: "x",
      context: null,
      occurred_start: "1970-01-01T00:00:01Z",
      fact_type: "preference",
      entities: [],
      resolve_entities: false,
      state: "invalidated",
      reason: "wrong",
    });
    expect(gateway.calls.map(([, request]) => request)).toEqual([
      { bankId: "one", memoryId, exactEntities: false },
      {
        bankId: "one",
        memoryId,
        text: "x",
        occurredStartUs: 1_000_000,
        factType: "preference",
        entities: { values: [] },
        exactEntities: true,
        state: "invalidated",
        reason: "wrong",
      },
    ]);
  });

  test.each([
    [{ fact_type: "observation" }, "literal_error"],
    [{ state: "gone" }, "literal_error"],
    [{ occurred_start: "9999-01-01" }, "value_error"],
    [{ occurred_end: "soon" }, "value_error"],
  ])("%j is 422", async (payload, type) => {
    await using gateway = await gatewayWith({});
    const response = await gateway.send("PATCH", `/${memoryId}`, payload);
    expect([response.statusCode, response.json().detail[0].type]).toEqual([422, type]);
  });
});

test("history is an array", async () => {
  const change = {
    previousText: "before",
    previousTags: ["t"],
    previousMentionedAtUs: 3,
    changedAtUs: 4,
    newSourceMemoryIds: ["s"],
    sourceFacts: [{ id: "s", text: "x", type: "world", context: "", isNew: true }],
  };
  await using gateway = await gatewayWith({ getMemoryHistory: { changes: [change] } });
  expect((await gateway.send("GET", `/${memoryId}/history`)).json()).toEqual([
    {
      previous_text: "before",
      previous_tags: ["t"],
      previous_occurred_start: null,
      previous_occurred_end: null,
      previous_mentioned_at: "1970-01-01T00:00:00.000003Z",
      changed_at: "1970-01-01T00:00:00.000004Z",
      new_source_memory_ids: ["s"],
      source_facts: [{ id: "s", text: "x", type: "world", context: "", is_new: true }],
    },
  ]);
});

test("clearing names the kind, and answers how many went", async () => {
  await using gateway = await gatewayWith({ clearMemories: { deletedCount: 4 }, clearMemoryObservations: { deletedCount: 1 } });
  const answer = { success: true, message: "Deleted 4 memory units", deleted_count: 4 };
  expect((await gateway.send("DELETE", "?type=world")).json()).toEqual(answer);
  expect((await gateway.send("DELETE", "?type=")).json()).toEqual(answer);
  expect((await gateway.send("DELETE", `/${memoryId}/observations`)).json()).toEqual({ deleted_count: 1 });
  expect(gateway.calls).toEqual([
    ["clearMemories", { bankId: "one", type: "world" }],
    ["clearMemories", { bankId: "one" }],
    ["clearMemoryObservations", { bankId: "one", memoryId }],
  ]);
});
