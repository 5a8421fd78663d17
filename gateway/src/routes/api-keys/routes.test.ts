import { AppError } from "@memory-bank/errors";
import type { ApiKey } from "@memory-bank/proto/auth/v1/auth";
import { expect, test } from "vitest";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type ApiKeyRouteDeps, apiKeyRoutes } from "./routes.ts";

const atUs = 1_772_625_600_000_000;
const key: ApiKey = {
  id: "4d0f6a0c-8f0e-4a39-9a0b-1f2d3c4b5a69",
  name: "mobile app",
  role: "member",
  capabilities: [],
  allowedBankIds: { values: ["user-17"] },
  parentKeyId: "0b5b1f1e-6a0d-4c5e-8f9a-2b3c4d5e6f70",
  metadata: { user: "17" },
  keyPrefix: "hsk_Zk3vQ9pL",
  status: "active",
  expiresAtUs: atUs + 30 * 86_400_000_000,
  createdAtUs: atUs,
};
const record = {
  id: key.id,
  key_prefix: "hsk_Zk3vQ9pL",
  name: "mobile app",
  parent_key_id: key.parentKeyId,
  allowed_bank_ids: ["user-17"],
  capabilities: [],
  role: "member",
  metadata: { user: "17" },
  status: "active",
  expires_at: "2026-04-03T12:00:00.000000Z",
  last_used_at: null,
  created_at: "2026-03-04T12:00:00.000000Z",
};

function opened(failure?: AppError) {
  const calls: unknown[] = [];
  const answering = (method: string, answer: unknown) => async (_ctx: unknown, request: unknown) => {
    calls.push([method, request]);
    if (failure) throw failure;
    return answer as never;
  };
  const auth: ApiKeyRouteDeps["auth"] = {
    createApiKey: answering("createApiKey", { key, apiKey: "hsk_secret" }),
    createScopedApiKey: answering("createScopedApiKey", { key, apiKey: "hsk_secret" }),
    listApiKeys: answering("listApiKeys", { keys: [key], total: 1 }),
    revokeApiKey: answering("revokeApiKey", { revokedKeyIds: [key.id] }),
  };
  return { gateway: testGateway((app) => apiKeyRoutes(app, { auth })), calls };
}

const url = "/v1/api-keys";

test("a child key is answered with 200 and its secret", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const payload = { name: "mobile app", allowed_bank_ids: ["user-17"], expires_in_days: "30" };
  const response = await running.app.inject({ method: "POST", url: `${url}/scoped`, headers: asOwner, payload });
  expect([response.statusCode, response.json()]).toEqual([200, { ...record, api_key: "hsk_secret" }]);
  expect(calls).toEqual([
    ["createScopedApiKey", { name: "mobile app", allowedBankIds: ["user-17"], expiresInDays: 30, metadata: {} }],
  ]);
});

test.each<[object, string, string]>([
  [{ allowed_bank_ids: [] }, "too_short", "allowed_bank_ids"],
  [{ expires_in_days: 0 }, "greater_than_equal", "expires_in_days"],
  [{ expires_in_days: 366 }, "less_than_equal", "expires_in_days"],
  [{ name: "" }, "string_too_short", "name"],
  [{ metadata: [] }, "dict_type", "metadata"],
])("a child key with %j is refused", async (members, type, name) => {
  const { gateway } = opened();
  await using running = await gateway;
  const payload = { name: "n", allowed_bank_ids: ["a"], expires_in_days: 1, ...members };
  const response = await running.app.inject({ method: "POST", url: `${url}/scoped`, headers: asOwner, payload });
  expect(response.json()).toMatchObject({ detail: [{ type, loc: ["body", name] }] });
});

test("a missing capability is named", async () => {
  const { gateway } = opened(
    new AppError("permission_denied", "CAPABILITY_MISSING", "API key lacks the create_scoped_keys capability"),
  );
  await using running = await gateway;
  const payload = { name: "n", allowed_bank_ids: ["a"], expires_in_days: 1 };
  const response = await running.app.inject({ method: "POST", url: `${url}/scoped`, headers: asOwner, payload });
  expect([response.statusCode, response.json()]).toEqual([403, { detail: "API key lacks the create_scoped_keys capability" }]);
});

test("a top-level key gets its defaults", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  for (const payload of [{ name: "n" }, { name: "n", expiration: "custom", expires_in_days: 3, allowed_bank_ids: ["a"] }]) {
    expect((await running.app.inject({ method: "POST", url, headers: asOwner, payload })).statusCode).toBe(200);
  }
  const defaults = { name: "n", capabilities: [], role: "member" };
  expect(calls).toEqual([
    ["createApiKey", { ...defaults, expiration: "never" }],
    ["createApiKey", { ...defaults, expiration: "custom", expiresInDays: 3, allowedBankIds: { values: ["a"] } }],
  ]);
});

test("lists show no secrets and tell children from all keys", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const all = await running.app.inject({ url: `${url}?status=all&limit=9999`, headers: asOwner });
  expect(all.json()).toEqual({ items: [record], total: 1, limit: 500, offset: 0 });
  await running.app.inject({ url: `${url}/scoped`, headers: asOwner });
  expect(calls).toEqual([
    ["listApiKeys", { status: "all", limit: 500, offset: 0, childrenOnly: false }],
    ["listApiKeys", { status: "active", limit: 100, offset: 0, childrenOnly: true }],
  ]);
});

test("revocation names the key", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  for (const path of ["", "/scoped"]) {
    const response = await running.app.inject({ method: "DELETE", url: `${url}${path}/${key.id}`, headers: asOwner });
    expect(response.json()).toEqual({ success: true, id: key.id });
  }
  expect(calls).toEqual([
    ["revokeApiKey", { keyId: key.id, childrenOnly: false }],
    ["revokeApiKey", { keyId: key.id, childrenOnly: true }],
  ]);
});

test.each(["PUT", "PATCH"] as const)("%s on a key is 405", async (method) => {
  const { gateway } = opened();
  await using running = await gateway;
  for (const path of [key.id, `scoped/${key.id}`]) {
    const response = await running.app.inject({ method, url: `${url}/${path}`, headers: asOwner, payload: {} });
    expect(response.statusCode).toBe(405);
  }
});
