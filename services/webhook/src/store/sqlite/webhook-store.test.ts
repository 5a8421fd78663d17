import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeWebhookStore } from "../../webhook-store.conformance.ts";
import { openSqliteWebhookStore } from "./webhook-store.ts";

describeWebhookStore("SQLite", async () => {
  const store = await openSqliteWebhookStore({ file: ":memory:" });
  return { store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
});

test("what a killed process had claimed is pending after the next start, without counting as an attempt", async () => {
  const folder = await mkdtemp(join(tmpdir(), "webhook-store-"));
  const file = join(folder, "webhook.sqlite");
  const [bankUid, id] = [randomUUID(), randomUUID()];
  const time = { nowUs: 1_000, dueUs: 1_000 };
  const claim = { owner: "me", nowUs: 1_000, dueUs: 2_000, lanes: [{ webhookId: id, limit: 5 }] };
  {
    await using store = await openSqliteWebhookStore({ file });
    const target = { id: randomUUID(), keyId: "key", sealed: new Uint8Array([1]) };
    await store.insert({ id, bankUid, bankId: "b", eventTypes: ["e"], isEnabled: true, target, createdAtUs: 1, updatedAtUs: 1 });
    const notification = { key: "k", bankUid, eventType: "e", body: new Uint8Array([2]), traceparent: null };
    await store.enqueue([notification, { ...notification, key: "k2" }], time);
    expect(await store.claim(claim)).toHaveLength(2);
    expect(await store.dueLanes(2_000, null)).toEqual([]);
  }
  {
    await using store = await openSqliteWebhookStore({ file });
    expect(await store.dueLanes(2_000, null)).toEqual([{ webhookId: id, dueUs: 1_000 }]);
    expect(await store.listOwners()).toEqual([]);
    const page = await store.listDeliveries({ bankUid, webhookId: id, limit: 5 });
    expect(page.deliveries).toMatchObject([
      { status: "pending", attempts: 0 },
      { status: "pending", attempts: 0 },
    ]);
    expect(await store.claim(claim)).toHaveLength(2);
  }
  await rm(folder, { recursive: true });
});
