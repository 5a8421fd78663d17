import { createHash, randomBytes } from "node:crypto";
import type { DomainEvent } from "@memory-bank/events";
import { describe, expect, test } from "vitest";
import { type AuthStore, type KeyQuery, lastUseIntervalUs } from "./auth-store.ts";
import type { ApiKey } from "./domain/api-key.ts";
import { testKey } from "./domain/test-keys.ts";

export interface OpenedAuthStore extends AsyncDisposable {
  readonly store: AuthStore;
  /** A second handle on the same data, as another process would have it. */
  reopen(): Promise<AuthStore & AsyncDisposable>;
  /** What the store has published so far. */
  readonly published: readonly DomainEvent[];
}

const nowUs = 1_700_000_000_000_000;
const deadlineMs = 5_000;

/** Every adapter passes this suite unchanged. Tests use fresh ids, so they may share a server. */
export function describeAuthStore(name: string, open: () => Promise<OpenedAuthStore>): void {
  const newTenant = () => `t-${crypto.randomUUID()}`;
  const credential = () => ({ lookup: randomBytes(8).toString("hex"), secretHash: randomBytes(32) });
  const add = async (store: AuthStore, changes: Partial<ApiKey>) => {
    const key = testKey(changes);
    await store.insertKey(key, credential());
    return key;
  };
  const eventOf = (keyId: string): DomainEvent => ({
    id: crypto.randomUUID(),
    subject: "key.revoked.v1",
    payload: { keyIds: [keyId] },
    occurredAtUs: nowUs,
  });
  const revoke = (store: AuthStore, { tenantId, keyId }: ApiKey, atUs = nowUs) =>
    store.revoke({ tenantId, keyId, atUs, event: eventOf(keyId) });
  const list = (store: AuthStore, tenantId: string, changes: Partial<KeyQuery> = {}) =>
    store.list({ tenantId, visibility: { kind: "tenant" }, status: null, nowUs, limit: 100, offset: 0, ...changes });
  const idsOf = async (...query: Parameters<typeof list>) => (await list(...query)).items.map(({ key }) => key.keyId);

  describe(`AuthStore: ${name}`, () => {
    test("a key comes back as it was stored, with the hash of its secret", async () => {
      await using opened = await open();
      const [tenantId, { lookup, secretHash }] = [newTenant(), credential()];
      const key = testKey({
        tenantId,
        name: "Ünïcode 名前 😀 ' \" %",
        role: "admin",
        capabilities: ["create_scoped_keys"],
        allowedBankIds: ["a", "A", "é", "😀", "a'b"],
        metadata: { nested: { list: [1, "two", null, { deep: true }] }, __proto: 1 },
        expiresAtUs: nowUs + 5,
        lastUsedAtUs: nowUs - 5,
      });
      await opened.store.insertKey(key, { lookup, secretHash });
      const found = await opened.store.findByLookup(lookup);
      expect(found && { ...found, secretHash: Buffer.from(found.secretHash) }).toEqual({ key, parent: null, secretHash });
      expect(await opened.store.find(tenantId, key.keyId)).toEqual({ key, parent: null });
    });

    test("a key is not found under another tenant, another id or another look-up part", async () => {
      await using opened = await open();
      const { lookup, secretHash } = { ...credential(), lookup: `Ab${randomBytes(8).toString("hex")}` };
      const key = testKey({ tenantId: newTenant() });
      await opened.store.insertKey(key, { lookup, secretHash });
      expect(await opened.store.find(newTenant(), key.keyId)).toBeUndefined();
      expect(await opened.store.find(key.tenantId, crypto.randomUUID())).toBeUndefined();
      expect(await opened.store.find(key.tenantId.toUpperCase(), key.keyId)).toBeUndefined();
      expect(await opened.store.findByLookup(lookup.toLowerCase())).toBeUndefined();
      expect(await opened.store.findByLookup("")).toBeUndefined();
    });

    test("an id or look-up part that is taken is refused and the first key is kept", async () => {
      await using opened = await open();
      const { lookup, secretHash } = credential();
      const first = testKey({ tenantId: newTenant(), name: "first" });
      await opened.store.insertKey(first, { lookup, secretHash });
      const sameLookup = opened.store.insertKey(testKey({ name: "second" }), { lookup, secretHash: randomBytes(32) });
      await expect(sameLookup).rejects.toMatchObject({ code: "already_exists" });
      await expect(opened.store.insertKey({ ...first, name: "third" }, credential())).rejects.toMatchObject({
        code: "already_exists",
      });
      expect((await opened.store.findByLookup(lookup))?.key).toEqual(first);
    });

    test("a tenant is added once, together with its first key or not at all", async () => {
      await using opened = await open();
      const [tenantId, own] = [newTenant(), credential()];
      const ownerKey = testKey({ tenantId, role: "owner" });
      await opened.store.insertTenant({ tenantId, createdAtUs: nowUs }, ownerKey, own);
      const again = testKey({ tenantId, role: "owner" });
      const refused = opened.store.insertTenant({ tenantId, createdAtUs: nowUs }, again, credential());
      await expect(refused).rejects.toMatchObject({ code: "already_exists", reason: "TENANT_EXISTS" });
      expect(await idsOf(opened.store, tenantId)).toEqual([ownerKey.keyId]);

      const other = newTenant();
      const clash = opened.store.insertTenant({ tenantId: other, createdAtUs: nowUs }, testKey({ tenantId: other }), own);
      await expect(clash).rejects.toMatchObject({ code: "already_exists" });
      await opened.store.insertTenant({ tenantId: other, createdAtUs: nowUs }, testKey({ tenantId: other }), credential());
    });

    test("a tenant that was ensured exists, however often", async () => {
      await using opened = await open();
      const tenantId = newTenant();
      await opened.store.ensureTenant({ tenantId, createdAtUs: nowUs });
      await opened.store.ensureTenant({ tenantId, createdAtUs: nowUs + 1 });
      const taken = opened.store.insertTenant({ tenantId, createdAtUs: nowUs }, testKey({ tenantId }), credential());
      await expect(taken).rejects.toMatchObject({ code: "already_exists" });
    });

    test("a child is found with the life of its parent", async () => {
      await using opened = await open();
      const parent = await add(opened.store, { tenantId: newTenant(), expiresAtUs: nowUs + 9 });
      const child = await add(opened.store, { tenantId: parent.tenantId, parentKeyId: parent.keyId });
      const expected = { keyId: parent.keyId, expiresAtUs: nowUs + 9, revokedAtUs: null };
      expect((await opened.store.find(child.tenantId, child.keyId))?.parent).toEqual(expected);
      await revoke(opened.store, parent);
      expect((await opened.store.find(child.tenantId, child.keyId))?.parent).toEqual({ ...expected, revokedAtUs: nowUs });
    });

    test("lists are newest first, ties by descending id, in pages with the true total", async () => {
      await using opened = await open();
      const tenantId = newTenant();
      const keys: ApiKey[] = [];
      for (let i = 0; i < 7; i++) keys.push(await add(opened.store, { tenantId, createdAtUs: nowUs + Math.floor(i / 2) }));
      await add(opened.store, { tenantId: newTenant() });
      const byAge = (a: ApiKey, b: ApiKey) => b.createdAtUs - a.createdAtUs || (a.keyId < b.keyId ? 1 : -1);
      const expected = keys.toSorted(byAge).map(({ keyId }) => keyId);
      expect(await idsOf(opened.store, tenantId)).toEqual(expected);
      expect(await idsOf(opened.store, tenantId, { limit: 3, offset: 2 })).toEqual(expected.slice(2, 5));
      expect(await list(opened.store, tenantId, { limit: 0 })).toEqual({ items: [], total: 7 });
      expect(await list(opened.store, tenantId, { offset: 7 })).toEqual({ items: [], total: 7 });
    });

    test("lists keep to what the caller may see", async () => {
      await using opened = await open();
      const tenantId = newTenant();
      const parent = await add(opened.store, { tenantId, createdAtUs: nowUs + 1 });
      const child = await add(opened.store, { tenantId, parentKeyId: parent.keyId, createdAtUs: nowUs + 2 });
      const other = await add(opened.store, { tenantId, createdAtUs: nowUs + 3 });
      const otherChild = await add(opened.store, { tenantId, parentKeyId: other.keyId, createdAtUs: nowUs + 4 });
      const seen = (visibility: KeyQuery["visibility"]) => idsOf(opened.store, tenantId, { visibility });
      const { keyId } = parent;
      expect(await seen({ kind: "tenant_children" })).toEqual([otherChild.keyId, child.keyId]);
      expect(await seen({ kind: "self_and_children", keyId })).toEqual([child.keyId, keyId]);
      expect(await seen({ kind: "children", keyId })).toEqual([child.keyId]);
      expect(await idsOf(opened.store, newTenant(), { visibility: { kind: "self_and_children", keyId } })).toEqual([]);
    });

    test("lists keep one status, as key and parent have it", async () => {
      await using opened = await open();
      const tenantId = newTenant();
      const active = await add(opened.store, { tenantId, createdAtUs: nowUs + 1, expiresAtUs: nowUs + 1 });
      const expired = await add(opened.store, { tenantId, createdAtUs: nowUs + 2, expiresAtUs: nowUs });
      const revoked = await add(opened.store, { tenantId, createdAtUs: nowUs + 3, expiresAtUs: nowUs });
      const child = (parent: ApiKey, createdAtUs: number) =>
        add(opened.store, { tenantId, parentKeyId: parent.keyId, createdAtUs });
      const ofActive = await child(active, nowUs + 4);
      const ofExpired = await child(expired, nowUs + 5);
      const ofRevoked = await child(revoked, nowUs + 6);
      await revoke(opened.store, revoked);
      const having = (status: KeyQuery["status"]) => idsOf(opened.store, tenantId, { status });
      expect(await having("active")).toEqual([ofActive.keyId, active.keyId]);
      expect(await having("expired")).toEqual([ofExpired.keyId, expired.keyId]);
      expect(await having("revoked")).toEqual([ofRevoked.keyId, revoked.keyId]);
      expect((await list(opened.store, tenantId, { status: "active" })).total).toBe(2);
    });

    test("a revocation ends a key and its children, names those that were active, and is seen at once everywhere", async () => {
      await using opened = await open();
      await using elsewhere = await opened.reopen();
      const tenantId = newTenant();
      const parent = await add(opened.store, { tenantId });
      const child = (changes: Partial<ApiKey>) => add(opened.store, { tenantId, parentKeyId: parent.keyId, ...changes });
      const [first, expired, ended] = [await child({}), await child({ expiresAtUs: nowUs }), await child({})];
      await revoke(opened.store, ended, nowUs - 1);
      expect(await revoke(opened.store, parent)).toEqual([parent.keyId, first.keyId]);
      for (const store of [opened.store, elsewhere]) {
        expect(await idsOf(store, tenantId, { status: "active" })).toEqual([]);
        expect(await store.find(tenantId, first.keyId)).toMatchObject({ parent: { revokedAtUs: nowUs } });
        expect(await store.find(tenantId, expired.keyId)).toMatchObject({ parent: { revokedAtUs: nowUs } });
      }
    });

    test("a revocation happens once: unknown, foreign and revoked keys are not found, children of revoked keys neither", async () => {
      await using opened = await open();
      const key = await add(opened.store, { tenantId: newTenant() });
      const child = await add(opened.store, { tenantId: key.tenantId, parentKeyId: key.keyId });
      const notFound = { code: "not_found", reason: "API_KEY_NOT_FOUND", message: "API key not found" };
      await expect(revoke(opened.store, { ...key, keyId: crypto.randomUUID() })).rejects.toMatchObject(notFound);
      await expect(revoke(opened.store, { ...key, tenantId: newTenant() })).rejects.toMatchObject(notFound);
      const outcomes = await Promise.allSettled([revoke(opened.store, key), revoke(opened.store, key)]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      await expect(revoke(opened.store, key, nowUs + 9)).rejects.toMatchObject(notFound);
      await expect(revoke(opened.store, child)).rejects.toMatchObject(notFound);
      expect((await opened.store.find(key.tenantId, key.keyId))?.key.revokedAtUs).toBe(nowUs);
    });

    test("an expired key can be revoked", async () => {
      await using opened = await open();
      const key = await add(opened.store, { tenantId: newTenant(), expiresAtUs: nowUs - 1 });
      expect(await revoke(opened.store, key)).toEqual([key.keyId]);
    });

    test("the last live owner stays, also when all owners are revoked at once from two handles", async () => {
      await using opened = await open();
      await using elsewhere = await opened.reopen();
      const tenantId = newTenant();
      const owners = [];
      for (let i = 0; i < 6; i++) owners.push(await add(opened.store, { tenantId, role: "owner" }));
      await add(opened.store, { tenantId, role: "owner", expiresAtUs: nowUs }); // expired: does not count
      await add(opened.store, { tenantId, role: "admin" });
      await add(opened.store, { tenantId: newTenant(), role: "owner" });
      const outcomes = await Promise.allSettled(owners.map((key, i) => revoke(i % 2 ? opened.store : elsewhere, key)));
      const refusals = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refusals.map(({ reason }) => [reason.code, reason.reason])).toEqual([["failed_precondition", "LAST_OWNER"]]);
      expect(await opened.store.hasLiveOwner(tenantId, nowUs)).toBe(true);
    });

    test("a live owner is neither revoked nor expired, and of the same tenant", async () => {
      await using opened = await open();
      const tenantId = newTenant();
      await add(opened.store, { tenantId, role: "admin" });
      expect(await opened.store.hasLiveOwner(tenantId, nowUs)).toBe(false);
      await add(opened.store, { tenantId, role: "owner", expiresAtUs: nowUs + 1 });
      expect(await opened.store.hasLiveOwner(tenantId, nowUs)).toBe(true);
      expect(await opened.store.hasLiveOwner(tenantId, nowUs + 1)).toBe(false);
      await add(opened.store, { tenantId, role: "owner", revokedAtUs: nowUs });
      expect(await opened.store.hasLiveOwner(tenantId, nowUs + 1)).toBe(false);
      expect(await opened.store.hasLiveOwner(newTenant(), nowUs)).toBe(false);
    });

    test("the event of a revocation is published, also when it was saved before publishing started; that of a refused one is not", async () => {
      await using opened = await open();
      const tenantId = newTenant();
      const before = await add(opened.store, { tenantId });
      const owner = await add(opened.store, { tenantId, role: "owner" });
      await revoke(opened.store, before);
      await expect(revoke(opened.store, owner)).rejects.toMatchObject({ reason: "LAST_OWNER" });
      opened.store.startPublishing();
      const after = await add(opened.store, { tenantId });
      await revoke(opened.store, after);
      const published = () => opened.published.flatMap(({ payload }) => (payload as { keyIds: string[] }).keyIds);
      await expect.poll(published, { timeout: deadlineMs }).toEqual(expect.arrayContaining([before.keyId, after.keyId]));
      expect(published()).not.toContain(owner.keyId);
      expect(published().indexOf(before.keyId)).toBeLessThan(published().indexOf(after.keyId));
    });

    test("a secret's hash is replaced only while it is the expected one", async () => {
      await using opened = await open();
      const { lookup, secretHash } = credential();
      const [key, newer, newest] = [testKey({ tenantId: newTenant() }), sha256("newer"), sha256("newest")];
      await opened.store.insertKey(key, { lookup, secretHash });
      await opened.store.replaceSecretHash(key.keyId, secretHash, newer);
      await opened.store.replaceSecretHash(key.keyId, secretHash, newest);
      expect(Buffer.from((await opened.store.findByLookup(lookup))?.secretHash ?? [])).toEqual(newer);
    });

    test("last uses: the first always, then once per interval, never backwards", async () => {
      await using opened = await open();
      const key = await add(opened.store, { tenantId: newTenant() });
      const bystander = await add(opened.store, { tenantId: key.tenantId });
      const lastUsedAtUs = async () => (await opened.store.find(key.tenantId, key.keyId))?.key.lastUsedAtUs;
      const steps = [
        [nowUs, nowUs],
        [nowUs + lastUseIntervalUs - 1, nowUs],
        [nowUs - lastUseIntervalUs * 2, nowUs],
        [nowUs + lastUseIntervalUs, nowUs + lastUseIntervalUs],
      ] as const;
      for (const [atUs, expected] of steps) {
        await opened.store.recordUses([
          { keyId: crypto.randomUUID(), atUs },
          { keyId: key.keyId, atUs },
        ]);
        expect(await lastUsedAtUs()).toBe(expected);
      }
      expect((await opened.store.find(bystander.tenantId, bystander.keyId))?.key.lastUsedAtUs).toBeNull();
    });

    test("after close everything is unavailable", async () => {
      const opened = await open();
      await opened.store.ping();
      await opened[Symbol.asyncDispose]();
      await expect(opened.store.ping()).rejects.toMatchObject({ code: "unavailable" });
      await expect(opened.store.findByLookup("x")).rejects.toMatchObject({ code: "unavailable" });
      await expect(opened.store.insertKey(testKey(), credential())).rejects.toMatchObject({ code: "unavailable" });
    });
  });
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();
