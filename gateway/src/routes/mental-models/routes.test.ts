import { TagsMatch } from "@memory-bank/proto/common/v1/common";
import type { MentalModel } from "@memory-bank/proto/reflect/v1/reflect";
import { expect, test } from "vitest";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type MentalModelRouteDeps, mentalModelRoutes } from "./routes.ts";
import { defaultTrigger, triggerToProto } from "./trigger.ts";

const atUs = 1_772_625_600_000_000;
const stored: MentalModel = {
  id: "billing-summary",
  bankId: "one",
  name: "Billing summary",
  sourceQuery: "What billing problems recur?",
  content: "## Recurring problems",
  tags: ["topic:billing"],
  maxTokens: 2048,
  trigger: triggerToProto(defaultTrigger),
  createdAtUs: atUs,
  lastRefreshedAtUs: atUs,
  reflectResponse: { text: "## Recurring problems", based_on: { world: [] } },
  isStale: false,
};

function opened() {
  const calls: unknown[] = [];
  const answering = (method: string, answer: unknown) => async (_ctx: unknown, request: unknown) => {
    calls.push([method, request]);
    return answer as never;
  };
  const queued = { mentalModelId: stored.id, operationId: "op-1" };
  const versions = [
    { content: "newer", reflectResponse: { text: "t", based_on: { world: [] } }, changedAtUs: atUs },
    { content: "", changedAtUs: atUs - 1 },
  ];
  const reflect: MentalModelRouteDeps["reflect"] = {
    createMentalModel: answering("createMentalModel", queued),
    getMentalModel: answering("getMentalModel", stored),
    listMentalModels: answering("listMentalModels", { models: [stored], total: 1 }),
    updateMentalModel: answering("updateMentalModel", stored),
    deleteMentalModel: answering("deleteMentalModel", {}),
    refreshMentalModel: answering("refreshMentalModel", queued),
    clearMentalModel: answering("clearMentalModel", { ...stored, content: "", reflectResponse: undefined, isStale: true }),
    getMentalModelHistory: answering("getMentalModelHistory", { versions }),
  };
  return { gateway: testGateway((app) => mentalModelRoutes(app, { reflect })), calls };
}

const url = "/v1/default/banks/one/mental-models";
const oneUrl = `${url}/billing-summary`;
const model = { name: "Billing summary", source_query: "What billing problems recur?" };

test("a new model gets its defaults and answers the queued refresh", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const response = await running.app.inject({ method: "POST", url, headers: asOwner, payload: model });
  expect([response.statusCode, response.json()]).toEqual([200, { mental_model_id: "billing-summary", operation_id: "op-1" }]);
  const [[, request]] = calls as [[string, object]];
  expect(request).toEqual({
    bankId: "one",
    name: model.name,
    sourceQuery: model.source_query,
    maxTokens: 2048,
    tags: [],
    trigger: { mode: "full", refreshAfterConsolidation: false, excludeMentalModels: false, keepTrace: false },
  });
});

test.each<[object, string, (string | number)[]]>([
  [{ ...model, id: "-x" }, "string_pattern_mismatch", ["body", "id"]],
  [{ ...model, id: "" }, "string_too_short", ["body", "id"]],
  [{ ...model, name: " " }, "value_error", ["body", "name"]],
  [{ ...model, max_tokens: 255 }, "greater_than_equal", ["body", "max_tokens"]],
  [{ ...model, max_tokens: 8193 }, "less_than_equal", ["body", "max_tokens"]],
  [{ ...model, trigger: { mode: "half" } }, "literal_error", ["body", "trigger", "mode"]],
  [{ ...model, trigger: { fact_types: [] } }, "too_short", ["body", "trigger", "fact_types"]],
  [{ ...model, trigger: { fact_types: ["opinion"] } }, "literal_error", ["body", "trigger", "fact_types", 0]],
  [{ ...model, trigger: { refresh_cron: "0 * * * *", refresh_after_consolidation: true } }, "value_error", ["body", "trigger"]],
  [{ ...model, trigger: { response_schema: { type: "object" } } }, "value_error", ["body", "trigger", "response_schema"]],
])("the model %j is refused", async (payload, type, loc) => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const response = await running.app.inject({ method: "POST", url, headers: asOwner, payload });
  expect([response.statusCode, calls]).toEqual([422, []]);
  expect(response.json()).toMatchObject({ detail: [{ type, loc }] });
});

