import { AppError } from "@memory-bank/errors";
import type { DomainEvent, Subscription } from "@memory-bank/events";
import type { VerifyKeyResponse } from "@memory-bank/proto/auth/v1/auth";
import { describe, expect, test } from "vitest";
import { createKeyVerifier, type KeyVerifierDeps } from "./key-verifier.ts";

const keyText = (name: string) => `hsk_${name.padEnd(54, "0")}`;
const badKey = { code: "unauthenticated", message: "Authentication failed: Invalid API key" };
const secondUs = 1_000_000;

/** A verifier over an auth that answers when the test says so, at a time that the test sets. */
async function openVerifier(options: { start?: boolean } = {}) {
  const clock = { us: 1_700_000_000_000_000 };
  const asked: { readonly name: string; readonly reply: (response?: Partial<VerifyKeyResponse> | Error) => void }[] = [];
  const subscriptions: Subscription[] = [];
  const auth: KeyVerifierDeps["auth"] = {
    verifyKey: (_ctx, { apiKey }) => {
      const { promise, resolve, reject } = Promise.withResolvers<VerifyKeyResponse>();
      const name = apiKey.slice(4).replace(/0+$/, "");
      const plain = { tenantId: "acme", keyId: name, lineageKeyIds: [name], role: "member", capabilities: [] };
      asked.push({
        name,
        reply: (response = {}) => (response instanceof Error ? reject(response) : resolve({ ...plain, ...response })),
      });
      return promise;
    },
  };
  const bus: KeyVerifierDeps["bus"] = {
    subscribe: async (subscription) => {
      subscriptions.push(subscription);
      return { [Symbol.asyncDispose]: async () => void subscriptions.splice(subscriptions.indexOf(subscription), 1) };
    },
  };
  const verifier = createKeyVerifier({ auth, bus, nowUs: () => clock.us, newId: () => "id" });
  if (options.start ?? true) await verifier.start();

  let repliedUpTo = 0;
  /** Verifies a key while auth answers whatever it is asked with `response`. */
  const verify = async (name: string, response: Partial<VerifyKeyResponse> | Error = {}) => {
    const outcome = verifier.verify(keyText(name));
    outcome.catch(() => {}); // looked at below
    await turn();
    for (const { reply } of asked.slice(repliedUpTo)) reply(response); // once more for some of the test's own does nothing
    repliedUpTo = asked.length;
    return outcome;
  };
  const tell = (keyIds: string[]) => {
    const event: DomainEvent = {
      id: crypto.randomUUID(),
      subject: "key.revoked.v1",
      payload: { keyIds },
      occurredAtUs: clock.us,
    };
    return Promise.all(subscriptions.map(({ handler }) => handler(event, { attempt: 1, signal: new AbortController().signal })));
  };
  return { verifier, clock, asked, verify, calls: () => asked.length, tell, subscriptions };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("what is remembered", () => {
  test("an answer serves the following requests for a second from when it was asked for", async () => {
    const t = await openVerifier();
    const principal = { tenantId: "acme", keyId: "k", role: "member", capabilities: [], allowedBankIds: null };
    expect(await t.verify("k")).toEqual(principal);
    t.clock.us += secondUs - 1;
    expect(await t.verify("k")).toEqual(principal);
    expect(t.calls()).toBe(1);
    t.clock.us += 1;
    await t.verify("k");
    expect(t.calls()).toBe(2);
  });

  test("a slow answer has used up part of its second when it comes", async () => {
    const t = await openVerifier();
    const slow = t.verifier.verify(keyText("k"));
    await turn();
    t.clock.us += secondUs;
    t.asked[0]?.reply();
    await slow;
    const before = t.calls();
    await t.verify("k");
    expect(t.calls()).toBe(before + 1);
  });

  test("expiry is looked at in every request", async () => {
    const t = await openVerifier();
    const expiresAtUs = t.clock.us + 10;
    await t.verify("k", { expiresAtUs });
    t.clock.us = expiresAtUs - 1;
    await t.verify("k");
    t.clock.us = expiresAtUs;
    await expect(t.verify("k")).rejects.toMatchObject(badKey);
    expect(t.calls()).toBe(1);
  });

  test("bad keys are not remembered: the next request asks again", async () => {
    const t = await openVerifier();
    const refusal = new AppError("unauthenticated", "KEY_REFUSED", "Authentication failed: Invalid API key");
    await expect(t.verify("k", refusal)).rejects.toMatchObject(badKey);
    expect((await t.verify("k")).keyId).toBe("k");
  });

  test("nothing before it listens for revocations, and nothing after it stopped", async () => {
    const t = await openVerifier({ start: false });
    await t.verify("k");
    await t.verify("k");
    expect(t.calls()).toBe(2);
    await t.verifier.start();
    await t.verify("k");
    await t.verify("k");
    expect(t.calls()).toBe(3);
    await t.verifier[Symbol.asyncDispose]();
    expect(t.subscriptions).toEqual([]);
    await t.verify("k");
    expect(t.calls()).toBe(4);
  });

  test("the most recently used ten thousand keys", async () => {
    const t = await openVerifier();
    await t.verify("used");
    for (let i = 1; i < 10_000; i++) await t.verify(`k${i}x`);
    await t.verify("used");
    await t.verify("onemore");
    expect(t.calls()).toBe(10_001);
    await t.verify("used");
    expect(t.calls()).toBe(10_001);
    await t.verify("k1x");
    expect(t.calls()).toBe(10_002);
  });

  test("two keys are never taken for each other, and the banks of a key come with it", async () => {
    const t = await openVerifier();
    expect((await t.verify("a", { allowedBankIds: { values: ["x"] } })).allowedBankIds).toEqual(["x"]);
    expect((await t.verify("A", { allowedBankIds: { values: [] } })).allowedBankIds).toEqual([]);
    expect((await t.verify("a")).allowedBankIds).toEqual(["x"]);
  });
});

describe("what is asked", () => {
  test("requests with one key at one time share one question", async () => {
    const t = await openVerifier();
    const requests = Array.from({ length: 50 }, () => t.verifier.verify(keyText("k")));
    await turn();
    expect(t.asked).toHaveLength(1);
    t.asked[0]?.reply();
    expect((await Promise.all(requests)).map(({ keyId }) => keyId)).toEqual(Array(50).fill("k"));
  });

  test("a question older than a second is not joined any more", async () => {
    const t = await openVerifier();
    const first = t.verifier.verify(keyText("k"));
    t.clock.us += secondUs;
    const second = t.verifier.verify(keyText("k"));
    await turn();
    expect(t.asked).toHaveLength(2);
    for (const { reply } of t.asked) reply();
    await Promise.all([first, second]);
  });

  test.each(["", "k", "hsk_", keyText("k").slice(1), `${keyText("k")}0`, keyText("k-"), keyText("k\n"), "x".repeat(100_000)])(
    "auth is spared what was never a key: %#",
    async (text) => {
      const t = await openVerifier();
      await expect(t.verifier.verify(text)).rejects.toMatchObject(badKey);
      expect(t.calls()).toBe(0);
    },
  );

  test("questions are bounded: beyond five thousand at once the answer is unavailable", async () => {
    const t = await openVerifier();
    const requests = Array.from({ length: 5_000 }, (_, i) => t.verifier.verify(keyText(`k${i}x`)));
    await expect(t.verifier.verify(keyText("onemore"))).rejects.toMatchObject({ code: "unavailable" });
    await turn();
    for (const { reply } of t.asked) reply();
    await Promise.all(requests);
    expect((await t.verify("onemore")).keyId).toBe("onemore");
  });
});

test.each([
  new AppError("unavailable", "TRANSPORT", "connection refused"),
  new AppError("deadline_exceeded", "DEADLINE_EXCEEDED", "too late"),
  new AppError("permission_denied", "INTERNAL_RPC", "not for you"),
  new AppError("unauthenticated", "INVALID_KEY", "a gateway with a wrong service token"),
  new AppError("internal", "INTERNAL", "Internal server error"),
  new TypeError("a defect"),
])("an auth that cannot tell makes the service unavailable, and never the key bad: %s", async (failure) => {
  const t = await openVerifier();
  await expect(t.verify("k", failure)).rejects.toMatchObject({
    code: "unavailable",
    message: "Service temporarily unavailable",
    retryAfterMs: 30_000,
    cause: failure,
  });
  expect((await t.verify("k")).keyId).toBe("k");
});

describe("revocation", () => {
  test("ends what is remembered of the key and its children, told here or by an event, and nothing else", async () => {
    const t = await openVerifier();
    const refill = async () => {
      await t.verify("parent", { lineageKeyIds: ["parent"] });
      await t.verify("child", { lineageKeyIds: ["child", "parent"] });
      await t.verify("other", { lineageKeyIds: ["other"] });
      return t.calls();
    };
    for (const revoke of [() => t.verifier.forget(["parent"]), () => t.tell(["parent"])]) {
      const before = await refill();
      await revoke();
      await t.verify("other");
      expect(t.calls()).toBe(before);
      await t.verify("parent");
      await t.verify("child");
      expect(t.calls()).toBe(before + 2);
      t.clock.us += secondUs;
    }
  });

  test("a verification that auth answered from before the revocation is refused, and its key asked for again", async () => {
    const t = await openVerifier();
    const request = t.verifier.verify(keyText("child"));
    await turn();
    t.verifier.forget(["parent"]);
    t.asked[0]?.reply({ lineageKeyIds: ["child", "parent"] });
    await expect(request).rejects.toMatchObject(badKey);
  });

  test("no answer is remembered across any revocation, because it may have been read before", async () => {
    const t = await openVerifier();
    const request = t.verifier.verify(keyText("k"));
    await turn();
    await t.tell(["another"]);
    t.asked[0]?.reply();
    expect((await request).keyId).toBe("k");
    const before = t.calls();
    await t.verify("k");
    expect(t.calls()).toBe(before + 1);
  });
});
