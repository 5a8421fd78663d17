import { describe, expect, test } from "vitest";
import { finished } from "../support/api.ts";
import { expectAnswer, freshBank, owner } from "./service.ts";

/** Retain, lists, tags, graph and recall: the contract member by member. */

const retain = (path: string, ...items: object[]) => expectAnswer(owner("POST", `${path}/memories`, { items }), 200);

describe("retain", () => {
  test("documents: the last of two wins, append adds a line, tags come in three forms", async () => {
    const { path } = freshBank();
    await retain(path, { content: "Alpha is one.", document_id: "x" }, { content: "Beta is two.", document_id: "x" });
    await expectAnswer(owner("GET", `${path}/documents/x`), 200, { original_text: "Beta is two.", memory_unit_count: 1 });
    const added = { content: "Gamma is three.", document_id: "x", update_mode: "append", tags: '["t1","t2"]' };
    await expectAnswer(owner("POST", `${path}/memories`, { items: [added], document_tags: ["dt"] }), 200);
    const { body } = await owner("GET", `${path}/documents/x`);
    expect(body.original_text).toBe("Beta is two.\nGamma is three.");
    expect([...body.tags].sort()).toEqual(["dt", "t1", "t2"]);
    await retain(path, { content: "A lone tag hangs here.", tags: "solo" });
    await expectAnswer(owner("GET", `${path}/tags?q=solo`), 200, { items: [{ tag: "solo", count: 1 }], total: 1 });
  });

  test("asynchronous: no items are an operation, too; two strategies are two operations", async () => {
    const { bankId, path } = freshBank();
    const empty = await expectAnswer(owner("POST", `${path}/memories`, { items: [], async: true }), 200, { items_count: 0 });
    expect(empty).not.toHaveProperty("usage");
    expect(await finished(owner, bankId, empty.operation_id)).toMatchObject({
      status: "completed",
      result_metadata: { items_count: 0 },
    });
    const items = ["a", "b"].map((strategy) => ({ content: `The ${strategy} boat sails.`, strategy }));
    const two = await expectAnswer(owner("POST", `${path}/memories`, { items, async: true }), 200, { items_count: 2 });
    expect(two.operation_ids).toHaveLength(2);
    expect(two.operation_id).toBe(two.operation_ids[0]);
    await expectAnswer(owner("POST", `${path}/memories`, { items, async: true, operation_id: crypto.randomUUID() }), 400);
  });

  test.each<[object, unknown[]]>([
    [
      { content: "x", timestamp: "rubbish" },
      [{ type: "value_error", loc: ["body", "items", 0, "timestamp"], ctx: { error: {} } }],
    ],
    [{ content: " " }, [{ type: "value_error", msg: "Value error, content cannot be empty", input: " " }]],
    [
      { content: "x", observation_scopes: "odd" },
      [
        {
          type: "literal_error",
          loc: ["body", "items", 0, "observation_scopes", "literal['per_tag','combined','all_combinations','shared']"],
        },
        { type: "list_type", loc: ["body", "items", 0, "observation_scopes", "list[list[str]]"] },
      ],
    ],
    [{ content: "x", metadata: { k: 1 } }, [{ type: "string_type", loc: ["body", "items", 0, "metadata", "k"], input: 1 }]],
    [{ content: "x", document_id: "" }, [{ type: "string_too_short", ctx: { min_length: 1 } }]],
  ])("the item %j is refused", async (item, detail) => {
    await expectAnswer(owner("POST", `${freshBank().path}/memories`, { items: [item] }), 422, { detail });
  });
});

