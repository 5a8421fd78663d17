import { randomUUID } from "node:crypto";
import { createVirtualTime, type VirtualTime } from "@memory-bank/lifecycle";
import { silentLogger } from "@memory-bank/telemetry";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SendOutcome } from "../domain/attempt-result.ts";
import type { Delivery } from "../domain/delivery.ts";
import { retryWaitSeconds } from "../domain/retry-ladder.ts";
import { createScheduleClock } from "../domain/schedule-clock.ts";
import { createTargetVault } from "../domain/target-vault.ts";
import type { Webhook } from "../domain/webhook.ts";
import { createRecordingSender, type RecordingSender } from "../sender/recording-sender.ts";
import { openSqliteWebhookStore } from "../store/sqlite/webhook-store.ts";
import type { WebhookStore } from "../webhook-store.ts";
import { createDispatcher, type Dispatcher, DRAIN_MS_MAX } from "./dispatcher.ts";
import { createLeases, LEASE_MS } from "./leases.ts";

const answer = (status: number, retryAfter: string | null = null): SendOutcome => ({
  kind: "answered",
  status,
  body: "body",
  retryAfter,
});
const vault = createTargetVault({ current: new Uint8Array(32).fill(7) });
const hourMs = 3_600_000;

describe("the retry ladder, under a virtual clock", () => {
  test.each([
    { random: 0, factor: 0.8 },
    { random: 0.5, factor: 1 },
    { random: 0.999_999, factor: 1.2 },
  ])("six failures wait $factor times the contract's waits and then are final", async ({ random, factor }) => {
    const t = await setUp({ random: () => random });
    t.sender.answer = () => answer(500);
    const webhook = await t.addWebhook();
    await t.queue(webhook);
    for (const [index, waitSeconds] of retryWaitSeconds.entries()) {
      await t.time.until(async () => (await t.only(webhook)).attempts === index + 1);
      const delivery = await t.only(webhook);
      expect(delivery).toMatchObject({ status: "pending", lastError: "HTTP 500", lastResponseStatus: 500 });
      const waitUs = delivery.nextRetryAtUs! - delivery.lastAttemptAtUs!;
      expect(waitUs / (waitSeconds * 1_000_000 * factor)).toBeCloseTo(1, 4);
      await t.time.advance((delivery.nextRetryAtUs! - t.time.now()) / 1_000 - 1);
      expect(t.sender.requests).toHaveLength(index + 1);
      await t.time.advance(2);
      expect(t.sender.requests).toHaveLength(index + 2);
    }
    expect(await t.only(webhook)).toMatchObject({ status: "failed", attempts: 6, nextRetryAtUs: null, lastError: "HTTP 500" });
    await t.time.advance(hourMs);
    expect(t.sender.requests).toHaveLength(6);
  });

  test("every attempt carries the same id and the same bytes, and a signature of its own time", async () => {
    const t = await setUp();
    t.sender.answer = () => (t.sender.requests.length < 3 ? answer(503) : answer(204));
    const webhook = await t.addWebhook();
    await t.queue(webhook);
    await t.time.until(async () => (await t.only(webhook)).status === "completed", hourMs);
    const [first, ...others] = t.sender.requests;
    expect(others).toHaveLength(2);
    for (const request of others) {
      expect(request.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
      expect(request.headers["x-hindsight-signature"]).toBe(first!.headers["x-hindsight-signature"]);
      expect(request.headers["webhook-signature"]).not.toBe(first!.headers["webhook-signature"]);
      expect(Buffer.from(request.body!)).toEqual(Buffer.from(first!.body!));
    }
  });

  test("a refused destination is final at once", async () => {
    const t = await setUp();
    t.sender.answer = () => ({ kind: "refused", reason: "Destination refused: the address is private" });
    const webhook = await t.addWebhook();
    await t.queue(webhook);
    await t.time.advance(1_000);
    expect(await t.only(webhook)).toMatchObject({
      status: "failed",
      attempts: 1,
      lastError: "Destination refused: the address is private",
      lastResponseStatus: null,
    });
  });

  test("a receiver can ask for more time, up to an hour", async () => {
    const t = await setUp({ random: () => 0.5 });
    const asked = ["120", "999999"];
    t.sender.answer = () => answer(429, asked[t.sender.requests.length - 1] ?? null);
    const webhook = await t.addWebhook();
    await t.queue(webhook);
    const waitSeconds = async () => ((await t.only(webhook)).nextRetryAtUs! - t.time.now()) / 1_000_000;
    await t.time.until(() => t.sender.requests.length === 1);
    expect(await waitSeconds()).toBeCloseTo(120, 1);
    await t.time.until(() => t.sender.requests.length === 2);
    expect(await waitSeconds()).toBeCloseTo(3_600, 1);
  });

  test("a delivery whose encryption key is missing is retried, not lost", async () => {
    const t = await setUp();
    const foreign = createTargetVault({ current: new Uint8Array(32).fill(8) });
    const webhook = await t.addWebhook({ sealWith: foreign });
    await t.queue(webhook);
    await t.time.advance(1_000);
    expect(await t.only(webhook)).toMatchObject({
      status: "pending",
      attempts: 1,
      lastError: "Encryption key is not configured",
    });
  });
});

describe("clock steps", () => {
  test.each([hourMs, -hourMs])("a wall clock that is set by %d ms neither sends early nor holds back", async (stepMs) => {
    let stepUs = 0;
    const t = await setUp({ random: () => 0.5, wallOffsetUs: () => stepUs });
    t.sender.answer = () => answer(500);
    const webhook = await t.addWebhook();
    await t.queue(webhook);
    await t.time.until(() => t.sender.requests.length === 2);
    stepUs = stepMs * 1_000;
    await t.time.advance(290_000);
    expect(t.sender.requests).toHaveLength(2);
    await t.time.advance(11_000);
    expect(t.sender.requests).toHaveLength(3);
  });

  test("a lease neither ends early nor outlives its owner when the wall clock is set", async () => {
    let stepUs = 0;
    const t = await setUp({ wallOffsetUs: () => stepUs });
    const webhook = await t.addWebhook();
    await t.queue(webhook);
    await t.store.claim({
      owner: "gone",
      nowUs: 0,
      dueUs: Number.MAX_SAFE_INTEGER,
      lanes: [{ webhookId: webhook.id, limit: 1 }],
    });
    const leases = createLeases({
      store: t.store,
      owner: "observer",
      isBusy: () => false,
      scheduleUs: t.scheduleUs,
      monotonicMs: t.time.monotonicMs,
      timers: t.time.timers,
      log: silentLogger,
    });
    leases.start();
    await t.time.advance(10_000);
    stepUs = hourMs * 1_000;
    await t.time.advance(10_000);
    expect(await t.only(webhook)).toMatchObject({ status: "processing" });
    stepUs = -hourMs * 1_000;
    await t.time.advance(LEASE_MS);
    await t.time.until(async () => (await t.only(webhook)).status === "completed");
    await leases.stop();
  });
});

describe("shares", () => {
  test("receivers that stall hold slots of their own, and healthy ones go on at full speed", async () => {
    const t = await setUp();
    const stalled = await Promise.all(Array.from({ length: 200 }, () => t.addWebhook({ url: "http://stalled.test/" })));
    const healthy = await t.addWebhook({ url: "http://healthy.test/" });
    t.sender.answer = (request) => (request.url.includes("stalled") ? new Promise<SendOutcome>(() => {}) : answer(200));
    for (const webhook of stalled) await t.queue(webhook, 3);
    await t.time.advance(10_000);
    const sentToStalled = t.sender.requests.length;
    expect(sentToStalled).toBe(200); // one each: a receiver that has not answered yet is not sent a second one
    await t.queue(healthy, 500);
    // Without the clock moving at all: nothing of this waits for a stalled receiver, a poll or a pause.
    for (let turns = 0; turns < 200 && (await t.all(healthy)).some(({ status }) => status !== "completed"); turns += 1) {
      await t.time.advance(0);
    }
    expect(t.sender.requests.length - sentToStalled).toBe(500);
    expect(new Set((await t.all(healthy)).map(({ status }) => status))).toEqual(new Set(["completed"]));
  });

  test("a receiver earns more at once with each success, up to a bound", async () => {
    const t = await setUp();
    const webhook = await t.addWebhook();
    const held: (() => void)[] = [];
    let most = 0;
    t.sender.answer = () => {
      const { promise, resolve } = Promise.withResolvers<SendOutcome>();
      held.push(() => resolve(answer(200)));
      most = Math.max(most, held.length);
      return promise;
    };
    await t.queue(webhook, 100);
    const widths: number[] = [];
    for (let round = 0; round < 12 && t.sender.requests.length < 100; round += 1) {
      await t.time.advance(0);
      widths.push(held.length);
      for (const release of held.splice(0)) release();
    }
    expect(widths[0]).toBe(1);
    expect(most).toBe(16);
  });

  test("a receiver that keeps failing is called one at a time, with pauses", async () => {
    const t = await setUp();
    const webhook = await t.addWebhook();
    t.sender.answer = () => answer(500);
    await t.queue(webhook, 200);
    for (let elapsedMs = 0; elapsedMs < 4_000; elapsedMs += 50) await t.time.advance(50);
    expect(t.sender.requests.length).toBeGreaterThanOrEqual(8);
    expect(t.sender.requests.length).toBeLessThanOrEqual(12);
    t.sender.answer = () => answer(200);
    await t.time.until(async () => (await t.all(webhook)).every(({ status }) => status === "completed"), hourMs);
  });
});

describe("stopping", () => {
  test("attempts that end in time are recorded, the others are given back uncounted, and nothing new starts", async () => {
    const t = await setUp();
    const [quick, endless] = [
      await t.addWebhook({ url: "http://quick.test/" }),
      await t.addWebhook({ url: "http://endless.test/" }),
    ];
    const release = Promise.withResolvers<SendOutcome>();
    t.sender.answer = ({ url }) => (url.includes("quick") ? release.promise : new Promise<SendOutcome>(() => {}));
    await t.queue(quick, 2);
    await t.queue(endless);
    await t.time.advance(1_000);
    const stopped = t.dispatcher.stop();
    release.resolve(answer(200));
    await t.time.advance(DRAIN_MS_MAX);
    await stopped;
    expect((await t.all(quick)).map(({ status, attempts }) => `${status} ${attempts}`).toSorted()).toEqual([
      "completed 1",
      "pending 0",
    ]);
    expect(await t.only(endless)).toMatchObject({ status: "pending", attempts: 0 });
    await t.time.advance(10_000);
    expect(t.sender.requests).toHaveLength(2);
  });

  test("an outcome that cannot be written is kept until it can, and nothing is sent again meanwhile", async () => {
    let failures = 3;
    const t = await setUp({
      wrap: (store) => ({
        ...store,
        settle: async (claim, settlement) => {
          if (failures-- > 0) throw new Error("disk full");
          return store.settle(claim, settlement);
        },
      }),
    });
    const webhook = await t.addWebhook();
    await t.queue(webhook);
    await t.time.until(async () => (await t.only(webhook)).status === "completed");
    expect(t.sender.requests).toHaveLength(1);
    expect(failures).toBeLessThan(0);
  });
});

interface Setup {
  readonly time: VirtualTime;
  readonly store: WebhookStore;
  readonly sender: RecordingSender;
  readonly dispatcher: Dispatcher;
  readonly scheduleUs: () => number;
  addWebhook(parts?: { url?: string; sealWith?: typeof vault }): Promise<Webhook>;
  queue(webhook: Webhook, count?: number): Promise<void>;
  all(webhook: Webhook): Promise<readonly Delivery[]>;
  only(webhook: Webhook): Promise<Delivery>;
}

/** A dispatcher that runs on virtual time over a real store and a sender without a network. */
async function setUp(
  options: { random?: () => number; wallOffsetUs?: () => number; wrap?: (store: WebhookStore) => WebhookStore } = {},
): Promise<Setup> {
  const time = createVirtualTime();
  const opened = await openSqliteWebhookStore({ file: ":memory:" });
  const store = options.wrap?.(opened) ?? opened;
  const sender = createRecordingSender();
  const nowUs = () => time.now() + (options.wallOffsetUs?.() ?? 0);
  const scheduleUs = createScheduleClock({ nowUs, monotonicMs: time.monotonicMs });
  const dispatcher = createDispatcher({
    store,
    sender,
    vault,
    nowUs,
    scheduleUs,
    newId: randomUUID,
    random: options.random ?? (() => 0.5),
    keepsResponseBodies: true,
    timers: time.timers,
    monotonicMs: time.monotonicMs,
    owner: "me",
    log: silentLogger,
  });
  dispatcher.start();
  onTestFinished(async () => {
    const stopped = dispatcher.stop();
    await time.advance(DRAIN_MS_MAX);
    await stopped;
    await opened[Symbol.asyncDispose]();
  });
  const all = async ({ bankUid, id }: Webhook) =>
    (await store.listDeliveries({ bankUid, webhookId: id, limit: 1_000 })).deliveries;
  return {
    time,
    store,
    sender,
    dispatcher,
    scheduleUs,
    async addWebhook({ url = "http://receiver.test/hook", sealWith = vault } = {}) {
      const target = {
        url,
        secret: "s3cret",
        retiredSecrets: [],
        httpConfig: { method: "POST", timeoutSeconds: 30, headers: {}, params: {} },
      } as const;
      const webhook: Webhook = {
        id: randomUUID(),
        bankUid: randomUUID(),
        bankId: "bank",
        eventTypes: ["e"],
        isEnabled: true,
        target: sealWith.seal(randomUUID(), target),
        createdAtUs: nowUs(),
        updatedAtUs: nowUs(),
      };
      await store.insert(webhook);
      return webhook;
    },
    async queue({ bankUid }, count = 1) {
      const notifications = Array.from({ length: count }, () => ({
        key: randomUUID(),
        bankUid,
        eventType: "e",
        body: new TextEncoder().encode(randomUUID()),
        traceparent: null,
      }));
      const { webhookIds } = await store.enqueue(notifications, { nowUs: nowUs(), dueUs: scheduleUs() });
      dispatcher.nudge(webhookIds);
    },
    all,
    only: async (webhook) => (await all(webhook))[0]!,
  };
}
