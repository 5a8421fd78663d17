import { createVirtualTime } from "@memory-bank/lifecycle";
import { createMeter, silentLogger } from "@memory-bank/telemetry";
import { describe, expect, test } from "vitest";
import { describeEventBus } from "./event-bus.conformance.ts";
import { DELIVERY_TIMEOUT_MS, DELIVERY_TRIES_MAX, type DomainEvent } from "./event-bus.ts";
import { createInProcessBus } from "./in-process-bus.ts";

const event = (id = "e1"): DomainEvent => ({ id, subject: "s.v1", payload: {}, occurredAtUs: 1 });

function setUp() {
  const time = createVirtualTime();
  const meter = createMeter();
  const bus = createInProcessBus({ log: silentLogger, timers: time.timers, meter });
  return { bus, meter, ...time, [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose]() };
}

describeEventBus("in process", async () => setUp());

describe("in-process bus", () => {
  test("publish resolves only when every subscriber is done", async () => {
    await using t = setUp();
    const gate = Promise.withResolvers<void>();
    await t.bus.subscribe({ subject: "s.v1", durable: "quick", handler: async () => undefined });
    await t.bus.subscribe({ subject: "s.v1", durable: "slow", handler: () => gate.promise });
    let isDone = false;
    const published = t.bus.publish([event()]).then(() => {
      isDone = true;
    });
    await t.advance(1_000);
    expect(isDone).toBe(false);
    gate.resolve();
    await published;
  });

  test("a subscriber that never succeeds gets its tries, then publish says who gave up and why", async () => {
    await using t = setUp();
    const tries: number[] = [];
    await t.bus.subscribe({
      subject: "s.v1",
      durable: "broken",
      async handler() {
        tries.push(t.monotonicMs());
        throw new Error("no such table");
      },
    });
    await t.bus.subscribe({ subject: "s.v1", durable: "fine", handler: async () => undefined });
    const published = t.bus.publish([event()]).catch((error: unknown) => error);
    await t.until(() => tries.length === DELIVERY_TRIES_MAX);
    expect(await published).toMatchObject({
      code: "internal",
      reason: "EVENT_DEAD",
      details: { failures: [{ eventId: "e1", durable: "broken", reason: "no such table" }] },
    });
    const pauses = tries.slice(1).map((at, index) => at - tries[index]!);
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 20_000]);
    expect(await t.meter.render()).toContain('event_deliveries_total{subject="s.v1",durable="broken",outcome="dead"} 1');
  });

  test("a handler that does not answer in time is told to stop and tried again", async () => {
    await using t = setUp();
    const signals: AbortSignal[] = [];
    await t.bus.subscribe({
      subject: "s.v1",
      durable: "a",
      async handler(_event, { attempt, signal }) {
        signals.push(signal);
        if (attempt === 1) await new Promise(() => undefined);
      },
    });
    const published = t.bus.publish([event()]);
    await t.advance(DELIVERY_TIMEOUT_MS + 1_000);
    await published;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test("closing aborts handlers and hands what is not done back to its publisher", async () => {
    const t = setUp();
    await t.bus.subscribe({
      subject: "s.v1",
      durable: "a",
      handler: (_event, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    const published = [t.bus.publish([event("e1")]), t.bus.publish([event("e2")])];
    await t.advance(0);
    const outcomes = Promise.allSettled(published);
    await t.bus[Symbol.asyncDispose]();
    const closed = { status: "rejected", reason: { code: "unavailable", reason: "BUS_CLOSED" } };
    expect(await outcomes).toMatchObject([closed, closed]);
  });

  test("what waits in memory is bounded", async () => {
    await using t = setUp();
    await t.bus.subscribe({ subject: "s.v1", durable: "a", handler: async () => undefined });
    const published = t.bus.publish(Array.from({ length: 10_000 }, (_, n) => event(`e${n}`)));
    await expect(t.bus.publish([event()])).rejects.toMatchObject({ code: "resource_exhausted", reason: "BUS_FULL" });
    await published;
    await t.bus.publish([event()]);
  });
});
