import { describe, expect, test } from "vitest";
import { finished } from "../support/api.ts";
import { freshBank, owner } from "./service.ts";

const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

describe("memories", () => {
  test("what is retained is listed, read and recalled in the source's own words", async () => {
    const { bankId, path } = freshBank();
    const item = {
      content: "Maria: I run the Lisbon office of Northwind. Yesterday I hired Paulo.",
      context: "Staff call",
      timestamp: "2026-02-11T08:45:00Z",
      tags: ["user:maria"],
      metadata: { channel: "ops" },
      document_id: "session-1",
    };
    const retained = await owner("POST", `${path}/memories`, { items: [item] });
    expect(retained).toMatchObject({
      status: 200,
      body: {
        success: true,
        bank_id: bankId,
        items_count: 1,
        async: false,
        usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, cached_tokens: 0, thoughts_tokens: 0 },
      },
    });
    const { body: list } = await owner("GET", `${path}/memories/list`);
    expect(list).toMatchObject({ total: 2, limit: 100, offset: 0 });
    const hired = list.items.find((unit: { text: string }) => unit.text.includes("hired"));
    expect(hired).toMatchObject({
      id: uuid,
      text: "Maria: Yesterday I hired Paulo.",
      context: "Staff call",
      type: "world",
      fact_type: "world",
      document_id: "session-1",
      chunk_id: uuid,
      tags: ["user:maria"],
      metadata: { channel: "ops" },
      occurred_start: "2026-02-10T00:00:00.000000Z",
      date: "2026-02-10T00:00:00.000000Z",
      proof_count: 1,
      state: "valid",
      source_memory_ids: [],
      updated_at: dateTime,
    });
    expect(hired.entities).toContain("Maria (PERSON)");
    expect(hired.entities).toContain("Paulo (PERSON)");
    const { body: unit } = await owner("GET", `${path}/memories/${hired.id}`);
    expect(unit).toMatchObject({
      id: hired.id,
      bank_id: bankId,
      history: [],
      entities: expect.arrayContaining(["Maria", "Paulo"]),
      observation_scopes: null,
      created_at: dateTime,
    });
    const { body: recalled } = await owner("POST", `${path}/memories/recall`, { query: "Who leads the Lisbon office?" });
    expect(recalled.results[0]).toMatchObject({
      text: "Maria: I run the Lisbon office of Northwind.",
      document_id: "session-1",
      metadata: { channel: "ops" },
    });
    expect(recalled.entities).toHaveProperty("Northwind");
  });

  test("an asynchronous retain answers an operation that ends completed, and repeating its id replays it", async () => {
    const { path } = freshBank();
    const operationId = crypto.randomUUID();
    const body = {
      async: true,
      operation_id: operationId,
      items: [{ content: "The ferry to Texel leaves at nine." }, { content: "The dunes are closed in May." }],
    };
    const queued = await owner("POST", `${path}/memories`, body);
    expect(queued.body).toEqual({
      success: true,
      bank_id: expect.any(String),
      items_count: 2,
      async: true,
      operation_id: operationId,
    });
    expect((await owner("POST", `${path}/memories`, body)).body).toEqual(queued.body);
    const operation = await finished(owner, queued.body.bank_id, operationId);
    expect(operation).toMatchObject({
      operation_id: operationId,
      status: "completed",
      operation_type: "batch_retain",
      error_message: null,
      completed_at: dateTime,
      progress: { stage: "completed", processed: 2, total: 2 },
      result_metadata: { items_count: 2, is_parent: true, num_sub_batches: 1 },
      child_operations: [{ status: "completed", sub_batch_index: 0, items_count: 2, error_message: null }],
    });
    expect((await owner("GET", `${path}/memories/list`)).body.total).toBe(2);
    expect((await owner("GET", `${path}/operations?type=batch_retain`)).body).toMatchObject({
      total: 1,
      operations: [{ id: operationId, task_type: "batch_retain" }],
    });
    const elsewhere = await owner("POST", `${freshBank().path}/memories`, body);
    expect(elsewhere.status).toBe(409);
    const twice = {
      async: true,
      items: [
        { content: "a", document_id: "d" },
        { content: "b", document_id: "d" },
      ],
    };
    expect((await owner("POST", `${path}/memories`, twice)).status).toBe(400);
  });

  test("a document id replaces what it named before, and append adds to it", async () => {
    const { path } = freshBank();
    const retain = (content: string, more = {}) =>
      owner("POST", `${path}/memories`, { items: [{ content, document_id: "note", ...more }] });
    await retain("The gate code is 4711.");
    await retain("The gate code is 9922.");
    const texts = async () =>
      (await owner("GET", `${path}/memories/list?document_id=note`)).body.items.map((unit: { text: string }) => unit.text).sort();
    expect(await texts()).toEqual(["The gate code is 9922."]);
    await retain("The back door stays locked.", { update_mode: "append" });
    expect(await texts()).toEqual(["The back door stays locked.", "The gate code is 9922."]);
    expect((await owner("GET", `${path}/stats`)).body).toMatchObject({ total_documents: 1, total_nodes: 2 });
  });

  test("restatements are one memory, other numbers or people are others", async () => {
    const { path } = freshBank();
    const timestamp = "2026-03-01T09:00:00Z";
    const contents = [
      "The server room is on floor 3.",
      "the server room  is on floor 3.",
      "The server room is on floor 4.",
      "Ann: I love skiing.",
      "Bob: I love skiing.",
    ];
    await owner("POST", `${path}/memories`, { items: contents.map((content) => ({ content, timestamp })) });
    const { body } = await owner("GET", `${path}/memories/list`);
    expect(body.items.map((unit: { text: string }) => unit.text).sort()).toEqual([
      "Ann: I love skiing.",
      "Bob: I love skiing.",
      "The server room is on floor 3.",
      "The server room is on floor 4.",
    ]);
  });

  test.each([
    ["German", "Der Umzug nach Köln findet im Herbst statt.", "Wann ist der Umzug nach Köln?"],
    ["Chinese", "小明在上海的一家书店工作。", "谁在书店工作?"],
    ["Japanese", "田中さんは京都で猫を三匹飼っています。", "京都の猫"],
    ["Thai", "สมชายชอบกินทุเรียนมาก", "ทุเรียน"],
    ["Arabic", "تعمل ليلى مهندسة في القاهرة.", "القاهرة"],
    ["emoji and marks", "Zoë’s 🎷 recital is at the Café Ωmega.", "Ωmega recital"],
  ])("%s text is stored as it is and found again", async (_, content, query) => {
    const { path } = freshBank();
    await owner("POST", `${path}/memories`, { items: [{ content: "An unrelated note about the weather." }, { content }] });
    const { body } = await owner("POST", `${path}/memories/recall`, { query });
    expect(body.results[0].text).toBe(content);
  });

  test("timestamps: null and empty mean now, unset means none, rubbish is a fault", async () => {
    const { path } = freshBank();
    const items = [
      { content: "Alpha is first.", timestamp: null },
      { content: "Beta is second.", timestamp: "" },
      { content: "Gamma has no time.", timestamp: "unset" },
    ];
    expect((await owner("POST", `${path}/memories`, { items })).status).toBe(200);
    const { body } = await owner("GET", `${path}/memories/list`);
    const gamma = body.items.at(-1);
    expect(gamma).toMatchObject({ text: "Gamma has no time.", mentioned_at: null, date: "" });
    const bad = await owner("POST", `${path}/memories`, { items: [{ content: "x1", timestamp: "soon" }] });
    expect(bad).toMatchObject({
      status: 422,
      body: { detail: [{ type: "value_error", loc: ["body", "items", 0, "timestamp"] }] },
    });
  });

  test("stats agree with each other and with what is listed", async () => {
    const { path } = freshBank();
    const items = Array.from({ length: 15 }, (_, i) => ({
      content: `Nora visited museum ${i} in Bruges with Pieter.`,
      timestamp: `2026-01-01T0${i % 9}:00:00Z`,
      tags: [`t${i % 3}`],
    }));
    await owner("POST", `${path}/memories`, { items });
    const { body: stats } = await owner("GET", `${path}/stats`);
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
    expect(stats.total_nodes).toBe(15);
    expect(stats.total_nodes).toBe(sum(stats.nodes_by_fact_type));
    expect(stats.total_links).toBe(sum(stats.links_by_link_type));
    expect(stats.total_links).toBe(sum(stats.links_by_fact_type));
    expect(stats.total_links).toBe(
      sum(
        Object.fromEntries(
          Object.entries(stats.links_breakdown as Record<string, Record<string, number>>).map(([type, links]) => [
            type,
            sum(links),
          ]),
        ),
      ),
    );
    expect(stats.links_by_link_type).toMatchObject({
      entity: expect.any(Number),
      semantic: expect.any(Number),
      temporal: expect.any(Number),
    });
    expect((await owner("GET", `${path}/tags`)).body).toMatchObject({
      total: 3,
      items: [
        { tag: "t0", count: 5 },
        { tag: "t1", count: 5 },
        { tag: "t2", count: 5 },
      ],
    });
  });

  test("full-text search wants every word, the last one as a start", async () => {
    const { path } = freshBank();
    await owner("POST", `${path}/memories`, {
      items: [{ content: "The red kayak hangs in the shed." }, { content: "The blue kayak was sold to Hanna." }],
    });
    const search = async (q: string) => (await owner("GET", `${path}/memories/list?q=${encodeURIComponent(q)}`)).body.total;
    expect(await search("kayaks")).toBe(2);
    expect(await search("kayak blu")).toBe(1);
    expect(await search("kayak green")).toBe(0);
    expect(await search("   ")).toBe(2);
  });
});

