import { describe, expect, test } from "vitest";
import { expiresAtUsOf, isWithinScope, lineageKeyIdsOf, revokedAtUsOf, statusOf } from "./api-key.ts";
import { testKey } from "./test-keys.ts";

const life = (expiresAtUs: number | null, revokedAtUs: number | null) => ({ keyId: "parent", expiresAtUs, revokedAtUs });

describe("status", () => {
  test.each([
    ["never expires", null, null, null, "active"],
    ["a microsecond before expiry", 101, null, null, "active"],
    ["at expiry", 100, null, null, "expired"],
    ["revoked", null, 50, null, "revoked"],
    ["revoked after it expired", 40, 50, null, "revoked"],
    ["parent expired", 200, null, life(100, null), "expired"],
    ["parent revoked", 200, null, life(null, 50), "revoked"],
    ["parent alive", 200, null, life(200, null), "active"],
  ] as const)("%s", (_, expiresAtUs, revokedAtUs, parent, status) => {
    const key = testKey({ expiresAtUs, revokedAtUs, parentKeyId: parent?.keyId ?? null });
    expect(statusOf({ key, parent }, 100)).toBe(status);
  });
});

test("the earliest end of key and parent counts", () => {
  const lineage = { key: testKey({ keyId: "child", expiresAtUs: 20, revokedAtUs: 9 }), parent: life(10, 7) };
  expect([expiresAtUsOf(lineage), revokedAtUsOf(lineage)]).toEqual([10, 7]);
  expect(lineageKeyIdsOf(lineage)).toEqual(["child", "parent"]);
});

test.each([
  [null, null, true],
  [["a"], null, true],
  [null, ["a"], false],
  [["a"], ["a", "b"], true],
  [["a", "c"], ["a", "b"], false],
  [["A"], ["a"], false],
  [["é"], ["e\u0301"], false],
  [["__proto__"], ["a"], false],
])("banks %j within %j: %s", (inner, outer, expected) => {
  expect(isWithinScope(inner, outer)).toBe(expected);
});
