import { expect, test } from "vitest";
import { expectAnswer, freshBank, owner } from "./service.ts";

/** Banks, their configuration, and what is known of a bank that does not exist: the contract member by member. */

const nothing = expect.toSatisfy((value: object) => Object.keys(value).length === 0);

test.each<[string, string, number, unknown]>([
  ["GET", "/config", 200, { overrides: nothing }],
  ["GET", "/stats", 200, { total_nodes: 0, total_links: 0, links_by_link_type: { entity: 0, semantic: 0, temporal: 0 } }],
  ["GET", "/memories/list", 200, { items: [], total: 0, limit: 100, offset: 0 }],
  ["GET", "/tags", 200, { items: [], total: 0, limit: 100, offset: 0 }],
  ["GET", "/entities", 200, { items: [], total: 0, limit: 100, offset: 0 }],
  ["GET", "/entities/graph", 200, { nodes: [], edges: [], total_entities: 0, total_edges: 0, limit: 1000 }],
  ["GET", "/documents", 200, { items: [], total: 0 }],
  ["GET", "/webhooks", 200, { items: [] }],
  ["GET", "/directives", 200, { items: [], total: 0, limit: 100, offset: 0 }],
  ["GET", "/mental-models", 200, { items: [], total: 0, limit: 100, offset: 0 }],
  ["GET", "/operations", 200, { operations: [], total: 0, limit: 20, offset: 0 }],
  ["GET", "/documents/x", 404, { detail: "Document not found" }],
  ["GET", "/mental-models/x", 404, { detail: "Mental model 'x' not found" }],
  ["GET", "/directives/x", 404, { detail: "Directive 'x' not found" }],
  ["GET", "/webhooks/x/deliveries", 404, { detail: "Webhook not found" }],
])("%s …%s of a bank that does not exist: %i, and it still does not", async (method, what, status, body) => {
  const { bankId, path } = freshBank();
  await expectAnswer(owner(method, path + what), status, body);
  for (const unknown of [
    owner("GET", `${path}/profile`),
    owner("GET", `${path}/audit-logs`),
    owner("PATCH", path, { name: "x" }),
  ]) {
    await expectAnswer(unknown, 404, { detail: `Bank '${bankId}' not found` });
  }
});

test("recall and reflect on a bank that does not exist find nothing, and make no bank", async () => {
  const { path } = freshBank();
  await expectAnswer(owner("POST", `${path}/memories/recall`, { query: "Who?" }), 200, { results: [] });
  await expectAnswer(owner("POST", `${path}/reflect`, { query: "Who?" }), 200, { text: expect.stringContaining("not hold") });
  await expectAnswer(owner("DELETE", path), 200, { success: true, deleted_count: 0 });
  await expectAnswer(owner("GET", `${path}/profile`), 404);
});

test.each<[string, string, unknown, number]>([
  ["POST", "/memories", { items: [] }, 200],
  ["POST", "/webhooks", { url: "https://hooks.example.com" }, 201],
  ["POST", "/mental-models", { name: "n", source_query: "q?" }, 200],
  ["PATCH", "/config", { updates: {} }, 200],
  ["POST", "/consolidate", undefined, 200],
  ["POST", "/directives", { name: "n", content: "c" }, 200],
])("%s …%s makes the bank with its defaults", async (method, what, body, status) => {
  const { bankId, path } = freshBank();
  await expectAnswer(owner(method, path + what, body), status);
  await expectAnswer(owner("GET", `${path}/profile`), 200, {
    bank_id: bankId,
    name: bankId,
    mission: "",
    background: "",
    disposition: { skepticism: 3, literalism: 3, empathy: 3 },
  });
});

