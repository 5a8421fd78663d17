import { mayAccessBank, type Principal } from "@memory-bank/context";
import { isAppError } from "@memory-bank/errors";
import { expect, test } from "vitest";
import { type ApiKey, principalOf } from "./api-key.ts";
import { type NewKey, newScopedKey, newTopLevelKey, type ScopedKeyRequest } from "./new-key.ts";
import { testKey } from "./test-keys.ts";

const pairs = process.env["TEST_FULL"] === "1" ? 100_000 : 5_000;
const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 2 ** 31);
const dayUs = 86_400_000_000;
const nowUs = 1_700_000_000_000_000;

/** Ids that a careless comparison would take for each other, or trip over. */
const banks = [
  "a",
  "A",
  "a ",
  " a",
  "ab",
  "a.b",
  "a*",
  "*",
  "é",
  "e\u0301",
  "null",
  "__proto__",
  "constructor",
  "Ａ",
  "ß",
  "SS",
  "ı",
  "i",
];

test(`no child key gets further than its parent (${pairs} pairs, seed ${seed})`, () => {
  const random = seededRandom(seed);
  let accepted = 0;
  for (let i = 0; i < pairs; i++) {
    const parent = randomParent(random);
    const request = randomRequest(random, parent);
    const child = attempt(() => newScopedKey(parent, request, nowUs));
    const context = JSON.stringify({ seed, i, parent, request, child });
    expect(child !== undefined, context).toBe(shouldBeAccepted(parent, request));
    if (!child) continue;
    accepted++;
    expectNoEscalation(parent, child, context);
  }
  // Both answers must have been exercised, or the property says nothing.
  expect(accepted).toBeGreaterThan(pairs / 10);
  expect(accepted).toBeLessThan((pairs * 9) / 10);
}, 120_000);

function expectNoEscalation(parent: ApiKey, child: NewKey, context: string): void {
  const key: ApiKey = { ...testKey(), ...child };
  const reach = (principal: Principal) => banks.filter((bankId) => mayAccessBank(principal, bankId));
  expect(reach(principalOf(parent)), context).toEqual(expect.arrayContaining(reach(principalOf(key))));
  expect(key.allowedBankIds?.length, context).toBeGreaterThan(0);
  expect(key.expiresAtUs, context).toBeLessThanOrEqual(Math.min(parent.expiresAtUs ?? Infinity, nowUs + 365 * dayUs));
  expect([key.tenantId, key.parentKeyId, key.role, key.capabilities], context).toEqual([
    parent.tenantId,
    parent.keyId,
    "member",
    [],
  ]);

  const furtherRequest = { name: "n", allowedBankIds: [...(key.allowedBankIds ?? [])], expiresInDays: 1, metadata: {} };
  expect(
    attempt(() => newScopedKey(key, furtherRequest, nowUs)),
    context,
  ).toBeUndefined();
  const plain = { name: "n", expiration: null, expiresInDays: null, allowedBankIds: ["a"], capabilities: [], role: null };
  expect(
    attempt(() => newTopLevelKey(key, plain, nowUs)),
    context,
  ).toBeUndefined();
}

/** The rules once more, in the plainest words. */
function shouldBeAccepted(parent: ApiKey, { allowedBankIds, expiresInDays }: ScopedKeyRequest): boolean {
  const mayCreate = parent.capabilities.some((capability) => capability === "create_scoped_keys");
  const allowed = parent.allowedBankIds;
  const banksFit = allowedBankIds.length > 0 && allowedBankIds.every((asked) => !allowed || allowed.some((own) => own === asked));
  const daysFit = expiresInDays >= 1 && expiresInDays <= 365;
  const parentLeftUs = parent.expiresAtUs === null ? Infinity : parent.expiresAtUs - nowUs;
  return mayCreate && banksFit && daysFit && expiresInDays * dayUs <= parentLeftUs;
}

function attempt(create: () => NewKey): NewKey | undefined {
  try {
    return create();
  } catch (error) {
    if (isAppError(error)) return undefined;
    throw error;
  }
}

type Random = (below: number) => number;

function randomParent(random: Random): ApiKey {
  const parent = testKey({
    role: (["owner", "admin", "member"] as const)[random(3)] ?? "member",
    capabilities: random(10) > 0 ? ["create_scoped_keys"] : [],
    allowedBankIds: random(4) === 0 ? null : someBanks(random, 1 + random(banks.length)),
  });
  // Around whole days, where an off-by-one would show.
  const expiresAtUs = random(3) === 0 ? null : nowUs + (1 + random(400)) * dayUs + random(3) - 1;
  return { ...parent, expiresAtUs };
}

function randomRequest(random: Random, parent: ApiKey): ScopedKeyRequest {
  const own = parent.allowedBankIds ?? banks;
  const asked = Array.from({ length: 1 + random(4) }, () => own[random(own.length)] ?? "a");
  if (random(3) === 0) asked.push(...someBanks(random, random(3)));
  if (random(20) === 0) asked.length = 0;
  const expiresInDays = random(5) === 0 ? random(500) - 50 : 1 + random(60);
  return { name: "n", allowedBankIds: asked, expiresInDays, metadata: {} };
}

function someBanks(random: Random, count: number): string[] {
  return [...new Set(Array.from({ length: count }, () => banks[random(banks.length)] ?? "a"))];
}

/** Mulberry32: small, fast, and the same in every run with the same seed. */
function seededRandom(start: number): Random {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
