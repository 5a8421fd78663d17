import { createMeter, silentLogger } from "@memory-bank/telemetry";
import { startProxy } from "@memory-bank/test-servers/tcp-proxy";
import { describeWithServer } from "@memory-bank/test-servers/with-server";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { describeEventBus } from "../event-bus.conformance.ts";
import { DELIVERY_TRIES_MAX, type DomainEvent } from "../event-bus.ts";
import { deadLetterHeaders } from "./dead-letters.ts";
import { type NatsBusOptions, openNatsBus } from "./nats-bus.ts";

const UNTIL_LIMIT_MS = 20_000;

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(condition, { timeout: UNTIL_LIMIT_MS, interval: 5 }).toBe(true);
}

const newPrefix = () => `TEST_${crypto.randomUUID().replaceAll("-", "")}`;
const event = (id: string, payload: unknown = {}): DomainEvent => ({ id, subject: "s.v1", payload, occurredAtUs: 1 });

describeWithServer("NATS", (url) => {
  /** A bus with streams of its own, and a look behind it. */
  async function open(parts: Partial<NatsBusOptions> = {}) {
    const streamPrefix = parts.streamPrefix ?? newPrefix();
    const bus = await openNatsBus({ url: url(), name: "test", streamPrefix, log: silentLogger, ...parts });
    const connection = await connect({ servers: url() });
    const jsm = await jetstreamManager(connection);
    return {
      bus,
      streamPrefix,
      connection,
      jsm,
      until,
      async [Symbol.asyncDispose]() {
        await bus[Symbol.asyncDispose]();
        for (const stream of [streamPrefix, `${streamPrefix}_DEAD`]) await jsm.streams.delete(stream);
        await connection.close();
      },
    };
  }

  describeEventBus("NATS", () => open());

  describe("NATS bus", () => {
    test("a named subscriber gets what it missed while it was down", async () => {
      await using t = await open();
      const got: string[] = [];
      const subscription = { subject: "s.v1", durable: "reader", handler: async ({ id }: DomainEvent) => void got.push(id) };
      const first = await t.bus.subscribe(subscription);
      await t.bus.publish([event("a")]);
      await until(() => got.length === 1);
      await first[Symbol.asyncDispose]();
      await t.bus.publish([event("b")]);
      await t.bus.subscribe(subscription);
      await until(() => got.length === 2);
      expect(got).toEqual(["a", "b"]);
    });

    test("an event that is published again under its id is delivered once", async () => {
      await using t = await open();
      const got: string[] = [];
      await t.bus.subscribe({ subject: "s.v1", durable: "reader", handler: async ({ id }) => void got.push(id) });
      for (let time = 0; time < 3; time += 1) await t.bus.publish([event("same")]);
      await t.bus.publish([event("last")]);
      await until(() => got.includes("last"));
      expect(got).toEqual(["same", "last"]);
      expect((await t.jsm.streams.info(t.streamPrefix)).state.messages).toBe(2);
    });

    test("what a process did not finish goes to another one, at once when it closes", async () => {
      await using t = await open();
      const other = await openNatsBus({ url: url(), name: "other", streamPrefix: t.streamPrefix, log: silentLogger });
      const got: string[] = [];
      const stuck = Promise.withResolvers<void>();
      await other.subscribe({
        subject: "s.v1",
        durable: "team",
        handler: (_event, { signal }) =>
          new Promise((_, reject) => {
            stuck.resolve();
            signal.addEventListener("abort", () => reject(signal.reason));
          }),
      });
      await t.bus.publish([event("a")]);
      await stuck.promise;
      await t.bus.subscribe({
        subject: "s.v1",
        durable: "team",
        handler: async ({ id }, { attempt }) => void got.push(`${id} try ${attempt}`),
      });
      await other[Symbol.asyncDispose]();
      await until(() => got.length === 1);
      expect(got).toEqual(["a try 2"]);
    });

    test("a message that is no event becomes a dead letter with the reason, and later ones go on", async () => {
      await using t = await open();
      const meter = createMeter();
      const counting = await openNatsBus({
        url: url(),
        name: "counting",
        streamPrefix: t.streamPrefix,
        log: silentLogger,
        meter,
      });
      const got: string[] = [];
      await counting.subscribe({ subject: "s.v1", durable: "reader", handler: async ({ id }) => void got.push(id) });
      const js = jetstream(t.connection);
      for (const body of ["{not json", "null", '{"id":1}']) await js.publish(`${t.streamPrefix}.event.s.v1`, body);
      await t.bus.publish([event("fine")]);
      await until(() => got.length === 1);
      await until(async () => (await t.jsm.streams.info(`${t.streamPrefix}_DEAD`)).state.messages === 3);
      const letter = await t.jsm.streams.getMessage(`${t.streamPrefix}_DEAD`, { seq: 1 });
      expect(letter?.string()).toBe("{not json");
      expect(letter?.header.get(deadLetterHeaders.durable)).toBe("reader");
      expect(letter?.header.get(deadLetterHeaders.reason)).toBe("the message is not an event");
      expect(await meter.render()).toContain('event_deliveries_total{subject="s.v1",durable="reader",outcome="dead"} 3');
      await counting[Symbol.asyncDispose]();
    });

    test("a subscriber that never succeeds gets its tries, then the event is a dead letter and is not delivered again", async () => {
      await using t = await open({ pauseMsAfterTry: () => 1 });
      const tries: number[] = [];
      await t.bus.subscribe({
        subject: "s.v1",
        durable: "broken",
        async handler(_event, { attempt }) {
          tries.push(attempt);
          throw new Error("no such table");
        },
      });
      await t.bus.publish([event("bad")]);
      await until(() => tries.length === DELIVERY_TRIES_MAX);
      await until(async () => (await t.jsm.streams.info(`${t.streamPrefix}_DEAD`)).state.messages === 1);
      const letter = await t.jsm.streams.getMessage(`${t.streamPrefix}_DEAD`, { seq: 1 });
      expect(letter?.header.get(deadLetterHeaders.reason)).toBe("no such table");
      expect(letter?.header.get(deadLetterHeaders.tries)).toBe(String(DELIVERY_TRIES_MAX));
      const [consumer] = await t.jsm.consumers.list(t.streamPrefix).next();
      expect(consumer).toMatchObject({ num_ack_pending: 0, num_pending: 0 });
    });

    test("while the server is away publishing is unavailable; after it is back nothing that was published is missing", async () => {
      await using proxy = await startProxy(url());
      await using t = await open({ url: proxy.url });
      const got: string[] = [];
      const handler = async ({ id }: DomainEvent) => void got.push(id);
      await t.bus.subscribe({ subject: "s.v1", durable: "reader", handler });
      await t.bus.subscribe({ subject: "s.v1", durable: null, handler: async ({ id }) => void got.push(`own ${id}`) });
      let reconnects = 0;
      t.bus.onReconnect(() => {
        reconnects += 1;
      });
      await t.bus.publish([event("before")]);
      await proxy.shut();
      await until(() => !t.bus.isConnected());
      await expect(t.bus.publish([event("during")])).rejects.toMatchObject({ code: "unavailable", reason: "BUS_UNREACHABLE" });
      const js = jetstream(t.connection);
      await js.publish(`${t.streamPrefix}.event.s.v1`, JSON.stringify(event("from elsewhere")));
      await proxy.reopen();
      await until(() => t.bus.isConnected() && reconnects === 1);
      await t.bus.publish([event("during")]);
      const everything = ["before", "during", "from elsewhere", "own before", "own during", "own from elsewhere"];
      await until(() => new Set(got).size === everything.length);
      expect([...new Set(got)].toSorted()).toEqual(everything);
    });

    test("an event that the server will never take is dead for its publisher", async () => {
      await using t = await open();
      const published = t.bus.publish([event("large", "x".repeat(2 * 1024 * 1024))]);
      await expect(published).rejects.toMatchObject({ code: "internal", reason: "EVENT_DEAD" });
    });
  });
});
