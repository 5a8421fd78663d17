import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@memory-bank/errors";
import { createVirtualTime } from "@memory-bank/lifecycle";
import { openSqlite } from "@memory-bank/storage";
import { createMeter, silentLogger } from "@memory-bank/telemetry";
import { afterAll, expect, test } from "vitest";
import type { DomainEvent, EventBus } from "./event-bus.ts";
import { createInProcessBus } from "./in-process-bus.ts";
import { createOutboxRelay } from "./outbox-relay.ts";
import { appendEvents, outboxMigration } from "./sqlite-outbox.ts";

const folder = mkdtempSync(join(tmpdir(), "outbox-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const event = (id: string): DomainEvent => ({ id, subject: "s.v1", payload: { id }, occurredAtUs: 1 });

/** A process: database, bus and relay. `wrap` puts something between relay and bus. */
function setUp(file = join(folder, `${++files}.sqlite`), wrap: (bus: EventBus) => EventBus = (bus) => bus) {
  const time = createVirtualTime();
  const { timers } = time;
  const log = silentLogger;
  const db = openSqlite({ file, migrations: [outboxMigration] });
  const bus = createInProcessBus({ log, timers });
  const meter = createMeter();
  const relay = createOutboxRelay({ db, bus: wrap(bus), log, timers, meter });
  const got: string[] = [];
  const append = (...ids: string[]) => db.write((tx) => appendEvents(tx, ids.map(event)));
  const subscribe = (handler: (id: string) => Promise<void> | void = () => undefined) =>
    bus.subscribe({
      subject: "s.v1",
      durable: "reader",
      async handler({ id }) {
        got.push(id);
        await handler(id);
      },
    });
  return {
    ...{ file, time, db, bus, relay, meter, got, append, subscribe },
    async [Symbol.asyncDispose]() {
      // Both wait for what runs by timers, which stand still unless somebody moves them.
      await Promise.all([relay[Symbol.asyncDispose](), time.advance(5_000)]);
      await Promise.all([bus[Symbol.asyncDispose](), time.advance(5_000)]);
      await db[Symbol.asyncDispose]();
    },
  };
}

test("events are published in order after their commit, and then forgotten", async () => {
  await using t = setUp();
  await t.subscribe();
  t.relay.start();
  await t.append("a", "b", "c");
  expect(t.got).toEqual([]);
  t.relay.nudge();
  await t.time.advance(0);
  expect(t.got).toEqual(["a", "b", "c"]);
  expect(t.relay.count()).toEqual({ pending: 0, failed: 0 });
  await t.append("without a nudge");
  await t.time.advance(1_000);
  expect(t.got.at(-1)).toBe("without a nudge");
  expect(await t.meter.render()).toContain('events_relayed_total{subject="s.v1",outcome="done"} 4');
});

test("what is rolled back is never published, and an id is taken once", async () => {
  await using t = setUp();
  await t.subscribe();
  t.relay.start();
  const write = t.db.write((tx) => {
    appendEvents(tx, [event("never")]);
    throw new Error("changed my mind");
  });
  await expect(write).rejects.toThrow();
  await t.append("a");
  await expect(t.append("b", "a")).rejects.toMatchObject({ code: "already_exists" });
  await t.time.advance(2_000);
  expect(t.got).toEqual(["a"]);
});

test("what a crash left is published after the next start, with the same ids", async () => {
  const file = join(folder, "crash.sqlite");
  {
    await using before = setUp(file);
    await before.subscribe((id) => (id === "b" ? new Promise<void>(() => undefined) : undefined));
    await before.append("a", "b");
    before.relay.start();
    await before.time.advance(100);
    await before.append("c");
  }
  await using after = setUp(file);
  await after.subscribe();
  after.relay.start();
  await after.time.advance(0);
  expect(after.got).toEqual(["b", "c"]);
});

test("while the bus cannot be reached nothing is lost, and the order is kept afterwards", async () => {
  let isDown = true;
  let calls = 0;
  await using t = setUp(undefined, (bus) => ({
    ...bus,
    async publish(events) {
      calls += 1;
      if (isDown) throw new AppError("unavailable", "BUS_DOWN", "down");
      await bus.publish(events);
    },
  }));
  await t.subscribe();
  await t.append("a", "b");
  t.relay.start();
  await t.time.advance(60_000);
  expect(calls, "pauses grow while it is down").toBeLessThan(30);
  expect(t.relay.count()).toEqual({ pending: 2, failed: 0 });
  isDown = false;
  await t.append("c");
  await t.time.advance(30_000);
  expect(t.got).toEqual(["a", "b", "c"]);
  expect(t.relay.count().pending).toBe(0);
});

test("an event that a subscriber gave up on is kept as failed, others go on, and it can be retried", async () => {
  await using t = setUp();
  let isBroken = true;
  await t.subscribe((id) => {
    if (id === "bad" && isBroken) throw new Error("cannot take it");
  });
  await t.append("bad", "good");
  t.relay.start();
  await t.time.until(() => t.relay.count().failed === 1);
  expect(t.got).toContain("good");
  expect(t.relay.count()).toEqual({ pending: 0, failed: 1 });
  expect(t.db.read((tx) => tx.get("SELECT failure FROM outbox"))?.["failure"]).toContain("cannot take it");
  const triesBefore = t.got.length;
  await t.time.advance(60_000);
  expect(t.got).toHaveLength(triesBefore);
  isBroken = false;
  expect(await t.relay.retryFailed()).toBe(1);
  await t.time.advance(0);
  expect(t.relay.count()).toEqual({ pending: 0, failed: 0 });
});

test("a stuck subscriber does not hold up more than a batch, and everything arrives once it goes on", async () => {
  await using t = setUp();
  const gate = Promise.withResolvers<void>();
  await t.subscribe(() => gate.promise);
  const ids = Array.from({ length: 600 }, (_, n) => `e${n}`);
  await t.append(...ids);
  t.relay.start();
  await t.time.advance(100);
  expect(t.relay.count().pending).toBe(600);
  gate.resolve();
  await t.time.until(() => t.relay.count().pending === 0);
  expect(t.got).toEqual(ids);
});
