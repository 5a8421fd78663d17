import type { AuditQueue } from "@memory-bank/audit";
import { AppError } from "@memory-bank/errors";
import type { AuditEntry } from "@memory-bank/proto/bank/v1/bank";
import { Type } from "typebox";
import { expect, test, vi } from "vitest";
import { route } from "../route.ts";
import { asOwner, restrictedKey, testGateway } from "../test-gateway.ts";
import { jsonObject, list, model, optional } from "../validation/containers.ts";
import { pathId, str } from "../validation/scalars.ts";
import { registerAudit } from "./audit.ts";

const url = "/v1/default/banks/one/things";

interface Parts {
  readonly operationId?: string;
  readonly handler?: () => Promise<object>;
  readonly hasRoom?: () => boolean;
  readonly keepsText?: boolean;
  readonly takesBody?: boolean;
}

/** A gateway with one operation, and the entries that it leaves. */
async function opened({
  operationId = "createDirective",
  handler,
  hasRoom = () => true,
  keepsText = false,
  takesBody = true,
}: Parts = {}) {
  const entries: AuditEntry[] = [];
  const closings: number[] = [];
  const queue: AuditQueue = {
    hasRoom,
    add: (entry) => void entries.push(entry),
    [Symbol.asyncDispose]: async () => void closings.push(entries.length),
  };
  let calls = 0;
  let nowUs = 1_000_000;
  const gateway = await testGateway((app) => {
    registerAudit(app, { queue, nowUs: () => (nowUs += 1_000), newId: () => crypto.randomUUID(), keepsText });
    route(app, {
      method: "POST",
      url: "/v1/default/banks/{bank_id}/things",
      operationId,
      summary: "Do",
      tag: "things",
      params: { bank_id: pathId() },
      ...(takesBody && {
        body: model({ name: optional(str()), secret: optional(str()), items: optional(list(jsonObject())) }),
      }),
      response: Type.Object({}, { additionalProperties: true }),
      status: 201,
      handler: async () => {
        calls++;
        return handler ? handler() : { id: "x", api_key: "hsk_x" };
      },
    });
  });
  const post = (payload: object | string | undefined = { name: "n" }, headers: object = asOwner) =>
    gateway.app.inject({ method: "POST", url, headers: { ...headers }, ...(payload && { payload }) });
  return { gateway, post, entries, closings, calls: () => calls };
}

const recorded = (entries: readonly AuditEntry[], count = 1) => vi.waitFor(() => expect(entries).toHaveLength(count));

test("a call leaves what was asked and answered, without secrets", async () => {
  const { gateway, post, entries } = await opened();
  await using _ = gateway;
  expect((await post({ name: "n", secret: "s" })).statusCode).toBe(201);
  await recorded(entries);
  expect(entries).toEqual([
    {
      id: expect.any(String),
      action: "create_directive",
      transport: "http",
      bankId: "one",
      startedAtUs: 1_001_000,
      endedAtUs: 1_002_000,
      request: { name: "n", secret: "[redacted]" },
      response: { id: "x", api_key: "[redacted]" },
      metadata: { status_code: 201, api_key_id: "key-1", path: { bank_id: "one" } },
      tenantId: "default",
    },
  ]);
});

test.each<[string, AppError, number, string]>([
  ["a conflict", new AppError("already_exists", "X", "Mental model 'm' already exists"), 409, "Mental model 'm' already exists"],
  ["an unknown resource", new AppError("not_found", "X", "Webhook not found"), 404, "Webhook not found"],
  ["a fault of ours", new AppError("internal", "X", "the inside"), 500, "Internal server error"],
])("%s is recorded with its text and without an answer", async (_name, failure, status, error) => {
  const { gateway, post, entries } = await opened({ handler: () => Promise.reject(failure) });
  await using _ = gateway;
  expect((await post()).statusCode).toBe(status);
  await recorded(entries);
  expect(entries).toMatchObject([{ metadata: { status_code: status, error } }]);
  expect(entries[0]!.response).toBeUndefined();
});