describe("lists", () => {
  test("q wants every word, in any order, the last as a prefix; without letters it is a literal", async () => {
    const { path } = freshBank();
    await retain(
      path,
      { content: "A lone tag hangs here.", context: "Museum tour" },
      { content: "The price fell by 30% :-)", timestamp: "unset" },
    );
    const found = async (q: string) => (await owner("GET", `${path}/memories/list?q=${encodeURIComponent(q)}`)).body.total;
    expect(await Promise.all(["tag lone", "LON", "hanging tag", "museum tag", "one tag", "tag price"].map(found))).toEqual([
      ...[1, 1, 1, 1, 0, 0],
    ]);
    expect(await Promise.all([":-)", "%", "*", " "].map(found))).toEqual([1, 1, 0, 2]);
    await expectAnswer(owner("GET", `${path}/memories/list?q=price`), 200, {
      items: [{ date: "", mentioned_at: null, context: "", entities: "", document_id: expect.any(String) }],
    });
  });

  test.each<[string, number, unknown]>([
    ["type=nonsense", 200, { total: 0 }],
    ["type=opinion", 200, { total: 0 }],
    ["consolidation_state=Failed", 200, { total: 0 }],
    ["consolidation_state=x", 400, { detail: "Invalid consolidation_state 'x': expected 'failed', 'pending', or 'done'." }],
    ["state=x", 400, {}],
    ["entity_id=x", 400, {}],
    ["offset=10000", 200, { items: [], total: 1, offset: 10000 }],
    ["limit=0", 200, { items: [], total: 1, limit: 0 }],
    ["limit=1.0", 200, { limit: 1 }],
    ["limit=9999", 200, { limit: 1000 }],
    ["tags=work&tags_match=any_strict", 200, { total: 1 }],
    ["tags=play&tags_match=any_strict", 200, { total: 0 }],
    ["tags_match=exact", 200, { total: 0 }],
    [
      "limit=abc&offset=-1",
      422,
      {
        detail: [
          { type: "int_parsing", input: "abc" },
          { type: "greater_than_equal", ctx: { ge: 0 } },
        ],
      },
    ],
  ])("?%s: %i", async (query, status, body) => {
    const { path } = freshBank();
    await retain(path, { content: "Otto keeps bees in Ghent.", tags: ["work"] });
    await expectAnswer(owner("GET", `${path}/memories/list?${query}`), status, body);
  });

  test("tags: anchored patterns without case, most used first", async () => {
    const { path } = freshBank();
    await retain(
      path,
      { content: "Otto keeps bees.", tags: ["user:Maria", "b", "", "b"] },
      { content: "Ines sails boats.", tags: ["b", "user:tom"] },
    );
    const tags = async (q: string) =>
      (await owner("GET", `${path}/tags?q=${encodeURIComponent(q)}`)).body.items.map((item: { tag: string }) => item.tag);
    expect(await Promise.all(["", "user:*", "USER:MARIA", "user", "*aria", "u?er:tom"].map(tags))).toEqual([
      ["b", "user:Maria", "user:tom"],
      ["user:Maria", "user:tom"],
      ["user:Maria"],
      [],
      ["user:Maria"],
      [],
    ]);
    await expectAnswer(owner("GET", `${path}/tags?limit=1&offset=1`), 200, {
      items: [{ tag: "user:Maria", count: 1 }],
      total: 3,
    });
  });

  test("entity graph: bounds, colours and the smaller id as source", async () => {
    const { path } = freshBank();
    await retain(
      path,
      { content: "Maria met Paulo in Lisbon." },
      { content: "Maria called Paulo from Lisbon.", timestamp: "2026-01-01" },
    );
    const { body } = await owner("GET", `${path}/entities/graph?min_count=2&limit=99999`);
    expect(body).toMatchObject({ limit: 10_000, total_edges: 3, total_entities: 3 });
    for (const { data } of body.nodes) expect(data).toMatchObject({ color: "#42a5f5", mentionCount: 2 });
    for (const { data } of body.edges) {
      expect(data).toMatchObject({ weight: 2, linkType: "cooccurrence", lineStyle: "solid", color: "#ffd700" });
      expect([data.id, data.source < data.target]).toEqual([`${data.source}-${data.target}`, true]);
    }
    await expectAnswer(owner("GET", `${path}/entities/graph?limit=0`), 200, { nodes: [], edges: [], total_edges: 0 });
    await expectAnswer(owner("GET", `${path}/entities/graph?min_count=-5`), 200, { total_edges: 3 });
    await expectAnswer(owner("GET", `${path}/entities/graph?min_count=3`), 200, { nodes: [], edges: [] });
  });
});

describe("recall", () => {
  test.each<[object, number, unknown]>([
    [{ query: "???" }, 422, { detail: [{ type: "value_error", loc: ["body", "query"] }] }],
    [{ query: "word ".repeat(600) }, 400, {}],
    [{ query: "bees", tags: ["a"], tag_groups: [{ tags: ["b"] }] }, 422, { detail: [{ type: "value_error", loc: ["body"] }] }],
    [{ query: "bees", budget: "huge" }, 422, { detail: [{ type: "enum", ctx: { expected: "'low', 'mid' or 'high'" } }] }],
    [{ query: "bees", query_timestamp: "bad" }, 400, {}],
    [{ query: "bees", max_tokens: 0 }, 200, { results: [] }],
    [{ query: "bees", types: ["opinion"] }, 200, { results: [] }],
    [{ query: "bees", types: ["preference"] }, 200, { results: [] }],
    [{ query: "bees", types: ["world"] }, 200, { results: [{ text: "Otto keeps bees in Ghent.", type: "world" }] }],
    [{ query: "bees", min_scores: { final: 1e9 } }, 200, { results: [] }],
    [{ query: "bees", tag_groups: [{ not: { tags: ["work"] } }] }, 200, { results: [] }],
    [{ query: "bees", tag_groups: [{ or: [{ tags: ["work"] }, { tags: ["x"] }] }] }, 200, { results: [{ tags: ["work"] }] }],
  ])("%j", async (body, status, answer) => {
    const { path } = freshBank();
    await retain(path, { content: "Otto keeps bees in Ghent.", tags: ["work"] });
    await expectAnswer(owner("POST", `${path}/memories/recall`, body), status, answer);
  });

  test("what is asked for is there, also when it is empty; what is not asked for is not", async () => {
    const { path } = freshBank();
    const members = async (include: object, trace = false) =>
      Object.keys((await owner("POST", `${path}/memories/recall`, { query: "bees", include, trace })).body).sort();
    expect(await members({ entities: null })).toEqual(["results"]);
    expect(await members({})).toEqual(["entities", "results"]);
    expect(await members({ chunks: {}, source_facts: {} }, true)).toEqual([
      ...["chunks", "entities", "results", "source_facts", "source_facts_truncated", "trace"],
    ]);
  });
});
