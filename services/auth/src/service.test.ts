import { type CallContext, type Principal, systemContext } from "@memory-bank/context";
import type { DomainEvent } from "@memory-bank/events";
import { AuthInternalServiceService, AuthServiceService, type CreateApiKeyRequest } from "@memory-bank/proto/auth/v1/auth";
import { createInProcessMesh } from "@memory-bank/rpc";
import { createMeter, silentLogger } from "@memory-bank/telemetry";
import { describe, expect, test } from "vitest";
import { principalFromProto } from "./convert.ts";
import { createKeyString } from "./domain/key-string.ts";
import type { Peppers } from "./domain/secret-hasher.ts";
import { createAuthService } from "./service.ts";
import { openAuthStore } from "./store/open-auth-store.ts";

const startUs = 1_700_000_000_000_000;
const [hourUs, dayUs] = [3_600_000_000, 86_400_000_000];
const badKey = { code: "unauthenticated", reason: "KEY_REFUSED", message: "Authentication failed: Invalid API key" };

/** The service over SQLite in memory, called through the mesh, at a time that the test sets. */
async function openAuth() {
  const published: DomainEvent[] = [];
  const bus = {
    publish: async (events: readonly DomainEvent[]) => void published.push(...events),
    subscribe: async () => ({ [Symbol.asyncDispose]: async () => {} }),
    [Symbol.asyncDispose]: async () => {},
  };
  const store = await openAuthStore(
    { kind: "sqlite", file: ":memory:" },
    { bus, log: silentLogger, nowUs: () => 0, newId: () => "" },
  );
  const clock = { us: startUs };
  const forgotten: (readonly string[])[] = [];
  const serviceWith = (peppers: Peppers) => {
    const auth = createAuthService({
      store,
      peppers,
      log: silentLogger,
      meter: createMeter(),
      nowUs: () => clock.us++,
      newId: () => crypto.randomUUID(),
      onRevoked: (keyIds) => forgotten.push(keyIds),
    });
    const mesh = createInProcessMesh({ log: silentLogger });
    mesh.bind(auth);
    return { auth, keys: mesh.client(AuthServiceService), internal: mesh.client(AuthInternalServiceService) };
  };
  const pepper = { current: "a pepper of at least thirty-two characters" };
  const { auth, keys, internal } = serviceWith(pepper);

  const context = (principal?: Principal): CallContext => ({
    ...systemContext("test", Number.MAX_SAFE_INTEGER),
    ...(principal ? { principal } : {}),
  });
  const verify = (apiKey: string, using = internal) => using.verifyKey(context(), { apiKey });
  const as = async (apiKey: string) => context(principalFromProto(await verify(apiKey)));
  const plain: CreateApiKeyRequest = { name: "n", expiration: "", capabilities: [], role: "" };
  const create = async (creator: string, request: Partial<CreateApiKeyRequest> = {}) =>
    keys.createApiKey(await as(creator), { ...plain, ...request });
  const createChild = async (parent: string, allowedBankIds: string[], expiresInDays = 1) =>
    keys.createScopedApiKey(await as(parent), { name: "child", allowedBankIds, expiresInDays, metadata: { user: "17" } });
  const list = async (apiKey: string, status = "", childrenOnly = false) =>
    keys.listApiKeys(await as(apiKey), { status, limit: 100, offset: 0, childrenOnly });
  const revoke = async (apiKey: string, keyId: string, childrenOnly = false) =>
    keys.revokeApiKey(await as(apiKey), { keyId, childrenOnly });
  const first = await auth.ensureBootstrapKey({ createWhenMissing: true });

  return {
    ...{ auth, store, keys, internal, serviceWith, pepper, clock, published, forgotten },
    ...{ context, verify, as, create, createChild, list, revoke, owner: first?.apiKey ?? "" },
    async [Symbol.asyncDispose]() {
      await auth.stop();
      await store[Symbol.asyncDispose]();
    },
  };
}