test("bodies of a bank: which member wins, what is required of the traits, and what null means", async () => {
  const { bankId, path } = freshBank();
  await expectAnswer(owner("PUT", path, { background: "b", mission: "m" }), 200, { mission: "m", background: "m" });
  await expectAnswer(owner("PUT", path, { background: "b", mission: "m", reflect_mission: "r" }), 200, { mission: "r" });
  await expectAnswer(owner("PUT", path, { name: null, mission: null }), 200, { name: bankId, mission: "r" });
  const traits = { skepticism: 1, literalism: 1, empathy: 1 };
  await expectAnswer(owner("PUT", path, { disposition: traits, disposition_empathy: 5 }), 200, {
    disposition: { ...traits, empathy: 5 },
  });
  await expectAnswer(owner("PUT", path, { disposition: { skepticism: 1 } }), 422, {
    detail: [
      { type: "missing", loc: ["body", "disposition", "literalism"], input: { skepticism: 1 } },
      { type: "missing", loc: ["body", "disposition", "empathy"] },
    ],
  });
  await expectAnswer(owner("PUT", path, { retain_chunk_size: 0 }), 400);
  const updatedAt = async () => (await owner("GET", `/v1/default/banks?q=${bankId}`)).body.banks[0].updated_at;
  const before = await updatedAt();
  await expectAnswer(owner("PATCH", path, {}), 200, { mission: "r" });
  expect(await updatedAt()).toBe(before);
});

test.each<[unknown, RegExp]>([
  [{ nonsense: 1 }, /nonsense/],
  [{ llm_model: "x" }, /llm_model/],
  [{ openai_api_key: "x" }, /openai_api_key/],
  [{ enable_observations: "yes" }, /enable_observations must be a boolean, got/],
  [{ retain_chunk_size: "5" }, /retain_chunk_size must be an integer, got/],
  [{ disposition_empathy: 6 }, /must be an integer between 1 and 5/],
  [{ recall_budget_min: 500, recall_budget_max: 10 }, /recall_budget/],
  [{ recall_budget_function: "x" }, /recall_budget_function/],
  [{ retain_extraction_mode: "psychic" }, /retain_extraction_mode/],
  [{ retain_strategies: { "": {} } }, /strateg/],
  [{ retain_mission: "kept?", entity_labels: [{ other: 1 }] }, /entity_labels/],
])("the configuration %j is refused, and nothing of it is stored", async (updates, detail) => {
  const { path } = freshBank();
  await expectAnswer(owner("PATCH", `${path}/config`, { updates }), 400, { detail: expect.stringMatching(detail) });
  expect((await owner("GET", `${path}/config`)).body.overrides).toEqual({});
});

test("configuration keys in either spelling; null and DELETE remove overrides", async () => {
  const { path } = freshBank();
  const set = { updates: { HINDSIGHT_API_RETAIN_CHUNK_SIZE: 1500, reflect_mission: "m" } };
  await expectAnswer(owner("PATCH", `${path}/config`, set), 200, {
    overrides: { retain_chunk_size: 1500, reflect_mission: "m" },
  });
  await expectAnswer(owner("GET", `${path}/profile`), 200, { mission: "m" });
  const { body } = await owner("PATCH", `${path}/config`, { updates: { retain_chunk_size: null } });
  expect([body.overrides, body.config.retain_chunk_size]).toEqual([{ reflect_mission: "m" }, 3000]);
  expect((await owner("DELETE", `${path}/config`)).body.overrides).toEqual({});
  await expectAnswer(owner("GET", `${path}/profile`), 200, { mission: "" });
  await expectAnswer(owner("PATCH", `${path}/config`, {}), 422, { detail: [{ type: "missing", loc: ["body", "updates"] }] });
});

test("answers are compressed from a kilobyte on, and name what was ignored", async () => {
  const { path } = freshBank();
  const { headers } = await owner("GET", `${path}/memories/list?foo=1&limit=1&bar=2`);
  expect(headers.get("x-ignored-params")).toBe("foo, bar");
  expect((await owner("GET", `${path}/config`, undefined, { "accept-encoding": "gzip" })).headers.get("content-encoding")).toBe(
    "gzip",
  );
  expect((await owner("GET", `${path}/stats/x`, undefined, { "x-request-id": "mine-1" })).headers.get("x-request-id")).toBe(
    "mine-1",
  );
  expect((await owner("PUT", `${path}/stats`, {})).headers.get("allow")).toBe("GET, HEAD");
});
