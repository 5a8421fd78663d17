import type { CreateDirectiveRequest, ListDirectivesRequest } from "@memory-bank/proto/bank/v1/bank";
import { TagsMatch } from "@memory-bank/proto/common/v1/common";
import { expect, test } from "vitest";
import { openTestService, write } from "../test-service.ts";

const create = (parts: Partial<CreateDirectiveRequest> = {}): CreateDirectiveRequest => ({
  ...{ bankId: "b", name: "Language", content: "Answer in German.", priority: 0, isActive: true, tags: [] },
  ...parts,
});
const list = (parts: Partial<ListDirectivesRequest> = {}): ListDirectivesRequest => ({
  ...{ bankId: "b", tags: undefined, activeOnly: true, limit: 0, offset: 0 },
  ...parts,
});

test("creating one creates the bank, and gives the full record", async () => {
  await using t = await openTestService();
  const directive = await t.bank.createDirective(t.as(), create({ priority: 10, tags: ["a"] }));
  expect(directive).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ...create({ priority: 10, tags: ["a"] }),
    createdAtUs: t.time.now(),
    updatedAtUs: t.time.now(),
  });
  expect(await t.bank.getDirective(t.as(), { bankId: "b", directiveId: directive.id.toUpperCase() })).toEqual(directive);
  expect((await t.bank.getBank(t.as(), { bankId: "b" })).name).toBe("b");
});

test("one that is refused creates no bank", async () => {
  await using t = await openTestService();
  await expect(t.bank.createDirective(t.as(), create({ content: " " }))).rejects.toMatchObject({
    code: "invalid_argument",
    violations: [{ location: ["body", "content"], type: "value_error" }],
  });
  expect((await t.bank.listBanks(t.as(), { limit: 0, offset: 0 })).total).toBe(0);
});

test("an unknown id, or what is no UUID, is not found, in an unknown bank too", async () => {
  await using t = await openTestService();
  const { id } = await t.bank.createDirective(t.as(), create());
  const absent = [
    { bankId: "b", directiveId: "not-a-uuid" },
    { bankId: "b", directiveId: crypto.randomUUID() },
    { bankId: "other", directiveId: id },
  ];
  for (const request of absent) {
    const fault = { code: "not_found", message: `Directive '${request.directiveId}' not found` };
    await expect(t.bank.getDirective(t.as(), request)).rejects.toMatchObject(fault);
    await expect(t.bank.updateDirective(t.as(), { ...request, tags: undefined })).rejects.toMatchObject(fault);
    await expect(t.bank.deleteDirective(t.as(), request)).rejects.toMatchObject(fault);
  }
  await expect(t.bank.getDirective(t.as({ tenantId: "other" }), { bankId: "b", directiveId: id })).rejects.toMatchObject({
    code: "not_found",
  });
});

test("changes only what is given", async () => {
  await using t = await openTestService();
  const directive = await t.bank.createDirective(t.as(), create({ tags: ["a"], priority: 3 }));
  const change = (parts: object) =>
    t.bank.updateDirective(t.as(), { bankId: "b", directiveId: directive.id, tags: undefined, ...parts });
  await t.time.advance(1_000);
  expect(await change({})).toEqual({ ...directive, updatedAtUs: t.time.now() });
  expect(await change({ isActive: false, priority: -1 })).toMatchObject({ isActive: false, priority: -1, tags: ["a"] });
  expect(await change({ tags: { values: [] }, isActive: true })).toMatchObject({ isActive: true, priority: -1, tags: [] });
  await expect(change({ name: "" })).rejects.toMatchObject({ violations: [{ location: ["body", "name"] }] });
});

test("lists by priority; active ones unless told; by tags", async () => {
  await using t = await openTestService();
  expect(await t.bank.listDirectives(t.as(), list())).toEqual({ directives: [], total: 0 });
  await t.bank.createDirective(t.as(), create({ name: "low", priority: -5 }));
  await t.bank.createDirective(t.as(), create({ name: "off", isActive: false }));
  await t.bank.createDirective(t.as(), create({ name: "tagged", tags: ["a", "b"] }));
  const names = async (parts: Partial<ListDirectivesRequest> = {}) => {
    const { directives, total } = await t.bank.listDirectives(t.as(), list(parts));
    return [directives.map(({ name }) => name), total];
  };
  expect(await names()).toEqual([["tagged", "low"], 2]);
  expect((await names({ activeOnly: false }))[1]).toBe(3);
  expect(await names({ limit: 1, offset: 1 })).toEqual([["low"], 2]);
  expect(await names({ tags: { tags: ["a"], match: TagsMatch.ANY_STRICT, groups: [] } })).toEqual([["tagged"], 1]);
  expect(await names({ tags: { tags: ["c"], match: TagsMatch.ANY, groups: [] } })).toEqual([["low"], 1]);
  expect(await names({ tags: { tags: ["b", "a"], match: TagsMatch.EXACT, groups: [] } })).toEqual([["tagged"], 1]);
  const groups = [{ node: { $case: "leaf" as const, value: { tags: ["a"], match: TagsMatch.ANY } } }];
  await expect(t.bank.listDirectives(t.as(), list({ tags: { tags: [], match: 0, groups } }))).rejects.toMatchObject({
    code: "invalid_argument",
  });
});

test("a deleted directive is gone", async () => {
  await using t = await openTestService();
  await t.bank.putBank(t.as(), write("b"));
  const { id: directiveId } = await t.bank.createDirective(t.as(), create());
  expect(await t.bank.deleteDirective(t.as(), { bankId: "b", directiveId })).toEqual({});
  await expect(t.bank.deleteDirective(t.as(), { bankId: "b", directiveId })).rejects.toMatchObject({ code: "not_found" });
});