describe("verification", () => {
  test("tells whose a key is, and in a child's case what else its life depends on", async () => {
    await using t = await openAuth();
    const parent = await t.create(t.owner, { capabilities: ["create_scoped_keys"], expiration: "7d" });
    const child = await t.createChild(parent.apiKey, ["b", "a"]);
    expect(await t.verify(child.apiKey)).toEqual({
      tenantId: "default",
      keyId: child.key?.id,
      lineageKeyIds: [child.key?.id, parent.key?.id],
      role: "member",
      capabilities: [],
      allowedBankIds: { values: ["b", "a"] },
      expiresAtUs: child.key?.expiresAtUs,
    });
    const { allowedBankIds, expiresAtUs } = await t.verify(t.owner);
    expect([allowedBankIds, expiresAtUs]).toEqual([undefined, undefined]);
  });

  test("every bad key gets the same answer", async () => {
    await using t = await openAuth();
    const revoked = await t.create(t.owner);
    await t.revoke(t.owner, revoked.key?.id ?? "");
    const expired = await t.create(t.owner, { expiration: "1h" });
    const known = await t.create(t.owner);
    t.clock.us += hourUs;
    const wrongSecret = forgedKey(known.apiKey);
    for (const apiKey of ["", "hsk_", "x".repeat(10_000), createKeyString(), wrongSecret, revoked.apiKey, expired.apiKey]) {
      const error: unknown = await t.verify(apiKey).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ ...badKey, details: {}, violations: [], retryAfterMs: undefined });
    }
    await t.verify(known.apiKey);
  });

  test("a key works until the microsecond of its expiry", async () => {
    await using t = await openAuth();
    const { key, apiKey } = await t.create(t.owner, { expiration: "1h" });
    t.clock.us = (key?.expiresAtUs ?? 0) - 1;
    await t.verify(apiKey);
    t.clock.us = key?.expiresAtUs ?? 0;
    await expect(t.verify(apiKey)).rejects.toMatchObject(badKey);
  });

  test("a key that was hashed under the previous pepper keeps working and moves to the current one", async () => {
    await using t = await openAuth();
    const rotated = "another pepper of at least thirty-two characters";
    const during = t.serviceWith({ current: rotated, previous: t.pepper.current });
    const after = t.serviceWith({ current: rotated });
    const { apiKey: unused } = await t.create(t.owner);
    await expect(t.verify(t.owner, after.internal)).rejects.toMatchObject(badKey);
    await t.verify(t.owner, during.internal);
    await t.verify(t.owner, after.internal);
    await expect(t.verify(unused, after.internal)).rejects.toMatchObject(badKey);
    await t.verify(unused, during.internal);
    await t.verify(unused, after.internal);
  });

  test("the store never sees the secret", async () => {
    await using t = await openAuth();
    const { apiKey } = await t.create(t.owner);
    const secret = apiKey.slice(20, 52);
    const known = await t.store.findByLookup(apiKey.slice(4, 20));
    expect(JSON.stringify(known)).not.toContain(secret);
    expect(Buffer.from(known?.secretHash ?? [])).toHaveLength(32);
    expect(JSON.stringify(await t.list(t.owner))).not.toContain(secret);
  });
});

