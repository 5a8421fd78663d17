import { AppError } from "@memory-bank/errors";
import { createVirtualTime } from "@memory-bank/lifecycle";
import { IdempotentOutcome } from "@memory-bank/proto/bank/v1/bank";
import { silentLogger } from "@memory-bank/telemetry";
import { Type } from "typebox";
import { expect, test, vi } from "vitest";
import { route } from "../route.ts";
import { asOwner, restrictedKey, testGateway } from "../test-gateway.ts";
import { model, optional } from "../validation/containers.ts";
import { pathId, str } from "../validation/scalars.ts";
import { type IdempotencyDeps, registerIdempotency } from "./idempotency.ts";
import { createAnswerSeal } from "./idempotency-seal.ts";

const url = "/v1/default/banks/one/things";

interface StoredRequest {
  readonly requestHash: string;
  readonly holder: string;
  answer?: Buffer | undefined;
}

/** What bank does, without time. */
function fakeBank() {
  const stored = new Map<string, StoredRequest>();
  const failures = { begin: undefined as AppError | undefined, finish: undefined as AppError | undefined };
  let begun = 0;
  const bank: IdempotencyDeps["bank"] = {
    async beginIdempotent(_ctx, { tenantId, keyHash, requestHash, holder }) {
      begun++;
      if (failures.begin) throw failures.begin;
      const key = `${tenantId} ${keyHash}`;
      const found = stored.get(key);
      const tell = (outcome: IdempotentOutcome, answer: Buffer = Buffer.alloc(0)) => ({ outcome, answer });
      if (found && found.requestHash !== requestHash) return tell(IdempotentOutcome.OTHER_REQUEST);
      if (found?.answer) return tell(IdempotentOutcome.REPLAY, found.answer);
      if (found && found.holder !== holder) return tell(IdempotentOutcome.RUNNING);
      stored.set(key, { requestHash, holder });
      return tell(IdempotentOutcome.CLAIMED);
    },
    async finishIdempotent(_ctx, { tenantId, keyHash, answer }) {
      if (failures.finish) throw failures.finish;
      const key = `${tenantId} ${keyHash}`;
      if (answer) stored.get(key)!.answer = answer;
      else stored.delete(key);
      return {};
    },
  };
  return { bank, stored, failures, begun: () => begun };
}

interface Parts {
  readonly operationId?: string;
  readonly handler?: (call: number) => Promise<object>;
  readonly fake?: ReturnType<typeof fakeBank>;
}

async function opened({ operationId = "createDirective", handler, fake = fakeBank() }: Parts = {}) {
  const time = createVirtualTime();
  let calls = 0;
  const gateway = await testGateway((app) => {
    const { timers, now: nowUs } = time;
    registerIdempotency(app, { bank: fake.bank, log: silentLogger, nowUs, newId: () => crypto.randomUUID(), timers });
    route(app, {
      method: "POST",
      url: "/v1/default/banks/{bank_id}/things",
      operationId,
      summary: "Do",
      tag: "things",
      params: { bank_id: pathId() },
      body: model({ name: optional(str()) }),
      status: 201,
      response: Type.Object({}, { additionalProperties: true }),
      handler: async () => {
        calls++;
        return handler ? handler(calls) : { call: calls, api_key: "hsk_shown_once" };
      },
    });
  });
  const post = (key: string | undefined, payload: object | string = { name: "n" }, headers: object = asOwner, path = url) =>
    gateway.app.inject({
      method: "POST",
      url: path,
      headers: { ...headers, ...(key !== undefined && { "idempotency-key": key }) },
      payload,
    });
  return { gateway, post, fake, time, calls: () => calls };
}

test("a repeated request is carried out once, and its answer comes again, status and body", async () => {
  const { gateway, post, calls } = await opened();
  await using _ = gateway;
  const [first, second] = [await post("k"), await post("k")];
  expect([first.statusCode, second.statusCode, calls()]).toEqual([201, 201, 1]);
  expect(second.body).toBe(first.body);
  expect(second.headers["content-type"]).toBe(first.headers["content-type"]);
  expect([first.headers["idempotent-replayed"], second.headers["idempotent-replayed"]]).toEqual([undefined, "true"]);
});

test("it comes again from another gateway, too", async () => {
  const one = await opened();
  await using _ = one.gateway;
  const first = await one.post("k");
  const two = await opened({ fake: one.fake });
  await using __ = two.gateway;
  expect([(await two.post("k")).body, two.calls()]).toEqual([first.body, 0]);
});

