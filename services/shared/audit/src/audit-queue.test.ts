import { AppError } from "@memory-bank/errors";
import { createVirtualTime } from "@memory-bank/lifecycle";
import type { AuditEntry } from "@memory-bank/proto/bank/v1/bank";
import { silentLogger } from "@memory-bank/telemetry";
import { expect, test } from "vitest";
import { createAuditQueue } from "./audit-queue.ts";

const entryOf = (id: string): AuditEntry => ({
  id,
  action: "retain",
  transport: "http",
  startedAtUs: 0,
  endedAtUs: 0,
  request: undefined,
  response: undefined,
  metadata: {},
  tenantId: "default",
});

/** A queue in virtual time whose bank fails while `failure` is set. */
function opened() {
  const time = createVirtualTime();
  const batches: string[][] = [];
  const bank = { failure: undefined as AppError | undefined, refuses: undefined as string | undefined };
  const queue = createAuditQueue({
    bank: {
      async recordAudit(_ctx, { entries }) {
        const ids = entries.map(({ id }) => id);
        if (bank.failure) throw bank.failure;
        if (bank.refuses && ids.includes(bank.refuses)) throw new AppError("invalid_argument", "INVALID_ENTRY", "bad");
        batches.push(ids);
        return {};
      },
    },
    log: silentLogger,
    nowUs: time.now,
    newId: () => crypto.randomUUID(),
    timers: time.timers,
  });
  return { time, queue, bank, batches };
}

const down = new AppError("unavailable", "DOWN", "down");

test("entries of one moment share a call, within 200 ms", async () => {
  const { time, queue, batches } = opened();
  for (const id of ["a", "b", "c"]) queue.add(entryOf(id), 10);
  expect(batches).toEqual([]);
  await time.advance(200);
  expect(batches).toEqual([["a", "b", "c"]]);
  queue.add(entryOf("d"), 10);
  await time.advance(200);
  expect(batches).toEqual([["a", "b", "c"], ["d"]]);
});

test("a call carries at most 500 entries, and of large ones fewer, in order", async () => {
  const { time, queue, batches } = opened();
  for (let index = 0; index < 501; index++) queue.add(entryOf(String(index)), 10);
  queue.add(entryOf("large 1"), 7_000_000);
  queue.add(entryOf("large 2"), 7_000_000);
  await time.advance(200);
  expect(batches.map((ids) => ids.length)).toEqual([500, 2, 1]);
  expect(batches.flat().slice(-3)).toEqual(["500", "large 1", "large 2"]);
});

test("what bank could not take is sent again, in order, once it can", async () => {
  const { time, queue, bank, batches } = opened();
  bank.failure = down;
  queue.add(entryOf("a"), 10);
  await time.advance(3_000);
  queue.add(entryOf("b"), 10);
  bank.failure = undefined;
  await time.advance(2_000);
  expect(batches.flat()).toEqual(["a", "b"]);
});

test("there is no room while an entry has waited for more than five seconds, and room again afterwards", async () => {
  const { time, queue, bank } = opened();
  bank.failure = down;
  queue.add(entryOf("a"), 10);
  await time.advance(4_900);
  expect(queue.hasRoom()).toBe(true);
  await time.advance(200);
  expect(queue.hasRoom()).toBe(false);
  bank.failure = undefined;
  await time.advance(2_000);
  expect(queue.hasRoom()).toBe(true);
});

test("there is no room for more than 20,000 entries or 64 MiB", () => {
  const many = opened().queue;
  for (let index = 0; index < 20_000; index++) {
    expect(many.hasRoom()).toBe(true);
    many.add(entryOf(String(index)), 10);
  }
  expect(many.hasRoom()).toBe(false);
  const large = opened().queue;
  large.add(entryOf("a"), 64 * 1024 * 1024);
  expect(large.hasRoom()).toBe(false);
});

test("an entry that bank refuses for good does not hold back the others", async () => {
  const { time, queue, bank, batches } = opened();
  bank.refuses = "bad";
  for (const id of ["a", "bad", "b"]) queue.add(entryOf(id), 10);
  await time.advance(200);
  expect(batches).toEqual([["a"], ["b"]]);
  expect(queue.hasRoom()).toBe(true);
});

test("closing sends what waits, also when bank comes back only then", async () => {
  const { time, queue, bank, batches } = opened();
  bank.failure = down;
  queue.add(entryOf("a"), 10);
  const closed = queue[Symbol.asyncDispose]();
  await time.advance(1_000);
  bank.failure = undefined;
  await time.advance(1_000);
  await closed;
  expect(batches).toEqual([["a"]]);
});

test("closing gives up after five seconds", async () => {
  const { time, queue, bank, batches } = opened();
  bank.failure = down;
  queue.add(entryOf("a"), 10);
  const closed = queue[Symbol.asyncDispose]();
  await time.advance(6_000);
  await closed;
  expect(batches).toEqual([]);
});
