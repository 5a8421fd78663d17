import { AppError } from "@memory-bank/errors";
import type { DomainEvent, Subscription } from "@memory-bank/events";
import type { VerifyKeyResponse } from "@memory-bank/proto/auth/v1/auth";
import { expect, test } from "vitest";
import { createKeyVerifier } from "./key-verifier.ts";

const interleavings = process.env["TEST_FULL"] === "1" ? 100_000 : 2_000;
const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 2 ** 31);
const stepsPerInterleaving = 40;
const secondUs = 1_000_000;

type KeyName = "parent" | "child" | "other";
const lineages: Readonly<Record<KeyName, readonly KeyName[]>> = {
  parent: ["parent"],
  child: ["child", "parent"],
  other: ["other"],
};
const names = Object.keys(lineages) as KeyName[];

/**
 * Steps of verifications and revocations in random order, some of them without giving way to what they set off:
 * a request comes in; auth reads the key; auth's answer arrives; a revocation becomes durable, is told here (by the gateway that carries it
 * out, or by an event from elsewhere, or never), and is answered; time passes.
 */
test(`nobody is let in after the revocation was answered (${interleavings} interleavings, seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const totals = { accepted: 0, refused: 0, fromMemory: 0 };
  for (let i = 0; i < interleavings; i++) await interleave(random, totals, `seed ${seed}, interleaving ${i}`);
  // All kinds of ends must have been reached, or the property says nothing.
  for (const count of Object.values(totals)) expect(count).toBeGreaterThan(interleavings / 2);
}, 300_000);

async function interleave(random: Random, totals: Totals, context: string): Promise<void> {
  const clock = { us: 1_700_000_000_000_000 };
  const revokedInStore = new Set<KeyName>();
  let calls = 0;
  const unread: Call[] = [];
  const unanswered: { readonly call: Call; readonly isGood: boolean }[] = [];
  const subscriptions: Subscription[] = [];
  const verifier = createKeyVerifier({
    auth: {
      verifyKey: (_ctx, { apiKey }) => {
        const { promise, resolve, reject } = Promise.withResolvers<VerifyKeyResponse>();
        calls++;
        unread.push({ name: names[Number(apiKey[4])] ?? "other", resolve, reject });
        return promise;
      },
    },
    bus: {
      subscribe: async (subscription) => {
        subscriptions.push(subscription);
        return { [Symbol.asyncDispose]: async () => {} };
      },
    },
    nowUs: () => clock.us,
    newId: () => "id",
  });
  await verifier.start();

  const endedHere = new Set<KeyName>(); // revocations that this gateway has answered
  const endedElsewhereAtUs = new Map<KeyName, number>(); // revocations that another gateway has answered, when
  const outcomes: Promise<void>[] = [];

  const isEnded = (name: KeyName) => lineages[name].some((id) => endedHere.has(id));
  const isLongEnded = (name: KeyName) =>
    lineages[name].some((id) => clock.us - (endedElsewhereAtUs.get(id) ?? Infinity) >= secondUs);
  const isGood = (name: KeyName) => !lineages[name].some((id) => revokedInStore.has(id));

  const request = () => {
    const name = pick(random, names);
    const mustBeRefused = isEnded(name) || isLongEnded(name);
    const callsBefore = calls;
    const isAsked = unread.some((call) => call.name === name) || unanswered.some(({ call }) => call.name === name);
    const outcome = verifier.verify(`hsk_${names.indexOf(name)}${"0".repeat(53)}`).then(
      (principal) => {
        expect(principal.keyId, context).toBe(name);
        expect(mustBeRefused, `${context}: accepted a request that came after the revocation`).toBe(false);
        expect(isEnded(name), `${context}: accepted after the revocation was answered`).toBe(false);
        totals.accepted++;
        if (!isAsked && calls === callsBefore) totals.fromMemory++;
      },
      (error: unknown) => {
        expect(error, context).toMatchObject({ code: "unauthenticated" });
        expect(isGood(name), `${context}: refused a good key`).toBe(false);
        totals.refused++;
      },
    );
    outcomes.push(outcome);
  };
  const read = () => {
    const call = take(random, unread);
    if (call) unanswered.push({ call, isGood: isGood(call.name) });
  };
  const answer = () => {
    const next = take(random, unanswered);
    if (next?.isGood) next.call.resolve(responseFor(next.call.name));
    else next?.call.reject(new AppError("unauthenticated", "KEY_REFUSED", "Authentication failed: Invalid API key"));
  };
  const revokeHere = async () => {
    const name = pick(random, ["parent", "child"] as const);
    revokedInStore.add(name);
    await turns(random(4));
    verifier.forget([name]);
    await turns(3); // an answer takes at least as long to leave as a promise to settle
    endedHere.add(name);
  };
  const revokeElsewhere = async () => {
    const name = pick(random, ["parent", "child"] as const);
    revokedInStore.add(name);
    if (!endedElsewhereAtUs.has(name)) endedElsewhereAtUs.set(name, clock.us);
    if (random(2) === 0) return; // the event is lost
    await turns(random(20));
    for (const { handler } of subscriptions) await handler(revokedEvent(name, clock.us), { attempt: 1, signal: neverAborted });
  };
  const pass = () => {
    clock.us += random(700_000);
  };

  const revokeStep = random(stepsPerInterleaving);
  for (let step = 0; step < stepsPerInterleaving; step++) {
    if (step === revokeStep) void pick(random, [revokeHere, revokeElsewhere])();
    pick(random, [request, request, request, read, read, answer, answer, pass])();
    await turns(random(5));
  }
  while (unread.length + unanswered.length > 0) {
    read();
    answer();
    await turns(8);
  }
  await Promise.all(outcomes);
}

type Totals = Record<"accepted" | "refused" | "fromMemory", number>;
type Random = (below: number) => number;
interface Call {
  readonly name: KeyName;
  readonly resolve: (response: VerifyKeyResponse) => void;
  readonly reject: (error: Error) => void;
}

const neverAborted = new AbortController().signal;

const responseFor = (name: KeyName): VerifyKeyResponse => ({
  tenantId: "acme",
  keyId: name,
  lineageKeyIds: [...lineages[name]],
  role: "member",
  capabilities: [],
});

const revokedEvent = (name: KeyName, occurredAtUs: number): DomainEvent => ({
  id: crypto.randomUUID(),
  subject: "key.revoked.v1",
  payload: { keyIds: [name] },
  occurredAtUs,
});

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await Promise.resolve();
}

function pick<T>(random: Random, items: readonly [T, ...T[]] | readonly T[]): T {
  return items[random(items.length)] as T;
}

function take<T>(random: Random, items: T[]): T | undefined {
  return items.splice(random(items.length), 1)[0];
}

/** Mulberry32: small, fast, and the same in every run with the same seed. */
function seededRandom(start: number): Random {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(below, 1);
  };
}
