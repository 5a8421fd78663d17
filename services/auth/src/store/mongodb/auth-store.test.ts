import type { DomainEvent, EventBus } from "@memory-bank/events";
import { createClock } from "@memory-bank/lifecycle";
import { openMongodb } from "@memory-bank/storage";
import { silentLogger } from "@memory-bank/telemetry";
import { describeWithServer } from "@memory-bank/test-servers/with-server";
import { expect, test } from "vitest";
import { describeAuthStore } from "../../auth-store.conformance.ts";
import { testKey } from "../../domain/test-keys.ts";
import { authMigrations, openMongodbAuthStore } from "./auth-store.ts";
import { keyDocumentOf, keysOf, ownerTurnsOf, tenantsOf } from "./key-documents.ts";

describeWithServer("MongoDB", (url) => {
  async function open() {
    const published: DomainEvent[] = [];
    const bus: EventBus = {
      publish: async (events) => void published.push(...events),
      subscribe: async () => ({ [Symbol.asyncDispose]: async () => {} }),
      [Symbol.asyncDispose]: async () => {},
    };
    const database = `test-${crypto.randomUUID()}`;
    const newId = () => crypto.randomUUID();
    const openStore = () => openMongodbAuthStore({ url: url(), database, bus, log: silentLogger, nowUs: createClock(), newId });
    const store = await openStore();
    const behind = await openMongodb({ url: url(), database, migrations: authMigrations });
    return {
      store,
      behind,
      published,
      reopen: openStore,
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await behind.run((db) => db.dropDatabase());
        await behind[Symbol.asyncDispose]();
      },
    };
  }

  describeAuthStore("MongoDB", open);

  test("the first key of a tenant counts from the moment that the tenant is there, also when its process ended in between", async () => {
    await using t = await open();
    const key = testKey({ tenantId: "t1", role: "owner" });
    const document = keyDocumentOf(key, { lookup: "l1", secretHash: new Uint8Array(32) });
    await t.behind.run((db) => keysOf(db).insertOne({ ...document, isFirstKey: true }));
    expect(await t.store.findByLookup("l1")).toBeUndefined();
    expect(await t.store.find("t1", key.keyId)).toBeUndefined();
    expect(await t.store.hasLiveOwner("t1", 1)).toBe(false);
    await t.behind.run((db) => tenantsOf(db).insertOne({ _id: "t1", createdAtUs: 1, firstKeyId: key.keyId }));
    expect((await t.store.findByLookup("l1"))?.key).toEqual(key);
    expect(await t.store.hasLiveOwner("t1", 1)).toBe(true);
  });

  test("an owner whose revocation has begun is not counted on", async () => {
    await using t = await open();
    const [going, last] = [testKey({ tenantId: "t1", role: "owner" }), testKey({ tenantId: "t1", role: "owner" })];
    for (const [index, key] of [going, last].entries())
      await t.store.insertKey(key, { lookup: `l${index}`, secretHash: new Uint8Array(32) });
    const event = { id: "e1", subject: "key.revoked.v1", payload: { keyIds: [going.keyId] }, occurredAtUs: 5 };
    const ending = { keyId: going.keyId, atUs: 5, event: { id: "e1", seq: 1, text: JSON.stringify(event) } };
    await t.behind.run((db) => ownerTurnsOf(db).insertOne({ _id: "t1", turn: 1, ending }));
    const refused = t.store.revoke({ tenantId: "t1", keyId: last.keyId, atUs: 6, event: { ...event, id: "e2" } });
    await expect(refused).rejects.toMatchObject({ reason: "LAST_OWNER" });
    expect((await t.store.find("t1", going.keyId))?.key.revokedAtUs).toBe(5);
    t.store.startPublishing();
    await expect.poll(() => t.published.map(({ id }) => id)).toEqual(["e1"]);
  });
});