test("a trigger goes through and comes back member by member", async () => {
  const trigger = {
    mode: "delta",
    refresh_after_consolidation: true,
    fact_types: ["world"],
    exclude_mental_models: true,
    exclude_mental_model_ids: ["other"],
    tags_match: "exact",
    tag_groups: [{ or: [{ tags: ["a"], match: "any_strict" }, { not: { tags: ["b"], match: "all" } }] }],
    include_chunks: false,
    recall_max_tokens: 100,
    recall_chunks_max_tokens: 200,
    refresh_cron: null,
    min_refresh_interval_seconds: 0,
    response_schema: { type: "object", properties: { a: { type: "string" } } },
    keep_trace: true,
  };
  const updates: MentalModel[] = [];
  const reflect = {
    async updateMentalModel(_ctx: unknown, request: { trigger?: MentalModel["trigger"] }) {
      updates.push({ ...stored, trigger: request.trigger });
      return updates[0]!;
    },
  } as MentalModelRouteDeps["reflect"];
  await using running = await testGateway((app) => mentalModelRoutes(app, { reflect }));
  const response = await running.app.inject({ method: "PATCH", url: oneUrl, headers: asOwner, payload: { trigger } });
  expect(response.json<{ trigger: unknown }>().trigger).toEqual(trigger);
  expect(updates[0]!.trigger?.tagsMatch).toBe(TagsMatch.EXACT);
});

test("a change without members is passed on as such", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  await running.app.inject({ method: "PATCH", url: oneUrl, headers: asOwner, payload: {} });
  expect(calls).toEqual([["updateMentalModel", { bankId: "one", mentalModelId: "billing-summary" }]]);
});

test.each([
  ["full", "## Recurring problems", { text: "## Recurring problems", based_on: { world: [] } }],
  ["content", "## Recurring problems", null],
  ["metadata", null, null],
])("detail %s decides what is answered", async (detail, content, reflectResponse) => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const one = await running.app.inject({ url: `${oneUrl}?detail=${detail}`, headers: asOwner });
  expect(one.json()).toMatchObject({ id: "billing-summary", content, reflect_response: reflectResponse, is_stale: false });
  const list = await running.app.inject({ url: `${url}?detail=${detail}`, headers: asOwner });
  expect(list.json()).toMatchObject({ items: [{ content, reflect_response: reflectResponse }], total: 1, limit: 100, offset: 0 });
  expect(calls).toMatchObject([
    ["getMentalModel", { detail }],
    ["listMentalModels", { detail, limit: 100 }],
  ]);
});

test("refresh, clear, history and deletion", async () => {
  const { gateway } = opened();
  await using running = await gateway;
  const send = async (method: "GET" | "POST" | "DELETE", path: string) =>
    (await running.app.inject({ method, url: `${oneUrl}${path}`, headers: asOwner })).json<unknown>();
  expect(await send("POST", "/refresh")).toEqual({ operation_id: "op-1", status: "queued" });
  expect(await send("POST", "/clear")).toMatchObject({ content: "", reflect_response: null, is_stale: true });
  expect(await send("GET", "/history")).toEqual([
    {
      previous_content: "newer",
      previous_reflect_response: { based_on: { world: [] }, trace: null },
      changed_at: "2026-03-04T12:00:00.000000Z",
    },
    { previous_content: "", previous_reflect_response: null, changed_at: "2026-03-04T11:59:59.999999Z" },
  ]);
  expect(await send("DELETE", "")).toEqual({ status: "deleted" });
});