test("calls that were refused leave nothing: no key, a key for other banks, faults", async () => {
  const { gateway, post, entries } = await opened({
    handler: () => Promise.reject(new AppError("permission_denied", "ROLE_REQUIRED", "no")),
  });
  await using _ = gateway;
  expect((await post({}, {})).statusCode).toBe(401);
  expect((await post({}, { authorization: `Bearer ${restrictedKey}` })).statusCode).toBe(403);
  expect((await post({ name: 1 })).statusCode).toBe(422);
  await new Promise((done) => setImmediate(done));
  expect(entries).toEqual([]);
});

test("what is sent to an operation that reads no body is kept when it is an object, and nothing else is", async () => {
  const { gateway, post, entries } = await opened({ takesBody: false });
  await using _ = gateway;
  for (const payload of ["[1]", '"text"', "7", "{", '{"a":1}']) expect((await post(payload)).statusCode).toBe(201);
  await recorded(entries, 5);
  expect(entries.map(({ request }) => request)).toEqual([undefined, undefined, undefined, undefined, { a: 1 }]);
});

test("an operation without an action leaves nothing", async () => {
  const { gateway, post, entries } = await opened({ operationId: "listBanks" });
  await using _ = gateway;
  await post();
  await new Promise((done) => setImmediate(done));
  expect(entries).toEqual([]);
});

test("without room a mutation is refused before it begins, and a search is answered", async () => {
  const mutation = await opened({ hasRoom: () => false });
  await using _ = mutation.gateway;
  const refused = await mutation.post();
  expect([refused.statusCode, refused.json(), mutation.calls()]).toEqual([503, { detail: "Service temporarily unavailable" }, 0]);
  expect(refused.headers["retry-after"]).toBe("5");

  const search = await opened({ hasRoom: () => false, operationId: "recallMemories" });
  await using __ = search.gateway;
  expect([(await search.post()).statusCode, search.calls()]).toEqual([201, 1]);
});

test("the text of memories does not go into the log", async () => {
  const retain = await opened({ operationId: "retainMemories" });
  await using _ = retain.gateway;
  await retain.post({ items: [{ content: "abc", context: "c" }] });
  await recorded(retain.entries);
  const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(retain.entries[0]!.request).toEqual({ items: [{ content: { sha256, chars: 3 }, context: "c" }] });

  const recall = await opened({
    operationId: "recallMemories",
    handler: async () => ({ results: [{ id: "a", text: "abc" }, { id: "b" }] }),
  });
  await using __ = recall.gateway;
  await recall.post();
  await recorded(recall.entries);
  expect(recall.entries[0]!.response).toEqual({ ids: ["a", "b"] });

  const based_on = {
    memories: [{ id: "a", text: "abc" }],
    mental_models: [{ id: "m" }],
    directives: [],
    directives_applied: true,
  };
  const reflect = await opened({ operationId: "reflect", handler: async () => ({ text: "t", based_on }) });
  await using ___ = reflect.gateway;
  await reflect.post();
  await recorded(reflect.entries);
  expect(reflect.entries[0]!.response).toEqual({ ids: ["a", "m"] });
});

test("the operator may keep it", async () => {
  const { gateway, post, entries } = await opened({ operationId: "retainMemories", keepsText: true });
  await using _ = gateway;
  await post({ items: [{ content: "abc" }], secret: "s" });
  await recorded(entries);
  expect(entries[0]!.request).toEqual({ items: [{ content: "abc" }], secret: "[redacted]" });
});

test("a stop waits for calls under way and closes the queue after their entries", async () => {
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  const { gateway, entries, closings, calls } = await opened({ handler: () => held.then(() => ({ id: "x" })) });
  const address = await gateway.app.listen({ port: 0, host: "127.0.0.1" });
  const answered = fetch(address + url, { method: "POST", headers: { ...asOwner, connection: "close" }, body: "{}" });
  await vi.waitFor(() => expect(calls()).toBe(1));
  const closed = gateway.app.close();
  setTimeout(release, 20);
  expect((await answered).status).toBe(201);
  await closed;
  expect([entries.length, closings]).toEqual([1, [1]]);
});
