import { describe, expect, test } from "vitest";
import { failing, fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type MemoryRouteDeps, memoryRoutes } from "./routes.ts";

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedTokens: 0, thoughtsTokens: 0 };

async function gatewayWith(retain: unknown) {
  const { client, calls } = fakeClient<MemoryRouteDeps["memory"]>({ retain });
  const gateway = await testGateway((app) => memoryRoutes(app, { memory: client }));
  const post = (payload: unknown) =>
    gateway.app.inject({
      method: "POST",
      url: "/v1/default/banks/one/memories",
      headers: asOwner,
      payload: JSON.stringify(payload),
    });
  return { ...gateway, post, calls };
}

const done = { itemsCount: 1, usage, operationIds: [] };

test("an item that says nothing else gets the defaults", async () => {
  await using gateway = await gatewayWith(done);
  expect((await gateway.post({ items: [{ content: " Maria called. " }] })).json()).toEqual({
    success: true,
    bank_id: "one",
    items_count: 1,
    async: false,
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5, cached_tokens: 0, thoughts_tokens: 0 },
  });
  expect(gateway.calls).toEqual([
    [
      "retain",
      {
        bankId: "one",
        async: false,
        items: [
          {
            content: " Maria called. ",
            context: "",
            timeless: false,
            metadata: {},
            tags: [],
            entities: [],
            exactEntities: false,
            append: false,
          },
        ],
      },
    ],
  ]);
});

test("everything that an item can say reaches the service", async () => {
  await using gateway = await gatewayWith(done);
  await gateway.post({
    items: [
      {
        content: "x",
        context: "call",
        document_id: "d/1",
        timestamp: "2026-03-04T12:00:00.000001+01:00",
        metadata: { a: "b" },
        tags: '["t1","t2"]',
        entities: [{ text: "Maria", type: "PERSON" }, { text: "Lisbon" }],
        resolve_entities: false,
        observation_scopes: [["t1"], []],
        strategy: "s",
        update_mode: "append",
      },
      { content: "y", tags: "lone", observation_scopes: "per_tag", timestamp: null, update_mode: null },
    ],
    document_tags: ["all"],
    operation_id: "3F2B8C1E-7A64-4D0B-9C55-1E8A2B6F9D03",
  });
  const [first, second] = gateway.calls[0]![1].items;
  expect(first).toEqual({
    content: "x",
    context: "call",
    documentId: "d/1",
    timestampUs: 1_772_622_000_000_001,
    timeless: false,
    metadata: { a: "b" },
    tags: ["t1", "t2", "all"],
    entities: [
      { text: "Maria", type: "PERSON" },
      { text: "Lisbon", type: "" },
    ],
    exactEntities: true,
    observationScopes: { preset: "", explicit: [{ tags: ["t1"] }, { tags: [] }] },
    strategy: "s",
    append: true,
  });
  expect(second).toMatchObject({ tags: ["lone", "all"], observationScopes: { preset: "per_tag", explicit: [] }, append: false });
  // A synchronous call has nothing to replay.
  expect(gateway.calls[0]![1]).not.toHaveProperty("operationId");
});

describe("the timestamp of an item", () => {
  test.each([
    ["unset", { timeless: true }],
    ["UNSET", { timeless: true }],
    ["", { timeless: false }],
    [null, { timeless: false }],
    ["1970-01-01", { timeless: false, timestampUs: 0 }],
    ["1969-12-31 23:59:59.999999", { timeless: false, timestampUs: -1 }],
  ])("%j", async (timestamp, expected) => {
    await using gateway = await gatewayWith(done);
    expect((await gateway.post({ items: [{ content: "x", timestamp }] })).statusCode).toBe(200);
    const { timeless, timestampUs } = gateway.calls[0]![1].items[0];
    expect(timestampUs === undefined ? { timeless } : { timeless, timestampUs }).toEqual(expected);
  });

  test.each([
    ["yesterday", "value_error", "Value error, Invalid timestamp: 'yesterday'"],
    ["0500-01-01T00:00:00Z", "value_error", "Value error, timestamp is outside the supported range"],
    ["9999-12-31T23:59:59Z", "value_error", "Value error, timestamp is outside the supported range"],
    [17, "string_type", "Input should be a valid string"],
  ])("%j is refused", async (timestamp, type, msg) => {
    await using gateway = await gatewayWith(done);
    const response = await gateway.post({ items: [{ content: "x", timestamp }] });
    expect(response.statusCode).toBe(422);
    expect(response.json().detail).toMatchObject([{ type, msg, loc: ["body", "items", 0, "timestamp"], input: timestamp }]);
    expect(gateway.calls).toEqual([]);
  });
});

test("blank content, a wrong scope and a missing list are named together, each at its place", async () => {
  await using gateway = await gatewayWith(done);
  const response = await gateway.post({
    items: [{ content: " \n\t" }, { content: "\0" }, { content: "x", observation_scopes: "mine" }],
    async: "maybe",
  });
  expect(
    response.json().detail.map((one: { type: string; loc: unknown[]; msg: string }) => [one.type, one.loc.slice(1)]),
  ).toEqual([
    ["value_error", ["items", 0, "content"]],
    ["value_error", ["items", 1, "content"]],
    ["literal_error", ["items", 2, "observation_scopes", "literal['per_tag','combined','all_combinations','shared']"]],
    ["list_type", ["items", 2, "observation_scopes", "list[list[str]]"]],
    ["bool_parsing", ["async"]],
  ]);
  expect(response.json().detail[0].msg).toBe("Value error, content cannot be empty");
});

describe("an asynchronous call", () => {
  const operationId = "5f0c7a9e-9f63-4b5b-b6b6-2f6d5d0c7e11";

  test("answers its operation and no usage", async () => {
    await using gateway = await gatewayWith({ itemsCount: 0, operationIds: [operationId] });
    const response = await gateway.post({ items: [], async: true, operation_id: operationId });
    expect(response.json()).toEqual({
      success: true,
      bank_id: "one",
      items_count: 0,
      async: true,
      operation_id: operationId,
    });
    expect(gateway.calls[0]![1]).toMatchObject({ async: true, operationId });
  });

  test("with several strategies lists all operations, the first one apart", async () => {
    await using gateway = await gatewayWith({ itemsCount: 2, operationIds: ["a", "b"] });
    expect((await gateway.post({ items: [], async: true })).json()).toMatchObject({
      operation_id: "a",
      operation_ids: ["a", "b"],
    });
  });

  test("refuses what the service refuses, with its text", async () => {
    await using gateway = await gatewayWith(failing("invalid_argument", "DUPLICATE_DOCUMENT_ID", "Duplicate document_id 'd'"));
    const response = await gateway.post({ items: [], async: true });
    expect([response.statusCode, response.json()]).toEqual([400, { detail: "Duplicate document_id 'd'" }]);
  });
});

test.each([
  [failing("invalid_argument", "PAYLOAD_TOO_LARGE", "too large"), 413, "Request body too large"],
  [failing("deadline_exceeded", "DEADLINE_EXCEEDED", "Retain ran past"), 504, "Retain took longer than 3600 seconds"],
  [failing("already_exists", "OPERATION_ID_TAKEN", "taken"), 409, "taken"],
])("failure %#", async (retain, status, detail) => {
  await using gateway = await gatewayWith(retain);
  const response = await gateway.post({ items: [] });
  expect([response.statusCode, response.json()]).toEqual([status, { detail }]);
});