describe("recall", () => {
  test("budgets, tags, types and time windows narrow what is found", async () => {
    const { path } = freshBank();
    const items = [
      { content: "The lease in Ghent ends.", timestamp: "2024-05-01T10:00:00Z", tags: ["home"] },
      { content: "The lease in Bruges ends.", timestamp: "2025-05-01T10:00:00Z", tags: ["work"] },
      { content: "The lease in Namur ends.", timestamp: "2025-06-01T10:00:00Z" },
    ];
    await owner("POST", `${path}/memories`, { items });
    const recall = async (more: object) =>
      (await owner("POST", `${path}/memories/recall`, { query: "Which lease ends?", ...more })).body.results.map(
        (hit: { text: string }) => hit.text,
      );
    expect(await recall({})).toHaveLength(3);
    expect(await recall({ max_tokens: 0 })).toEqual([]);
    expect(await recall({ max_tokens: 8 })).toHaveLength(1);
    expect(await recall({ tags: ["home"], tags_match: "any_strict" })).toEqual(["The lease in Ghent ends."]);
    expect((await recall({ tags: ["home"] })).sort()).toEqual(["The lease in Ghent ends.", "The lease in Namur ends."]);
    expect(await recall({ tag_groups: [{ not: { tags: ["home", "work"] } }] })).toEqual(["The lease in Namur ends."]);
    expect(await recall({ types: ["experience"] })).toEqual([]);
    expect((await recall({ temporal_window: { start: "2025-05-01", end: "2025-05-02" } }))[0]).toBe("The lease in Bruges ends.");
    expect(
      (await owner("POST", `${path}/memories/recall`, { query: "Which lease ends in May 2024?" })).body.results[0].text,
    ).toBe("The lease in Ghent ends.");
  });

  test("trace explains each result by its terms", async () => {
    const { path } = freshBank();
    await owner("POST", `${path}/memories`, { items: [{ content: "Iris plays the cello." }] });
    const { body } = await owner("POST", `${path}/memories/recall`, {
      query: "Who plays the cello?",
      trace: true,
      include: { chunks: {} },
    });
    expect(body.results[0].scores.final).toBeGreaterThan(0);
    expect(body.trace).toBeTypeOf("object");
    expect(Object.values(body.chunks)[0]).toMatchObject({ text: "Iris plays the cello.", chunk_index: 0, truncated: false });
  });

  test("a question without letters or digits is a fault, one that is too long a refusal", async () => {
    const { path } = freshBank();
    expect((await owner("POST", `${path}/memories/recall`, { query: "?!" })).status).toBe(422);
    expect((await owner("POST", `${path}/memories/recall`, { query: "word ".repeat(600) })).status).toBe(400);
  });
});
