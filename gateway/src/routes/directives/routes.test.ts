import type { Directive } from "@memory-bank/proto/bank/v1/bank";
import { TagsMatch } from "@memory-bank/proto/common/v1/common";
import { expect, test } from "vitest";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type DirectiveRouteDeps, directiveRoutes } from "./routes.ts";

const stored: Directive = {
  id: "a3bb189e-8bf9-4888-9912-ace4e6543002",
  bankId: "one",
  name: "Language",
  content: "Answer in formal German.",
  priority: 10,
  isActive: true,
  tags: [],
  createdAtUs: 1_772_625_600_000_000,
  updatedAtUs: 1_772_625_600_000_001,
};

function openWith(answers: Partial<Record<keyof DirectiveRouteDeps["bank"], unknown>> = {}) {
  const calls: unknown[] = [];
  const answering = (method: string, answer: unknown) => async (_ctx: unknown, request: unknown) => {
    calls.push([method, request]);
    return answer as never;
  };
  const bank: DirectiveRouteDeps["bank"] = {
    createDirective: answering("createDirective", answers.createDirective ?? stored),
    getDirective: answering("getDirective", answers.getDirective ?? stored),
    updateDirective: answering("updateDirective", answers.updateDirective ?? stored),
    listDirectives: answering("listDirectives", answers.listDirectives ?? { directives: [stored], total: 7 }),
    deleteDirective: answering("deleteDirective", {}),
  };
  const gateway = testGateway((app) => directiveRoutes(app, { bank }));
  return { gateway, calls };
}

const url = "/v1/default/banks/one/directives";

test("a directive gets its defaults and is answered whole", async () => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  const payload = { name: "Language", content: "Answer in formal German." };
  const response = await opened.app.inject({ method: "POST", url, headers: asOwner, payload });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({
    id: stored.id,
    bank_id: "one",
    ...payload,
    priority: 10,
    is_active: true,
    tags: [],
    created_at: "2026-03-04T12:00:00.000000Z",
    updated_at: "2026-03-04T12:00:00.000001Z",
  });
  expect(calls).toEqual([["createDirective", { bankId: "one", ...payload, priority: 0, isActive: true, tags: [] }]]);
});

test("blank text and a priority beyond 32 bits are faults, all at once", async () => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  const payload = { name: " ", content: "", priority: 2 ** 31 };
  const response = await opened.app.inject({ method: "POST", url, headers: asOwner, payload });
  expect(response.statusCode).toBe(422);
  expect(response.json<{ detail: { type: string; loc: unknown }[] }>().detail.map(({ type, loc }) => [type, loc])).toEqual([
    ["value_error", ["body", "name"]],
    ["value_error", ["body", "content"]],
    ["less_than_equal", ["body", "priority"]],
  ]);
  expect(calls).toEqual([]);
});

test("a change tells tags that are cleared from tags that are not given", async () => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  for (const payload of [{}, { tags: [], name: null }, { is_active: false }]) {
    const response = await opened.app.inject({ method: "PATCH", url: `${url}/${stored.id}`, headers: asOwner, payload });
    expect(response.statusCode).toBe(200);
  }
  const names = { bankId: "one", directiveId: stored.id };
  expect(calls).toEqual([
    ["updateDirective", { ...names }],
    ["updateDirective", { ...names, tags: { values: [] } }],
    ["updateDirective", { ...names, isActive: false }],
  ]);
});

test("a list shows active ones unless told, and echoes its page", async () => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  const response = await opened.app.inject({ url: `${url}?tags=a&tags=b&tags_match=all&limit=2&offset=4`, headers: asOwner });
  expect(response.json()).toMatchObject({ items: [{ id: stored.id }], total: 7, limit: 2, offset: 4 });
  await opened.app.inject({ url: `${url}?active_only=false`, headers: asOwner });
  expect(calls).toEqual([
    [
      "listDirectives",
      { bankId: "one", tags: { tags: ["a", "b"], match: TagsMatch.ALL, groups: [] }, activeOnly: true, limit: 2, offset: 4 },
    ],
    ["listDirectives", { bankId: "one", activeOnly: false, limit: 100, offset: 0 }],
  ]);
});

test.each(["limit=0", "limit=1001", "tags_match=any_strict", "offset=-1"])("a list refuses %s", async (query) => {
  const { gateway } = openWith();
  await using opened = await gateway;
  expect((await opened.app.inject({ url: `${url}?${query}`, headers: asOwner })).statusCode).toBe(422);
});

test("a deletion says so", async () => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  const response = await opened.app.inject({ method: "DELETE", url: `${url}/${stored.id}`, headers: asOwner });
  expect(response.json()).toEqual({ status: "deleted" });
  expect(calls).toEqual([["deleteDirective", { bankId: "one", directiveId: stored.id }]]);
});
