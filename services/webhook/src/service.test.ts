import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import { createInProcessBus, type DomainEvent, type EventBus } from "@memory-bank/events";
import { createVirtualTime, type VirtualTime } from "@memory-bank/lifecycle";
import { WebhookInternalServiceService, WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import { createInProcessMesh, type Rpc, type Service } from "@memory-bank/rpc";
import { silentLogger } from "@memory-bank/telemetry";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAllowList } from "./domain/allow-list.ts";
import type { SendOutcome } from "./domain/attempt-result.ts";
import { createTargetVault } from "./domain/target-vault.ts";
import { createRecordingSender, type RecordingSender } from "./sender/recording-sender.ts";
import { createWebhookService, type WebhookServiceDeps } from "./service.ts";
import { openSqliteWebhookStore } from "./store/sqlite/webhook-store.ts";
import type { WebhookStore } from "./webhook-store.ts";

const both = ["retain.completed", "consolidation.completed"];
const postConfig = { method: "POST", timeoutSeconds: 30, headers: {}, params: {} };

describe("webhooks", () => {
  test("a webhook is registered with its bank, listed, edited and deleted", async () => {
    const t = await setUp();
    const made = await t.create({ secret: "s", eventTypes: ["a", "a", "b"] });
    expect(made).toMatchObject({
      bankId: "b1",
      url: "https://hooks.test/x",
      secret: "s",
      eventTypes: ["a", "b"],
      enabled: true,
      httpConfig: postConfig,
    });
    expect(t.banks.has("b1")).toBe(true);
    expect((await t.rpc.listWebhooks(t.ctx, { bankId: "b1" })).webhooks).toEqual([made]);
    const edited = await t.update(made.id, { enabled: false, eventTypes: { values: [] } });
    expect(edited).toMatchObject({ id: made.id, enabled: false, eventTypes: [], secret: "s", createdAtUs: made.createdAtUs });
    expect(edited.updatedAtUs).toBeGreaterThanOrEqual(made.updatedAtUs);
    await t.rpc.deleteWebhook(t.ctx, { bankId: "b1", webhookId: made.id });
    expect((await t.rpc.listWebhooks(t.ctx, { bankId: "b1" })).webhooks).toEqual([]);
    await expect(t.deliveries(made.id)).rejects.toMatchObject({ code: "not_found", message: "Webhook not found" });
  });

  test("an empty bank lists nothing, and reading does not make one", async () => {
    const t = await setUp();
    expect(await t.rpc.listWebhooks(t.ctx, { bankId: "b1" })).toEqual({ webhooks: [] });
    await expect(t.update("no uuid", { enabled: true })).rejects.toMatchObject({
      code: "not_found",
      message: "Webhook not found",
    });
    await expect(t.deliveries(randomUUID())).rejects.toMatchObject({ code: "not_found" });
    expect(t.banks.size).toBe(0);
  });

  test("keys of other tenants and of other banks see and touch nothing", async () => {
    const t = await setUp();
    const { id } = await t.create();
    const foreign: CallContext = { ...t.ctx, principal: { ...t.ctx.principal!, tenantId: "other" } };
    expect(await t.rpc.listWebhooks(foreign, { bankId: "b1" })).toEqual({ webhooks: [] });
    await expect(t.rpc.deleteWebhook(foreign, { bankId: "b1", webhookId: id })).rejects.toMatchObject({ code: "not_found" });
    const restricted: CallContext = { ...t.ctx, principal: { ...t.ctx.principal!, allowedBankIds: ["b2"] } };
    await expect(t.rpc.listWebhooks(restricted, { bankId: "b1" })).rejects.toMatchObject({ code: "permission_denied" });
    await expect(t.rpc.testWebhook(restricted, { bankId: "b1", webhookId: id })).rejects.toMatchObject({
      code: "permission_denied",
    });
    const { principal: _, ...anonymous } = t.ctx;
    await expect(t.rpc.listWebhooks(anonymous, { bankId: "b1" })).rejects.toMatchObject({ code: "unauthenticated" });
    await t.create({ bankId: "b2" });
    await expect(t.rpc.deleteWebhook(t.ctx, { bankId: "b2", webhookId: id })).rejects.toMatchObject({ code: "not_found" });
  });

  test.each([
    [{ url: "http://127.0.0.1/" }, "WEBHOOK_URL_REFUSED"],
    [{ url: "ftp://hooks.test/" }, "WEBHOOK_URL_REFUSED"],
    [{ secret: "whsec_!" }, "VALUE_ERROR"],
    [{ httpConfig: { ...postConfig, headers: { Host: "x" } } }, "HTTP_CONFIG_REFUSED"],
    [{ httpConfig: { ...postConfig, timeoutSeconds: 301 } }, "HTTP_CONFIG_REFUSED"],
    [{ eventTypes: ["x".repeat(256)] }, "EVENT_TYPES_REFUSED"],
  ])("%j is refused, at registration before a bank is made, and at an edit", async (parts, reason) => {
    const t = await setUp();
    await expect(t.create(parts)).rejects.toMatchObject({ code: "invalid_argument", reason });
    expect(t.banks.size).toBe(0);
    const made = await t.create();
    const { eventTypes, ...others } = parts as { eventTypes?: string[] };
    await expect(
      t.update(made.id, { ...others, ...(eventTypes ? { eventTypes: { values: eventTypes } } : {}) }),
    ).rejects.toMatchObject({ reason });
    expect((await t.rpc.listWebhooks(t.ctx, { bankId: "b1" })).webhooks).toEqual([made]);
  });

  test("an edit without members changes nothing, not even its date", async () => {
    const t = await setUp();
    const made = await t.create();
    expect(await t.update(made.id, {})).toEqual(made);
    await expect(t.update(crypto.randomUUID(), {})).rejects.toMatchObject({ code: "not_found" });
  });

  test("no file of the database holds a secret, a url or a header", async () => {
    const folder = await mkdtemp(join(tmpdir(), "webhook-files-"));
    const t = await setUp({ store: await openSqliteWebhookStore({ file: join(folder, "webhook.sqlite") }) });
    const httpConfig = { ...postConfig, headers: { authorization: "b3arer" }, params: { key: "par4m" } };
    const { id } = await t.create({ url: "https://hooks.test/t0ken", secret: "s3cret", httpConfig });
    await t.update(id, { secret: "an0ther" });
    await t.publish(retained({ items: [item("visible")] }));
    await t.time.until(() => t.sender.requests.length === 1);
    const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "latin1")));
    const words = ["visible", "t0ken", "s3cret", "an0ther", "b3arer", "par4m"];
    expect(words.filter((word) => files.some((content) => content.includes(word)))).toEqual(["visible"]);
    await rm(folder, { recursive: true });
  });
});

