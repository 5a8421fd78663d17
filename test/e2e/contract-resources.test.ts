import { describe, expect, test } from "vitest";
import { finished } from "../support/api.ts";
import { expectAnswer, freshBank, owner } from "./service.ts";

/** Mental models, directives, webhooks, operations, audit log: the contract member by member. */

const model = { name: "n", source_query: "Who keeps bees?" };

describe("mental models", () => {
  test.each<[object, unknown[]]>([
    [{ name: " " }, [{ type: "value_error", loc: ["body", "name"] }]],
    [{ id: "-x" }, [{ type: "string_pattern_mismatch", ctx: { pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]*$" } }]],
    [{ max_tokens: 255 }, [{ type: "greater_than_equal", ctx: { ge: 256 } }]],
    [{ max_tokens: 8193 }, [{ type: "less_than_equal", ctx: { le: 8192 } }]],
    [{ trigger: { fact_types: [] } }, [{ type: "too_short", ctx: { field_type: "List", min_length: 1, actual_length: 0 } }]],
    [{ trigger: { fact_types: ["x"] } }, [{ type: "literal_error", loc: ["body", "trigger", "fact_types", 0] }]],
    [{ trigger: { mode: "x" } }, [{ type: "literal_error", msg: "Input should be 'full' or 'delta'" }]],
    [{ trigger: { refresh_cron: "0 6 * * *", refresh_after_consolidation: true } }, [{ type: "value_error" }]],
    [{ trigger: { refresh_cron: "often" } }, [{ type: "value_error" }]],
    [{ trigger: { response_schema: { type: "object", properties: {} } } }, [{ type: "value_error" }]],
  ])("%j is refused", async (members, detail) => {
    await expectAnswer(owner("POST", `${freshBank().path}/mental-models`, { ...model, ...members }), 422, { detail });
  });

  test("id, placeholder, refresh, staleness and changes", async () => {
    const { bankId, path } = freshBank();
    await expectAnswer(owner("POST", `${path}/memories`, { items: [{ content: "Otto keeps bees in Ghent." }] }), 200);
    const made = await expectAnswer(owner("POST", `${path}/mental-models`, model), 200, {
      mental_model_id: expect.stringMatching(/^mm-[0-9a-f]{32}$/),
    });
    expect(await finished(owner, bankId, made.operation_id)).toMatchObject({
      operation_type: "refresh_mental_model",
      status: "completed",
    });
    const one = `${path}/mental-models/${made.mental_model_id}`;
    await expectAnswer(owner("GET", one), 200, {
      content: expect.stringContaining("Otto keeps bees"),
      is_stale: false,
      trigger: { mode: "full", refresh_after_consolidation: false, fact_types: null, tags_match: null, keep_trace: false },
      reflect_response: { outcome: "content_written", based_on: { world: [{ text: "Otto keeps bees in Ghent." }], opinion: [] } },
    });
    await expectAnswer(owner("PATCH", one, {}), 200, { name: "n", is_stale: false });
    await expectAnswer(owner("PATCH", one, { trigger: { tags_match: "all" } }), 200, {
      trigger: { tags_match: "all", mode: "full" },
    });
    await expectAnswer(owner("PATCH", one, { trigger: { keep_trace: true } }), 200, {
      trigger: { tags_match: null, keep_trace: true },
    });
    await expectAnswer(owner("PATCH", one, { source_query: "Who sails?" }), 200, { is_stale: true });
    const content = await expectAnswer(owner("GET", `${path}/mental-models?detail=content`), 200, { total: 1 });
    expect(content.items[0]).toMatchObject({ reflect_response: null, content: expect.stringContaining("bees") });
    await expectAnswer(owner("DELETE", one), 200, { status: "deleted" });
    await expectAnswer(owner("DELETE", one), 404, { detail: `Mental model '${made.mental_model_id}' not found` });
  });

  test("a new memory in its scope makes a model stale, one outside does not", async () => {
    const { bankId, path } = freshBank();
    await expectAnswer(owner("PUT", path, { enable_observations: false }), 200);
    const made = await expectAnswer(owner("POST", `${path}/mental-models`, { ...model, id: "m", tags: ["bees"] }), 200);
    await finished(owner, bankId, made.operation_id);
    const isStale = async () => (await owner("GET", `${path}/mental-models/m`)).body.is_stale;
    const retain = (tags: string[]) => owner("POST", `${path}/memories`, { items: [{ content: "Otto keeps bees.", tags }] });
    await retain(["boats"]);
    expect(await isStale()).toBe(false);
    await retain(["bees"]);
    expect(await isStale()).toBe(true);
  });
});

test("directives: blanks, nulls, clearing, and an empty change that is one", async () => {
  const { path } = freshBank();
  for (const name of ["", " "]) {
    await expectAnswer(owner("POST", `${path}/directives`, { name, content: "c" }), 422, {
      detail: [{ type: "value_error", loc: ["body", "name"], input: name }],
    });
  }
  const made = await expectAnswer(owner("POST", `${path}/directives`, { name: "n", content: "c" }), 200, {
    ...{ priority: 0, is_active: true, tags: [] },
  });
  const one = `${path}/directives/${made.id}`;
  const touched = await expectAnswer(owner("PATCH", one, {}), 200, { name: "n", content: "c", created_at: made.created_at });
  expect(touched.updated_at > made.updated_at).toBe(true);
  await expectAnswer(owner("PATCH", one, { tags: ["a"], name: null, priority: "-7" }), 200, {
    name: "n",
    tags: ["a"],
    priority: -7,
  });
  await expectAnswer(owner("PATCH", one, { tags: [], is_active: "off" }), 200, { tags: [], is_active: false });
  await expectAnswer(owner("GET", `${path}/directives`), 200, { items: [], total: 0 });
  await expectAnswer(owner("GET", `${path}/directives?active_only=no`), 200, { total: 1 });
  await expectAnswer(owner("DELETE", one), 200, { status: "deleted" });
  await expectAnswer(owner("PATCH", one, {}), 404, { detail: `Directive '${made.id}' not found` });
});

describe("webhooks", () => {
  test.each([
    ...["ftp://hooks.example.com", "http://", "nowhere", "http://u:p@hooks.example.com"],
    ...[
      "http://10.0.0.1",
      "http://[::1]/",
      "http://169.254.169.254/",
      "http://100.64.0.1/",
      "http://[::ffff:10.0.0.1]/",
      "http://167772161/",
    ],
  ])("%s is no destination", async (url) => {
    await expectAnswer(owner("POST", `${freshBank().path}/webhooks`, { url }), 400, { detail: expect.any(String) });
  });

  test("defaults, changes one by one, and null that clears the secret alone", async () => {
    const { path } = freshBank();
    const url = "https://hooks.example.com/x";
    const made = await expectAnswer(owner("POST", `${path}/webhooks`, { url, secret: "s" }), 201, {
      ...{ url, secret: "s", event_types: ["consolidation.completed"], enabled: true },
      http_config: { method: "POST", timeout_seconds: 30, headers: {}, params: {} },
    });
    const one = `${path}/webhooks/${made.id}`;
    const change = (body: object, members: object) => expectAnswer(owner("PATCH", one, body), 200, members);
    await change({ url: null, enabled: null }, { url, secret: "s", enabled: true });
    await change(
      { http_config: { method: "GET", headers: { a: "b" } } },
      { http_config: { method: "GET", headers: { a: "b" } } },
    );
    await change({ http_config: { timeout_seconds: 5 } }, { http_config: { method: "POST", timeout_seconds: 5, headers: {} } });
    await change({ event_types: [] }, { event_types: [], secret: "s" });
    await change({ secret: null }, { secret: null });
    for (const body of [{}, { other: 1 }]) {
      await expectAnswer(owner("PATCH", one, body), 422, {
        detail: [{ type: "value_error", loc: ["body"], msg: "Value error, No fields provided to update", input: body }],
      });
    }
    await expectAnswer(owner("GET", `${one}/deliveries?limit=201`), 422);
    await expectAnswer(owner("GET", `${one}/deliveries?cursor=zz`), 422, {
      detail: [{ type: "datetime_from_date_parsing", loc: ["query", "cursor"], ctx: { error: "input is too short" } }],
    });
    await expectAnswer(owner("DELETE", one), 200, { success: true });
    await expectAnswer(owner("PATCH", one, { enabled: true }), 404, { detail: "Webhook not found" });
  });
});

test("operations: unknown ones, wrong states and wrong ids", async () => {
  const { bankId, path } = freshBank();
  const id = crypto.randomUUID();
  const unknown = { detail: `Operation ${id} not found for bank ${bankId}` };
  await expectAnswer(owner("GET", `${path}/operations/${id}`), 200, {
    operation_id: id,
    status: "not_found",
    operation_type: null,
  });
  await expectAnswer(owner("DELETE", `${path}/operations/${id}`), 404, unknown);
  await expectAnswer(owner("POST", `${path}/operations/${id}/retry`), 404, unknown);
  await expectAnswer(owner("DELETE", `${path}/operations/${id}/delete`), 404, unknown);
  await expectAnswer(owner("GET", `${path}/operations/zz`), 400, { detail: "Invalid operation_id format: zz" });
  const { operation_id } = (await owner("POST", `${path}/memories`, { items: [{ content: "Otto sails." }], async: true })).body;
  await finished(owner, bankId, operation_id);
  for (const [method, what] of [
    ["DELETE", ""],
    ["POST", "/retry"],
  ] as const) {
    await expectAnswer(owner(method, `${path}/operations/${operation_id}${what}`), 409);
  }
  const other = await owner("GET", `${freshBank().path}/operations/${operation_id}`);
  expect(other.body.status).toBe("not_found");
  await expectAnswer(owner("GET", `${path}/operations?type=batch_retain&exclude_parents=true`), 200, { operations: [] });
  await expectAnswer(owner("DELETE", `${path}/operations/${operation_id}/delete`), 200, { success: true, operation_id });
});

test("audit log: filters that match nothing, bounds and bad dates", async () => {
  const { path } = freshBank();
  await expectAnswer(owner("PUT", path, {}), 200);
  await expectAnswer(owner("GET", `${path}/audit-logs?action=nonsense&transport=pigeon`), 200, { items: [], total: 0 });
  for (const limit of [0, 501]) await expectAnswer(owner("GET", `${path}/audit-logs?limit=${limit}`), 422);
  await expectAnswer(owner("GET", `${path}/audit-logs?start_date=2026-13-01&end_date=zz`), 422, {
    detail: [
      { loc: ["query", "start_date"], ctx: { error: "month value is outside expected range of 1-12" } },
      { loc: ["query", "end_date"], ctx: { error: "input is too short" } },
    ],
  });
});
