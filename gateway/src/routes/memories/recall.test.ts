import { Budget, TagsMatch } from "@memory-bank/proto/common/v1/common";
import type { RecallResponse, RecallResult } from "@memory-bank/proto/memory/v1/memory";
import { expect, test } from "vitest";
import { fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type MemoryRouteDeps, memoryRoutes } from "./routes.ts";

const bare: RecallResult = {
  id: "u1",
  text: "Maria runs the Lisbon office",
  type: "world",
  entities: ["Maria"],
  context: "",
  metadata: {},
  tags: [],
  sourceFactIds: [],
  terms: [],
  proofCount: 1,
};
const full: RecallResult = {
  ...bare,
  id: "u2",
  type: "observation",
  context: "call",
  occurredStartUs: 0,
  occurredEndUs: 1,
  mentionedAtUs: 2,
  documentId: "d",
  chunkId: "c",
  tags: ["t"],
  metadata: { a: "b" },
  sourceFactIds: ["u1"],
  scores: { final: 0.9, semantic: 0.5 },
  terms: [{ name: "semantic", value: 0.5, weight: 1 }],
};
const response: RecallResponse = {
  results: [full, bare],
  entities: [{ entityId: "e", canonicalName: "__proto__" }],
  chunks: [{ id: "c", text: "…", chunkIndex: 0, truncated: true }],
  sourceFacts: [bare],
  sourceFactsTruncated: true,
  trace: { query: { terms: ["lisbon"] } },
  commitSeq: 7,
  pendingConsolidation: 0,
};

async function gatewayWith() {
  const { client, calls } = fakeClient<MemoryRouteDeps["memory"]>({ recall: response });
  const gateway = await testGateway((app) => memoryRoutes(app, { memory: client }));
  const post = (payload: unknown) =>
    gateway.app.inject({
      method: "POST",
      url: "/v1/default/banks/one/memories/recall",
      headers: asOwner,
      payload: JSON.stringify(payload),
    });
  return { ...gateway, post, calls };
}

test("a question alone asks with the defaults, and members without value are left out of results", async () => {
  await using gateway = await gatewayWith();
  const answer = (await gateway.post({ query: "Lisbon?" })).json();
  expect(gateway.calls).toEqual([
    [
      "recall",
      {
        bankId: "one",
        query: "Lisbon?",
        types: [],
        budget: Budget.MID,
        maxTokens: 4096,
        preferObservations: false,
        trace: false,
        includeEntities: { maxTokens: 500, maxTokensPerObservation: -1 },
        maxCommitSeq: 0,
        minCommitSeq: 0,
        forReflect: false,
      },
    ],
  ]);
  expect(Object.keys(answer)).toEqual(["results", "entities"]);
  expect(answer.results[1]).toEqual({
    id: "u1",
    text: "Maria runs the Lisbon office",
    type: "world",
    entities: ["Maria"],
    context: "",
    metadata: {},
    tags: [],
  });
  expect(answer.results[0]).toMatchObject({
    occurred_start: "1970-01-01T00:00:00.000000Z",
    mentioned_at: "1970-01-01T00:00:00.000002Z",
    source_fact_ids: ["u1"],
    scores: { final: 0.9, semantic: 0.5 },
  });
  expect(Object.entries(answer.entities)).toEqual([
    ["__proto__", { entity_id: "e", canonical_name: "__proto__", observations: [] }],
  ]);
});

test("all of a request reaches the service, and what was asked for is in the answer", async () => {
  await using gateway = await gatewayWith();
  const answer = await gateway.post({
    query: "Lisbon?",
    types: ["world", "opinion"],
    budget: "high",
    max_tokens: 0,
    prefer_observations: true,
    trace: true,
    query_timestamp: "1970-01-02",
    include: { entities: null, chunks: {}, source_facts: { max_tokens: -1 } },
    tag_groups: [{ or: [{ tags: ["a"] }, { not: { tags: ["b"], match: "all" } }] }],
    min_scores: { semantic: 0.2, final: null },
    temporal_window: { start: "0001-01-01", end: "9999-12-31T23:59:59Z" },
  });
  expect(gateway.calls[0]![1]).toMatchObject({
    types: ["world", "opinion"],
    budget: Budget.HIGH,
    maxTokens: 0,
    preferObservations: true,
    trace: true,
    queryTimestampUs: 86_400_000_000,
    includeChunks: { maxTokens: 8192 },
    includeSourceFacts: { maxTokens: 2 ** 31 - 1, maxTokensPerObservation: -1 },
    minScores: { semantic: 0.2 },
    // Cut to what a number holds: no stored instant lies beyond.
    windowStartUs: Number.MIN_SAFE_INTEGER,
    windowEndUs: Number.MAX_SAFE_INTEGER,
  });
  expect(gateway.calls[0]![1].tags.groups).toEqual([
    {
      node: {
        $case: "anyOf",
        value: {
          groups: [
            { node: { $case: "leaf", value: { tags: ["a"], match: TagsMatch.ANY_STRICT } } },
            { node: { $case: "negation", value: { node: { $case: "leaf", value: { tags: ["b"], match: TagsMatch.ALL } } } } },
          ],
        },
      },
    },
  ]);
  expect(gateway.calls[0]![1]).not.toHaveProperty("includeEntities");
  const body = answer.json();
  expect(Object.keys(body)).toEqual(["results", "chunks", "source_facts", "source_facts_truncated", "trace"]);
  expect(body.chunks).toEqual({ c: { id: "c", text: "…", chunk_index: 0, truncated: true } });
  expect(body.source_facts.u1.text).toBe(bare.text);
  expect(body.trace).toEqual({
    query: { terms: ["lisbon"] },
    results: [
      { id: "u2", terms: [{ name: "semantic", value: 0.5, weight: 1 }] },
      { id: "u1", terms: [] },
    ],
  });
});

test.each([
  [{ query: "?!" }, "value_error", ["body", "query"]],
  [{}, "missing", ["body", "query"]],
  [{ query: "x", budget: "huge" }, "enum", ["body", "budget"]],
  [{ query: "x", tags_match: "some" }, "literal_error", ["body", "tags_match"]],
  [{ query: "x", max_tokens: -1 }, "greater_than_equal", ["body", "max_tokens"]],
  [{ query: "x", tags: ["a"], tag_groups: [] }, "value_error", ["body"]],
  [{ query: "x", temporal_window: { start: "2026-01-02", end: "2026-01-01" } }, "value_error", ["body", "temporal_window"]],
])("%j is refused with 422", async (payload, type, loc) => {
  await using gateway = await gatewayWith();
  const answer = await gateway.post(payload);
  expect([answer.statusCode, answer.json().detail[0].type, answer.json().detail[0].loc]).toEqual([422, type, loc]);
});

test("a reference time that is none is 400, and a blank one is now", async () => {
  await using gateway = await gatewayWith();
  const answer = await gateway.post({ query: "x", query_timestamp: "soon" });
  expect([answer.statusCode, answer.json().detail]).toEqual([400, "Invalid query_timestamp: 'soon' is not a valid datetime"]);
  expect((await gateway.post({ query: "x", query_timestamp: "" })).statusCode).toBe(200);
  expect(gateway.calls[0]![1]).not.toHaveProperty("queryTimestampUs");
});