test("another body under the key is a conflict", async () => {
  const { gateway, post, calls } = await opened();
  await using _ = gateway;
  await post("k");
  const other = await post("k", { name: "m" });
  expect([other.statusCode, other.json(), calls()]).toEqual([
    409,
    { detail: "This Idempotency-Key was used for another request" },
    1,
  ]);
});

test("a second one while the first is under way is a conflict", async () => {
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  const { gateway, post, calls } = await opened({ handler: () => held.then(() => ({ done: true })) });
  await using _ = gateway;
  const first = post("k");
  await vi.waitFor(() => expect(calls()).toBe(1));
  expect([(await post("k")).statusCode, calls()]).toEqual([409, 1]);
  release();
  expect((await first).statusCode).toBe(201);
  expect((await post("k")).json()).toEqual({ done: true });
});

test("without a key, and with other keys, callers or paths, every request is carried out", async () => {
  const { gateway, post, calls } = await opened();
  await using _ = gateway;
  await post(undefined);
  await post(undefined);
  await post("k");
  await post("other");
  await post("k", { name: "n" }, { authorization: `Bearer ${restrictedKey}` });
  await post("k", { name: "n" }, asOwner, "/v1/default/banks/two/things");
  expect(calls()).toBe(6);
});

test("a call that failed may be repeated under its key", async () => {
  const failure = new AppError("unavailable", "DOWN", "down");
  const { gateway, post, calls } = await opened({ handler: async (call) => (call === 1 ? Promise.reject(failure) : { call }) });
  await using _ = gateway;
  expect((await post("k")).statusCode).toBe(503);
  expect([(await post("k")).json(), (await post("k")).json(), calls()]).toEqual([{ call: 2 }, { call: 2 }, 2]);
});

test("a request with faults keeps nothing", async () => {
  const { gateway, post, fake } = await opened();
  await using _ = gateway;
  expect((await post("k", { name: 1 })).statusCode).toBe(422);
  expect((await post("k", "{")).statusCode).toBe(422);
  expect(fake.stored.size).toBe(0);
});

test("an operation that creates nothing does not look at the key", async () => {
  const { gateway, post, fake, calls } = await opened({ operationId: "recallMemories" });
  await using _ = gateway;
  await post("k");
  await post("k");
  expect([calls(), fake.begun()]).toEqual([2, 0]);
});

test.each(["", "a b", "x".repeat(256)])("the key %j is refused", async (key) => {
  const { gateway, post, calls } = await opened();
  await using _ = gateway;
  expect([(await post(key)).statusCode, calls()]).toEqual([400, 0]);
});

test("without bank a request with a key does not begin", async () => {
  const { gateway, post, fake, calls } = await opened();
  await using _ = gateway;
  fake.failures.begin = new AppError("unavailable", "DOWN", "down");
  expect([(await post("k")).statusCode, calls()]).toEqual([503, 0]);
});

test("an answer that cannot be kept is given all the same", async () => {
  const { gateway, post, fake } = await opened();
  await using _ = gateway;
  fake.failures.finish = new AppError("unavailable", "DOWN", "down");
  expect((await post("k")).statusCode).toBe(201);
});

test("a claim is kept up for as long as the request runs, and not after", async () => {
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  const { gateway, post, fake, time, calls } = await opened({ handler: () => held.then(() => ({})) });
  await using _ = gateway;
  const first = post("k");
  await vi.waitFor(() => expect(calls()).toBe(1));
  await time.advance(60_000);
  expect(fake.begun()).toBe(4);
  release();
  await first;
  await time.advance(60_000);
  expect(fake.begun()).toBe(4);
});

test("what is stored does not tell the answer, the key or the request", async () => {
  const { gateway, post, fake } = await opened();
  await using _ = gateway;
  await post("telling-key", { name: "telling-name" });
  const stored = JSON.stringify([...fake.stored].map(([key, value]) => [key, value, value.answer?.toString("latin1")]));
  for (const text of ["telling", "shown_once", "hsk_"]) expect(stored).not.toContain(text);
});

test("an answer opens only under the scope and the secret that it was closed under", () => {
  const seal = (scope: string[], secret: string) => createAnswerSeal({ scope, secret });
  const sealed = seal(["a"], "s").close({ status: 201, body: '{"✓":1}' });
  expect(seal(["a"], "s").open(sealed)).toEqual({ status: 201, body: '{"✓":1}' });
  for (const other of [seal(["b"], "s"), seal(["a"], "t")]) expect(() => other.open(sealed)).toThrow(AppError);
  sealed[sealed.length - 1]! ^= 1;
  expect(() => seal(["a"], "s").open(sealed)).toThrow(AppError);
});
