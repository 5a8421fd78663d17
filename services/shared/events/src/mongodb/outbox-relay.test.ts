import { AppError } from "@memory-bank/errors";
import { createClock } from "@memory-bank/lifecycle";
import { type MongodbMigration, openMongodb } from "@memory-bank/storage";
import { createMeter, silentLogger } from "@memory-bank/telemetry";
import { describeWithServer } from "@memory-bank/test-servers/with-server";
import { expect, test } from "vitest";
import type { DomainEvent, EventBus } from "../event-bus.ts";
import { mongodbOutboxMigration, outboxOf, pendingEvents, pendingEventsIndex, type TellsEvents } from "./outbox-documents.ts";
import { createMongodbOutboxRelay } from "./outbox-relay.ts";

const things: MongodbMigration = { id: "001-things", collections: { things: [pendingEventsIndex] } };
const event = (id: string): DomainEvent => ({ id, subject: "s.v1", payload: { id }, occurredAtUs: 1 });

describeWithServer("MongoDB", (url) => {
  /** A process with its relay. `take` stands for the bus's side of a publish. */
  async function setUp(parts: { database?: string; take?: (id: string) => void; skewUs?: number } = {}) {
    const { database: name = `test-${crypto.randomUUID()}`, take = () => undefined, skewUs = 0 } = parts;
    const got: string[] = [];
    const bus: EventBus = {
      async publish(events) {
        for (const { id } of events) {
          take(id);
          got.push(id);
        }
      },
      subscribe: async () => ({ [Symbol.asyncDispose]: async () => undefined }),
      [Symbol.asyncDispose]: async () => undefined,
    };
    const database = await openMongodb({ url: url(), database: name, migrations: [mongodbOutboxMigration, things] });
    const clock = createClock();
    const now = () => clock() + skewUs;
    const meter = createMeter();
    const owner = crypto.randomUUID();
    const relay = createMongodbOutboxRelay({ database, sources: ["things"], bus, log: silentLogger, now, owner, meter });
    const save = (...ids: string[]) =>
      database.run(async (db) => {
        await db.collection<TellsEvents>("things").insertOne({ pendingEvents: await pendingEvents(db, ids.map(event)) });
        relay.nudge();
      });
    const left = () =>
      database.run((db) =>
        outboxOf(db)
          .find({}, { sort: { seq: 1 } })
          .toArray(),
      );
    return {
      ...{ name, database, relay, meter, got, save, left },
      async [Symbol.asyncDispose]() {
        await relay[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  }
  const settled = (read: () => unknown, expected: unknown) =>
    expect.poll(read, { timeout: 15_000, interval: 10 }).toEqual(expected);

  test("events of committed documents are published in order, and kept for a while as published", async () => {
    await using t = await setUp();
    await t.save("a", "b");
    t.relay.start();
    await t.save("c");
    await settled(() => t.got, ["a", "b", "c"]);
    await settled(async () => (await t.left()).map(({ state }) => state), ["published", "published", "published"]);
    expect(await t.database.run((db) => db.collection("things").countDocuments({ "pendingEvents.id": { $exists: true } }))).toBe(
      0,
    );
    expect(await t.meter.render()).toContain('events_relayed_total{subject="s.v1",outcome="done"} 3');
    expect(t.relay.count()).toEqual({ pending: 0, failed: 0 });
  });

  test("after a reconnect what was published lately is published again under its ids", async () => {
    await using t = await setUp();
    t.relay.start();
    await t.save("a", "b");
    await settled(async () => (await t.left()).map(({ state }) => state), ["published", "published"]);
    t.relay.resend();
    await settled(() => t.got, ["a", "b", "a", "b"]);
  });

  test("what a process left behind is published by another one", async () => {
    await using gone = await setUp();
    await gone.save("a");
    await using other = await setUp({ database: gone.name, skewUs: 60_000_000 });
    other.relay.start();
    await settled(() => other.got, ["a"]);
  });

  test("while the bus is away nothing is lost", async () => {
    let isDown = true;
    await using t = await setUp({
      take() {
        if (isDown) throw new AppError("unavailable", "BUS_UNREACHABLE", "down");
      },
    });
    t.relay.start();
    await t.save("a");
    await settled(() => t.relay.count().pending, 1);
    isDown = false;
    await settled(() => t.got, ["a"]);
  });

  test("an event that the bus will never take is kept as failed, others go on, and it can be retried", async () => {
    let isBroken = true;
    await using t = await setUp({
      take(id) {
        if (isBroken && id === "bad") throw new AppError("internal", "EVENT_DEAD", "no", { details: { failures: ["why"] } });
      },
    });
    t.relay.start();
    await t.save("bad", "good");
    await settled(() => t.relay.count(), { pending: 0, failed: 1 });
    expect((await t.left())[0]).toMatchObject({ _id: "bad", state: "failed", failure: expect.stringContaining("why") });
    isBroken = false;
    expect(await t.relay.retryFailed()).toBe(1);
    await settled(() => t.got, ["good", "bad"]);
  });
});