describe("creation", () => {
  test("answers the record and, this once, the key", async () => {
    await using t = await openAuth();
    const { key, apiKey } = await t.create(t.owner, { name: "ci", expiration: "30d", allowedBankIds: { values: ["a"] } });
    expect(key).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "ci",
      role: "member",
      capabilities: [],
      allowedBankIds: { values: ["a"] },
      metadata: {},
      keyPrefix: apiKey.slice(0, 12),
      status: "active",
      expiresAtUs: (key?.createdAtUs ?? 0) + 30 * dayUs,
      createdAtUs: key?.createdAtUs,
    });
    expect((await t.list(t.owner)).keys).toContainEqual(key);
  });

  test("a child is a member on a part of the parent's banks, without capabilities", async () => {
    await using t = await openAuth();
    const parent = await t.create(t.owner, { capabilities: ["create_scoped_keys"], allowedBankIds: { values: ["a", "b"] } });
    const { key } = await t.createChild(parent.apiKey, ["b"], 30);
    expect(key).toMatchObject({ role: "member", capabilities: [], parentKeyId: parent.key?.id, metadata: { user: "17" } });
    const wider = t.createChild(parent.apiKey, ["a", "c"]);
    await expect(wider).rejects.toMatchObject({
      code: "permission_denied",
      message: "allowed_bank_ids must be a subset of the parent key's banks",
    });
    const { apiKey: childKey } = await t.createChild(parent.apiKey, ["b"]);
    await expect(t.createChild(childKey, ["b"])).rejects.toThrow("create_scoped_keys");
    await expect(t.create(childKey)).rejects.toThrow("Only Owners and Admins can manage API keys");
  });

  test("a child past the parent's expiry is a fault of expires_in_days", async () => {
    await using t = await openAuth();
    const parent = await t.create(t.owner, { capabilities: ["create_scoped_keys"], expiration: "7d" });
    const violation = { location: ["body", "expires_in_days"], type: "value_error", context: { error: {} } };
    await expect(t.createChild(parent.apiKey, ["a"], 8)).rejects.toMatchObject({
      code: "invalid_argument",
      violations: [violation],
    });
    await t.createChild(parent.apiKey, ["a"], 6);
  });

  test("a caller whose key ended since it was verified creates nothing", async () => {
    await using t = await openAuth();
    const admin = await t.create(t.owner, { role: "admin", capabilities: ["create_scoped_keys"] });
    const remembered = await t.as(admin.apiKey);
    await t.revoke(t.owner, admin.key?.id ?? "");
    const plain = { name: "n", expiration: "", capabilities: [], role: "" };
    const scoped = { name: "n", allowedBankIds: ["a"], expiresInDays: 1 };
    await expect(t.keys.createApiKey(remembered, plain)).rejects.toMatchObject(badKey);
    await expect(t.keys.createScopedApiKey(remembered, scoped)).rejects.toMatchObject(badKey);
    await expect(t.keys.revokeApiKey(remembered, { keyId: "x", childrenOnly: false })).rejects.toMatchObject(badKey);
    await expect(t.keys.createApiKey(t.context(), plain)).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("claims of a forged principal count for nothing: role and banks come from the record", async () => {
    await using t = await openAuth();
    const member = await t.create(t.owner, { allowedBankIds: { values: ["a"] } });
    const { principal } = await t.as(member.apiKey);
    const forged = t.context({ ...principal!, role: "owner", allowedBankIds: null, capabilities: ["create_scoped_keys"] });
    await expect(t.keys.createApiKey(forged, { name: "n", expiration: "", capabilities: [], role: "" })).rejects.toMatchObject({
      code: "permission_denied",
    });
  });
});

