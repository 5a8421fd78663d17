import { describe, expect, test } from "vitest";
import type { DomainEvent, EventBus } from "./event-bus.ts";

/** An adapter opened for one test. `until` waits as its own time passes, with a limit. */
export type OpenedEventBus = { bus: EventBus; until: (condition: () => boolean) => Promise<void> } & AsyncDisposable;

/** The contract of `EventBus` that every adapter keeps. */
export function describeEventBus(name: string, open: () => Promise<OpenedEventBus>): void {
  const newSubject = () => `thing.happened-${crypto.randomUUID()}.v1`;
  const newEvent = (subject: string, payload: unknown = {}): DomainEvent => ({
    id: crypto.randomUUID(),
    subject,
    payload,
    occurredAtUs: 1_767_225_600_000_001,
  });
  const later = (work: Promise<unknown>) => ({ isDone: false, work });

  /** Publishes and waits, as time passes, until the bus has taken the events over. */
  async function publish({ bus, until }: OpenedEventBus, events: DomainEvent[]): Promise<void> {
    const call = later(bus.publish(events));
    call.work = call.work.finally(() => {
      call.isDone = true;
    });
    await until(() => call.isDone);
    await call.work;
  }

  describe(`EventBus: ${name}`, () => {
    test("every subscriber of the subject gets the event as it was, and nobody else does", async () => {
      await using t = await open();
      const subject = newSubject();
      const got: Record<string, DomainEvent[]> = { a: [], b: [], own: [], other: [] };
      const into = (who: string) => async (event: DomainEvent) => void got[who]?.push(event);
      await t.bus.subscribe({ subject, durable: "a", handler: into("a") });
      await t.bus.subscribe({ subject, durable: "b", handler: into("b") });
      await t.bus.subscribe({ subject, durable: null, handler: into("own") });
      await t.bus.subscribe({ subject: newSubject(), durable: "a", handler: into("other") });
      const event = {
        ...newEvent(subject, { text: "Grüße \u{1F600}", list: [1, { deep: null }] }),
        traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`,
      };
      await publish(t, [event]);
      await t.until(() => ["a", "b", "own"].every((who) => got[who]?.length === 1));
      expect(got).toEqual({ a: [event], b: [event], own: [event], other: [] });
    });

    test("delivery is later than the publisher's turn, and of a copy", async () => {
      await using t = await open();
      const subject = newSubject();
      const got: DomainEvent[] = [];
      await t.bus.subscribe({ subject, durable: "a", handler: async (event) => void got.push(event) });
      const payload = { n: 1 };
      const published = publish(t, [newEvent(subject, payload)]);
      payload.n = 2;
      expect(got).toEqual([]);
      await published;
      await t.until(() => got.length === 1);
      expect(got[0]?.payload).toEqual({ n: 1 });
    });

    test("events arrive in the order of publishing while none fails", async () => {
      await using t = await open();
      const subject = newSubject();
      const got: unknown[] = [];
      await t.bus.subscribe({ subject, durable: "a", handler: async ({ payload }) => void got.push(payload) });
      await publish(
        t,
        [0, 1, 2].map((n) => newEvent(subject, n)),
      );
      await publish(
        t,
        [3, 4].map((n) => newEvent(subject, n)),
      );
      await t.until(() => got.length === 5);
      expect(got).toEqual([0, 1, 2, 3, 4]);
    });

    test("a failing handler is tried again, without repeats for others and without holding up later events", async () => {
      await using t = await open();
      const subject = newSubject();
      const got: string[] = [];
      await t.bus.subscribe({
        subject,
        durable: "shaky",
        async handler({ payload }, { attempt }) {
          got.push(`shaky ${payload} try ${attempt}`);
          if (payload === "first" && attempt < 3) throw new Error("not now");
        },
      });
      await t.bus.subscribe({ subject, durable: "steady", handler: async ({ payload }) => void got.push(`steady ${payload}`) });
      await publish(t, [newEvent(subject, "first"), newEvent(subject, "second")]);
      await t.until(() => got.length === 6);
      expect(got.filter((line) => line.startsWith("steady"))).toEqual(["steady first", "steady second"]);
      const shaky = got.filter((line) => line.startsWith("shaky"));
      expect(shaky).toEqual(["shaky first try 1", "shaky second try 1", "shaky first try 2", "shaky first try 3"]);
    });

    test("subscribers that share a name share the deliveries", async () => {
      await using t = await open();
      const subject = newSubject();
      const got: unknown[] = [];
      const handler = async ({ payload }: DomainEvent) => void got.push(payload);
      await t.bus.subscribe({ subject, durable: "team", handler });
      await t.bus.subscribe({ subject, durable: "team", handler });
      await publish(
        t,
        Array.from({ length: 20 }, (_, n) => newEvent(subject, n)),
      );
      await t.until(() => got.length >= 20);
      expect(got).toHaveLength(20);
      expect(new Set(got).size).toBe(20);
    });

    test("no more handlers run at once than were asked for", async () => {
      await using t = await open();
      const subject = newSubject();
      const [gate, counts] = [Promise.withResolvers<void>(), { now: 0, most: 0, done: 0 }];
      await t.bus.subscribe({
        subject,
        durable: "a",
        concurrency: 3,
        async handler() {
          counts.now += 1;
          counts.most = Math.max(counts.most, counts.now);
          await gate.promise;
          counts.now -= 1;
          counts.done += 1;
        },
      });
      const published = t.bus.publish(Array.from({ length: 10 }, () => newEvent(subject)));
      await t.until(() => counts.now === 3);
      gate.resolve();
      await published;
      await t.until(() => counts.done === 10);
      expect(counts.most).toBe(3);
    });

    test("an event without subscribers is done", async () => {
      await using t = await open();
      await publish(t, [newEvent(newSubject())]);
    });

    test("after its subscription has ended a handler is not called", async () => {
      await using t = await open();
      const subject = newSubject();
      const got: unknown[] = [];
      const ended = await t.bus.subscribe({ subject, durable: null, handler: async () => void got.push("ended") });
      await t.bus.subscribe({ subject, durable: "a", handler: async () => void got.push("a") });
      await ended[Symbol.asyncDispose]();
      await publish(t, [newEvent(subject)]);
      await t.until(() => got.length === 1);
      expect(got).toEqual(["a"]);
    });

    test("a closed bus is unavailable", async () => {
      await using t = await open();
      await t.bus[Symbol.asyncDispose]();
      const unavailable = { code: "unavailable" };
      await expect(t.bus.publish([newEvent(newSubject())])).rejects.toMatchObject(unavailable);
      await expect(t.bus.subscribe({ subject: "s", durable: null, handler: async () => undefined })).rejects.toMatchObject(
        unavailable,
      );
    });
  });
}
