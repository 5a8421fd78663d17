import { openMongodb } from "@memory-bank/storage";
import { describeWithServer } from "@memory-bank/test-servers/with-server";
import { expect, test } from "vitest";
import { describeWebhookStore } from "../../webhook-store.conformance.ts";
import { webhooksOf } from "./webhook-documents.ts";
import { openMongodbWebhookStore, webhookMigrations } from "./webhook-store.ts";

describeWithServer("MongoDB", (url) => {
  /** With a database of its own: lanes, owners and sweeps go over everything that it holds. */
  async function open() {
    const place = { url: url(), database: `test-${crypto.randomUUID()}` };
    const store = await openMongodbWebhookStore(place);
    const behind = await openMongodb({ ...place, migrations: webhookMigrations });
    return {
      store,
      behind,
      place,
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await behind.run((db) => db.dropDatabase());
        await behind[Symbol.asyncDispose]();
      },
    };
  }

  describeWebhookStore("MongoDB", open);

  test("of two processes that claim at once each delivery goes to one, and what is queued meanwhile is due", async () => {
    await using t = await open();
    await using other = await openMongodbWebhookStore(t.place);
    const id = "w";
    const target = { id: "t", keyId: "key", sealed: new Uint8Array([1]) };
    await t.store.insert({
      id,
      bankUid: "b",
      bankId: "b",
      eventTypes: ["e"],
      isEnabled: true,
      target,
      createdAtUs: 1,
      updatedAtUs: 1,
    });
    const time = { nowUs: 1_000, dueUs: 1_000 };
    const taken: string[] = [];
    const claim = async (store: typeof t.store, owner: string) => {
      const claimed = await store.claim({ owner, nowUs: 1_000, dueUs: 1_000, lanes: [{ webhookId: id, limit: 8 }] });
      taken.push(...claimed.map((one) => one.claim.deliveryId));
    };
    const queue = (key: string) =>
      t.store.enqueue([{ key, bankUid: "b", eventType: "e", body: new Uint8Array([2]), traceparent: null }], time);
    for (let round = 0; round < 15; round += 1) {
      await Promise.all([queue(`a${round}`), claim(t.store, "one"), queue(`b${round}`), claim(other, "two")]);
    }
    while ((await t.store.dueLanes(1_000, null)).length > 0) await claim(t.store, "one");
    expect(taken).toHaveLength(30);
    expect(new Set(taken).size).toBe(30);
  });

  test("a webhook that an ended process left without a due time is found by the sweep", async () => {
    await using t = await open();
    const target = { id: "t", keyId: "key", sealed: new Uint8Array([1]) };
    await t.store.insert({
      id: "w",
      bankUid: "b",
      bankId: "b",
      eventTypes: ["e"],
      isEnabled: true,
      target,
      createdAtUs: 1,
      updatedAtUs: 1,
    });
    const notification = { key: "k", bankUid: "b", eventType: "e", body: new Uint8Array([2]), traceparent: null };
    await t.store.enqueue([notification], { nowUs: 5, dueUs: 5 });
    await t.behind.run((db) => webhooksOf(db).updateOne({ _id: "w" }, { $set: { nextDueUs: null } }));
    expect(await t.store.dueLanes(9, null)).toEqual([]);
    expect(await t.store.sweep(0)).toBe(0);
    expect(await t.store.dueLanes(9, null)).toEqual([{ webhookId: "w", dueUs: 5 }]);
  });
});