describe("revocation", () => {
  test("ends a key and its children with the answer, tells this process before it and the others by an event", async () => {
    await using t = await openAuth();
    await t.auth.start();
    const parent = await t.create(t.owner, { capabilities: ["create_scoped_keys"] });
    const child = await t.createChild(parent.apiKey, ["a"]);
    const keyIds = [parent.key?.id, child.key?.id];
    expect(await t.revoke(t.owner, parent.key?.id ?? "")).toEqual({ revokedKeyIds: keyIds });
    expect(t.forgotten).toEqual([keyIds]);
    for (const { apiKey } of [parent, child]) await expect(t.verify(apiKey)).rejects.toMatchObject(badKey);
    const events = () => t.published.map(({ subject, payload }) => ({ subject, payload }));
    await expect.poll(events).toEqual([{ subject: "key.revoked.v1", payload: { keyIds: [parent.key?.id] } }]);
    const revoked = (await t.list(t.owner, "revoked")).keys;
    expect(revoked.map(({ id, status }) => [id, status])).toEqual([
      [child.key?.id, "revoked"],
      [parent.key?.id, "revoked"],
    ]);
    expect(revoked.every(({ revokedAtUs }) => revokedAtUs === revoked[0]?.revokedAtUs)).toBe(true);
  });

  test("every key may end itself, once", async () => {
    await using t = await openAuth();
    const { key, apiKey } = await t.create(t.owner);
    await t.revoke(apiKey, key?.id ?? "");
    await expect(t.verify(apiKey)).rejects.toMatchObject(badKey);
    await expect(t.revoke(t.owner, key?.id ?? "")).rejects.toMatchObject({ code: "not_found", message: "API key not found" });
  });

  test("the last live owner key stays", async () => {
    await using t = await openAuth();
    const { keyId } = await t.verify(t.owner);
    await expect(t.revoke(t.owner, keyId)).rejects.toMatchObject({ code: "failed_precondition", reason: "LAST_OWNER" });
    const second = await t.create(t.owner, { role: "owner" });
    await t.revoke(second.apiKey, keyId);
    await expect(t.verify(t.owner)).rejects.toMatchObject(badKey);
  });

  test("a key of another tenant is as good as none", async () => {
    await using t = await openAuth();
    const foreign = await t.internal.createTenant(t.context(), { tenantId: "acme", ownerKeyName: "root" });
    const { key } = await t.create(t.owner);
    await expect(t.revoke(foreign.apiKey, key?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
    expect((await t.list(foreign.apiKey)).keys.map(({ id }) => id)).toEqual([foreign.key?.id]);
  });
});

describe("the list", () => {
  test("shows managers everything and others themselves and their children, newest first", async () => {
    await using t = await openAuth();
    const parent = await t.create(t.owner, { capabilities: ["create_scoped_keys"] });
    const child = await t.createChild(parent.apiKey, ["a"]);
    const other = await t.create(t.owner);
    const names = async (apiKey: string, childrenOnly = false) =>
      (await t.list(apiKey, "", childrenOnly)).keys.map(({ id }) => id);
    const { keyId: ownerId } = await t.verify(t.owner);
    expect(await names(t.owner)).toEqual([other.key?.id, child.key?.id, parent.key?.id, ownerId]);
    expect(await names(t.owner, true)).toEqual([child.key?.id]);
    expect(await names(parent.apiKey)).toEqual([child.key?.id, parent.key?.id]);
    expect(await names(parent.apiKey, true)).toEqual([child.key?.id]);
    expect(await names(child.apiKey)).toEqual([child.key?.id]);
    await expect(t.list(other.apiKey, "", true)).rejects.toThrow("create_scoped_keys");
  });

  test("keeps the asked status and tells the true total", async () => {
    await using t = await openAuth();
    const expired = await t.create(t.owner, { expiration: "1h" });
    const revoked = await t.create(t.owner);
    await t.revoke(t.owner, revoked.key?.id ?? "");
    t.clock.us += hourUs;
    const statuses = async (status: string) => (await t.list(t.owner, status)).keys.map((key) => key.status);
    expect(await statuses("")).toEqual(["active"]);
    expect(await statuses("active")).toEqual(["active"]);
    expect(await statuses("revoked")).toEqual(["revoked"]);
    expect(await statuses("all")).toEqual(["revoked", "expired", "active"]);
    const page = { status: "all", limit: 1, offset: 1, childrenOnly: false };
    const { keys, total } = await t.keys.listApiKeys(await t.as(t.owner), page);
    expect([keys.map(({ id }) => id), total]).toEqual([[expired.key?.id], 3]);
    const wrong = t.keys.listApiKeys(await t.as(t.owner), { ...page, status: "dead", limit: -1, offset: -1 });
    await expect(wrong).rejects.toMatchObject({ violations: [{ type: "literal_error" }, {}, {}] });
  });

  test("shows the last use: the first at once, then at most one a minute, never an earlier one", async () => {
    await using t = await openAuth();
    const { key, apiKey } = await t.create(t.owner);
    const lastUsedAtUs = async () => (await t.list(t.owner)).keys.find(({ id }) => id === key?.id)?.lastUsedAtUs;
    expect(await lastUsedAtUs()).toBeUndefined();
    const steps = [
      [10 * dayUs, 10 * dayUs],
      [10 * dayUs + 59_000_000, 10 * dayUs],
      [9 * dayUs, 10 * dayUs],
      [10 * dayUs + 61_000_000, 10 * dayUs + 61_000_000],
    ] as const;
    for (const [usedUs, expectedUs] of steps) {
      t.clock.us = startUs + usedUs;
      await t.verify(apiKey);
      const shownUs = ((await lastUsedAtUs()) ?? 0) - startUs;
      expect(Math.floor(shownUs / 1_000)).toBe(expectedUs / 1_000);
    }
  });
});

describe("the first key", () => {
  test("is made once, while the default tenant has no live owner", async () => {
    await using t = await openAuth();
    expect((await t.verify(t.owner)).role).toBe("owner");
    expect((await t.verify(t.owner)).capabilities).toEqual(["create_scoped_keys"]);
    expect(await t.auth.ensureBootstrapKey({ createWhenMissing: true })).toBeUndefined();
    expect((await t.list(t.owner)).total).toBe(1);
  });

  test("is the given one, however often the process starts, and also beside other owners", async () => {
    await using t = await openAuth();
    const bootstrapKey = createKeyString();
    for (let i = 0; i < 3; i++) {
      expect(await t.auth.ensureBootstrapKey({ bootstrapKey, createWhenMissing: true })).toBeUndefined();
    }
    expect(await t.verify(bootstrapKey)).toMatchObject({ tenantId: "default", role: "owner" });
    expect((await t.list(t.owner)).total).toBe(2);
  });

  test("does not come back once it is revoked", async () => {
    await using t = await openAuth();
    const bootstrapKey = createKeyString();
    await t.auth.ensureBootstrapKey({ bootstrapKey, createWhenMissing: false });
    await t.revoke(t.owner, (await t.verify(bootstrapKey)).keyId);
    await t.auth.ensureBootstrapKey({ bootstrapKey, createWhenMissing: false });
    await expect(t.verify(bootstrapKey)).rejects.toMatchObject(badKey);
  });

  test("is refused by the name of its setting, without its value, when it is malformed or does not match", async () => {
    await using t = await openAuth();
    const bootstrapKey = createKeyString();
    await t.auth.ensureBootstrapKey({ bootstrapKey, createWhenMissing: false });
    for (const wrong of ["secret", "hsk_short", bootstrapKey.slice(0, -1), forgedKey(bootstrapKey)]) {
      const start = t.auth.ensureBootstrapKey({ bootstrapKey: wrong, createWhenMissing: true });
      const error = await start.catch((thrown: Error) => thrown);
      expect(error).toMatchObject({ code: "invalid_argument", message: expect.stringMatching(/^AUTH_BOOTSTRAP_KEY /) });
      expect((error as Error).message).not.toContain(wrong);
    }
  });
});

test("a tenant is made once, with an owner key of its own", async () => {
  await using t = await openAuth();
  const { apiKey } = await t.internal.createTenant(t.context(), { tenantId: "acme", ownerKeyName: "root" });
  const owner = { tenantId: "acme", role: "owner", capabilities: ["create_scoped_keys"] };
  expect(await t.verify(apiKey)).toMatchObject(owner);
  for (const tenantId of ["acme", "default"]) {
    const again = t.internal.createTenant(t.context(), { tenantId, ownerKeyName: "root" });
    await expect(again).rejects.toMatchObject({ code: "already_exists", details: { tenantId } });
  }
});

/** A well-formed key that begins like the given one but has another secret. */
function forgedKey(apiKey: string): string {
  const bytes = Uint8Array.from(apiKey.slice(4, 20), (digit) =>
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".indexOf(digit),
  );
  return createKeyString((count) => Uint8Array.from({ length: count }, (_, i) => bytes[i] ?? i));
}