describe("events", () => {
  test("one retain.completed goes out per item, with what the contract says and nothing more", async () => {
    const t = await setUp();
    const { id } = await t.create({ secret: "s" });
    const event = retained(
      { items: [item("doc-1", 3, ["a", "b"]), item(null, 5), item("doc-2", 0)] },
      { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` },
    );
    await t.publish(event);
    await t.time.until(async () => (await t.deliveries(id)).every(({ status }) => status === "completed"));
    const bodies = t.sender.requests.map(({ body }) => JSON.parse(new TextDecoder().decode(body!)));
    const head = {
      event: "retain.completed",
      bank_id: "b1",
      operation_id: "op-1",
      status: "completed",
      timestamp: "2026-03-04T12:00:00.000000Z",
    };
    expect(bodies).toHaveLength(3);
    expect(bodies).toEqual(
      expect.arrayContaining([
        { ...head, data: { document_id: "doc-1", memory_unit_count: 3, tags: ["a", "b"] } },
        { ...head, data: {} },
        { ...head, data: { document_id: "doc-2", memory_unit_count: 0 } },
      ]),
    );
    for (const { headers } of t.sender.requests) {
      expect(headers["x-hindsight-event"]).toBe("retain.completed");
      expect(headers["traceparent"]).toMatch(new RegExp(`^00-${"a".repeat(32)}-`));
    }
    expect(new Set(t.sender.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
  });

  test("consolidation.completed tells the counts, and the error of a failed run", async () => {
    const t = await setUp();
    await t.create();
    await t.publish(consolidated({ status: "completed", error: null }));
    await t.publish(consolidated({ status: "failed", error: "model is away" }));
    await t.time.until(() => t.sender.requests.length === 2);
    const counts = { observations_created: 2, observations_updated: 1, observations_deleted: 0 };
    const bodies = t.sender.requests.map(({ body }) => JSON.parse(new TextDecoder().decode(body!)));
    expect(bodies.map(({ status, data }) => ({ status, data }))).toEqual([
      { status: "completed", data: counts },
      { status: "failed", data: { ...counts, error_message: "model is away" } },
    ]);
  });

  test("an event that is heard again is sent once, and without an operation it keeps one made-up id", async () => {
    const t = await setUp();
    const { id } = await t.create();
    const event = retained({ operationId: null, items: [item("d"), item("e")] });
    await t.publish(event);
    await t.publish(event);
    await t.time.until(() => t.sender.requests.length === 2);
    await t.publish(event);
    await t.time.advance(10_000);
    expect(t.sender.requests).toHaveLength(2);
    expect(await t.deliveries(id)).toHaveLength(2);
    const operations = t.sender.requests.map(({ body }) => JSON.parse(new TextDecoder().decode(body!)).operation_id);
    expect(new Set(operations).size).toBe(1);
    expect(operations[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("only webhooks that are enabled when an event is queued receive it, and what waits is held until they are again", async () => {
    const t = await setUp();
    const { id } = await t.create();
    t.sender.answer = () => answer(500);
    await t.publish(retained({ items: [item("first")] }));
    await t.time.until(() => t.sender.requests.length === 1);
    await t.update(id, { enabled: false });
    await t.publish(retained({ items: [item("second")] }));
    await t.time.advance(60_000);
    expect(await t.deliveries(id)).toMatchObject([{ status: "pending", attempts: 1 }]);
    expect((await t.deliveries(id))[0]!.nextRetryAtUs).toBeUndefined();
    expect(t.sender.requests).toHaveLength(1);
    t.sender.answer = () => answer(200);
    await t.update(id, { enabled: true });
    await t.time.until(async () => (await t.deliveries(id))[0]!.status === "completed");
    expect(t.sender.requests).toHaveLength(2);
  });

  test("an edit affects later events only", async () => {
    const t = await setUp();
    const { id } = await t.create({ secret: "old" });
    t.sender.answer = () => answer(t.sender.requests.length === 1 ? 500 : 200);
    await t.publish(retained({ items: [item("d")] }));
    await t.time.until(() => t.sender.requests.length === 1);
    await t.update(id, { url: "https://new.test/", secret: "new", httpConfig: { ...postConfig, timeoutSeconds: 5 } });
    await t.time.until(() => t.sender.requests.length === 2);
    expect(t.sender.requests[1]).toMatchObject({ url: "https://hooks.test/x", timeoutMs: 30_000 });
    expect(t.sender.requests[1]!.headers["x-hindsight-signature"]).toBe(t.sender.requests[0]!.headers["x-hindsight-signature"]);
    await t.publish(retained({ items: [item("e")] }));
    await t.time.until(() => t.sender.requests.length === 3);
    expect(t.sender.requests[2]).toMatchObject({ url: "https://new.test/", timeoutMs: 5_000 });
    expect(t.sender.requests[2]!.headers["webhook-signature"]!.split(" ")).toHaveLength(2);
    await t.time.advance(25 * 3_600_000);
    await t.publish(retained({ items: [item("f")] }));
    await t.time.until(() => t.sender.requests.length === 4);
    expect(t.sender.requests[3]!.headers["webhook-signature"]!.split(" ")).toHaveLength(1);
  });

  test("the operator's webhook hears of every bank, and no bank sees its deliveries", async () => {
    const t = await setUp({ serverWebhook: { url: "https://operator.test/", secret: "s", eventTypes: both } });
    await t.publish(retained({ items: [item("d")] }));
    await t.time.until(() => t.sender.requests.length === 1);
    expect(t.sender.requests[0]!.url).toBe("https://operator.test/");
    await t.create();
    await expect(t.deliveries("server")).rejects.toMatchObject({ code: "not_found" });
  });

  test("an operator's webhook that may not be called stops the start", async () => {
    await expect(setUp({ serverWebhook: { url: "http://10.0.0.1/", secret: null, eventTypes: both } })).rejects.toMatchObject({
      reason: "WEBHOOK_URL_REFUSED",
    });
  });
});

describe("sending again", () => {
  test("one delivery is sent again with the same id and bytes, to where the webhook points now", async () => {
    const t = await setUp();
    const { id } = await t.create({ secret: "s" });
    await t.publish(retained({ items: [item("d")] }));
    await t.time.until(() => t.sender.requests.length === 1);
    await t.update(id, { url: "https://new.test/" });
    const [delivery] = await t.deliveries(id);
    const request = { bankId: "b1", webhookId: id, deliveryId: delivery!.id };
    expect(await t.rpc.redeliverDelivery(t.ctx, request)).toEqual({ queued: 1 });
    await t.time.until(() => t.sender.requests.length === 2);
    expect(t.sender.requests[1]!.url).toBe("https://new.test/");
    expect(t.sender.requests[1]!.headers["webhook-id"]).toBe(delivery!.id);
    expect(t.sender.requests[1]!.body).toEqual(t.sender.requests[0]!.body);
    await expect(t.rpc.redeliverDelivery(t.ctx, { ...request, deliveryId: "x" })).rejects.toMatchObject({ code: "not_found" });
  });

  test("all that failed since an instant are sent again", async () => {
    const t = await setUp();
    const { id } = await t.create();
    t.sender.answer = () => ({ kind: "refused", reason: "no" });
    await t.publish(retained({ items: [item("a"), item("b"), item("c")] }));
    await t.time.until(async () => (await t.deliveries(id)).every(({ status }) => status === "failed"));
    const [newest, middle] = await t.deliveries(id);
    t.sender.answer = () => answer(200);
    expect(await t.rpc.redeliverFailed(t.ctx, { bankId: "b1", webhookId: id, sinceUs: middle!.createdAtUs })).toEqual({
      queued: 2,
    });
    await t.time.until(async () => (await t.deliveries(id))[0]!.status === "completed");
    await t.time.advance(10_000);
    expect((await t.deliveries(id)).map(({ status }) => status)).toEqual(["completed", "completed", "failed"]);
    expect((await t.deliveries(id))[0]!.id).toBe(newest!.id);
  });

  test("a test event reaches an enabled webhook whatever it listens to, each time anew", async () => {
    const t = await setUp();
    const { id } = await t.create({ eventTypes: [] });
    for (const count of [1, 2]) {
      expect(await t.rpc.testWebhook(t.ctx, { bankId: "b1", webhookId: id })).toEqual({ queued: 1 });
      await t.time.until(() => t.sender.requests.length === count);
    }
    expect(JSON.parse(new TextDecoder().decode(t.sender.requests[0]!.body!))).toMatchObject({
      event: "webhook.test",
      bank_id: "b1",
      data: { webhook_id: id },
    });
    await t.update(id, { enabled: false });
    expect(await t.rpc.testWebhook(t.ctx, { bankId: "b1", webhookId: id })).toEqual({ queued: 0 });
  });
});

describe("dead banks and restarts", () => {
  test("a fenced bank is gone at once, and a purge leaves nothing", async () => {
    const t = await setUp();
    const { id } = await t.create();
    t.sender.answer = () => answer(500);
    await t.publish(retained({ items: [item("d")] }));
    await t.time.until(() => t.sender.requests.length === 1);
    const bankUid = t.banks.get("b1")!;
    expect(await t.internal.fence(t.ctx, { bankUid })).toEqual({ hiddenCount: 1 });
    expect(await t.rpc.listWebhooks(t.ctx, { bankId: "b1" })).toEqual({ webhooks: [] });
    await expect(t.create()).rejects.toMatchObject({ code: "not_found" });
    await expect(t.deliveries(id)).rejects.toMatchObject({ code: "not_found" });
    await t.publish(retained({ items: [item("e")] }));
    await t.time.advance(60_000);
    expect(t.sender.requests).toHaveLength(1);
    while (!(await t.internal.purge(t.ctx, { bankUid })).done);
    expect(await t.store.targetsNotUnder("no key")).toEqual([]);
  });

  test("the key can be changed between two starts, and old secrets move over to the new one", async () => {
    const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const t = await setUp({ vault: createTargetVault({ current: oldKey }) });
    await t.create({ secret: "s" });
    await t.service.stop();
    const vault = createTargetVault({ current: newKey, previous: [oldKey] });
    const second = await setUp({ vault, store: t.store, banks: t.banks });
    await second.time.advance(1_000);
    expect(await second.store.targetsNotUnder(vault.keyId)).toEqual([]);
    await second.service.stop();
    const third = await setUp({ vault: createTargetVault({ current: newKey }), store: t.store, banks: t.banks });
    expect((await third.rpc.listWebhooks(third.ctx, { bankId: "b1" })).webhooks).toMatchObject([{ secret: "s" }]);
  });

  test("deliveries that ended are forgotten after the configured time", async () => {
    const t = await setUp({ deliveryRetentionDays: 1 });
    const { id } = await t.create();
    await t.publish(retained({ items: [item("d")] }));
    await t.time.until(async () => (await t.deliveries(id))[0]?.status === "completed");
    await t.time.advance(23 * 3_600_000);
    expect(await t.deliveries(id)).toHaveLength(1);
    await t.time.advance(2 * 3_600_000);
    expect(await t.deliveries(id)).toEqual([]);
  });

  test("what receivers answer can be kept out of the records", async () => {
    const t = await setUp({ keepsResponseBodies: false });
    const { id } = await t.create();
    await t.publish(retained({ items: [item("d")] }));
    await t.time.until(async () => (await t.deliveries(id))[0]?.status === "completed");
    expect((await t.deliveries(id))[0]).toMatchObject({ lastResponseStatus: 200 });
    expect((await t.deliveries(id))[0]!.lastResponseBody).toBeUndefined();
  });
});

const answer = (status: number): SendOutcome => ({ kind: "answered", status, body: "body", retryAfter: null });
const item = (documentId: string | null, unitCount = 1, tags: string[] = []) => ({ documentId, unitCount, tags });
const commonHead = { tenant: "t1", bankId: "b1", commitSeq: 7, operationId: "op-1" };

function event(subject: string, payload: object, parts: Partial<DomainEvent> = {}): DomainEvent {
  return { id: randomUUID(), subject, payload, occurredAtUs: Date.UTC(2026, 2, 4, 12) * 1_000, ...parts };
}
const retained = (payload: object, parts: Partial<DomainEvent> = {}) =>
  event("memory.retained.v1", { ...commonHead, ...payload }, parts);
const consolidated = (payload: object) =>
  event("consolidation.completed.v1", {
    ...commonHead,
    observationsCreated: 2,
    observationsUpdated: 1,
    observationsDeleted: 0,
    tagSets: [],
    ...payload,
  });

type WebhookRpc = Rpc<typeof WebhookServiceService>;

interface Setup {
  readonly time: VirtualTime;
  readonly store: WebhookStore;
  readonly sender: RecordingSender;
  readonly service: Service;
  readonly rpc: WebhookRpc;
  readonly internal: Rpc<typeof WebhookInternalServiceService>;
  readonly ctx: CallContext;
  /** Bank ids of the tenant `t1` and their incarnations. */
  readonly banks: Map<string, string>;
  create(parts?: object): ReturnType<WebhookRpc["createWebhook"]>;
  update(webhookId: string, parts: object): ReturnType<WebhookRpc["updateWebhook"]>;
  deliveries(webhookId: string): Promise<Awaited<ReturnType<WebhookRpc["listDeliveries"]>>["deliveries"]>;
  /** Publishes an event of the bank `b1` and waits until it is queued. */
  publish(event: DomainEvent): Promise<void>;
}

/** The service on virtual time, joined to its callers as in one process, over a real store and without a network. */
async function setUp(options: Partial<WebhookServiceDeps> & { banks?: Map<string, string> } = {}): Promise<Setup> {
  const time = createVirtualTime();
  const banks = options.banks ?? new Map<string, string>();
  const store = options.store ?? (await openSqliteWebhookStore({ file: ":memory:" }));
  const sender = createRecordingSender();
  sender.answer = () => answer(200);
  const bus: EventBus = createInProcessBus({ log: silentLogger, timers: time.timers });
  const service = createWebhookService({
    store,
    sender,
    bank: {
      async resolveBank(_, { tenantId, bankId, create }) {
        if (tenantId !== "t1") return { tenantId, config: undefined };
        if (!banks.has(bankId) && create) banks.set(bankId, randomUUID());
        const bankUid = banks.get(bankId);
        return { tenantId, config: undefined, ...(bankUid === undefined ? {} : { bank: { bankId, bankUid } as never }) };
      },
    },
    bus,
    vault: createTargetVault({ current: new Uint8Array(32).fill(7) }),
    allowList: createAllowList([]),
    deliveryRetentionDays: 30,
    keepsResponseBodies: true,
    serverWebhook: null,
    log: silentLogger,
    nowUs: time.now,
    newId: randomUUID,
    monotonicMs: time.monotonicMs,
    timers: time.timers,
    random: () => 0.5,
    ...options,
  });
  await service.start();
  onTestFinished(async () => {
    const stopped = service.stop();
    await time.advance(10_000);
    await stopped;
    await bus[Symbol.asyncDispose]();
  });
  const mesh = createInProcessMesh({ log: silentLogger });
  mesh.bind(service);
  const rpc = mesh.client(WebhookServiceService);
  const ctx: CallContext = {
    principal: { tenantId: "t1", keyId: "k", role: "owner", capabilities: [], allowedBankIds: null },
    requestId: "r",
    transport: "http",
    deadlineMs: Date.now() + 60_000,
    signal: new AbortController().signal,
  };
  return {
    time,
    store,
    sender,
    service,
    rpc,
    internal: mesh.client(WebhookInternalServiceService),
    ctx,
    banks,
    create: (parts = {}) =>
      rpc.createWebhook(ctx, {
        bankId: "b1",
        url: "https://hooks.test/x",
        eventTypes: both,
        enabled: true,
        httpConfig: postConfig,
        ...parts,
      }),
    update: (webhookId, parts) => rpc.updateWebhook(ctx, { bankId: "b1", webhookId, clearSecret: false, ...parts }),
    deliveries: async (webhookId) => (await rpc.listDeliveries(ctx, { bankId: "b1", webhookId, limit: 100 })).deliveries,
    async publish(given) {
      const payload = { ...(given.payload as object), bankUid: banks.get("b1") ?? randomUUID() };
      let isDone = false;
      const published = bus.publish([{ ...given, payload }]).then(() => {
        isDone = true;
      });
      await time.until(() => isDone);
      await published;
    },
  };
}

test("a store that fails makes the service not ready", async () => {
  const t = await setUp({
    store: new Proxy(await openSqliteWebhookStore({ file: ":memory:" }), {
      get: (store, name: keyof WebhookStore) =>
        name === "ping" ? () => Promise.reject(new AppError("unavailable", "CLOSED", "closed")) : store[name],
    }),
  });
  await expect(t.service.ready()).rejects.toMatchObject({ code: "unavailable" });
});
