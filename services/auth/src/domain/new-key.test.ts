import { isAppError } from "@memory-bank/errors";
import { describe, expect, test } from "vitest";
import { type KeyRequest, newOwnerKey, newScopedKey, newTopLevelKey, type ScopedKeyRequest } from "./new-key.ts";
import { testKey } from "./test-keys.ts";

const nowUs = 1_700_000_000_000_000;
const dayUs = 86_400_000_000;
const owner = testKey({ role: "owner" });
const parent = testKey({ capabilities: ["create_scoped_keys"], allowedBankIds: ["a", "b"], expiresAtUs: nowUs + 10 * dayUs });

const topLevel = (changes: Partial<KeyRequest> = {}, creator = owner) => {
  const plain = { name: "n", expiration: null, expiresInDays: null, allowedBankIds: null, capabilities: [], role: null };
  return newTopLevelKey(creator, { ...plain, ...changes }, nowUs);
};
const scoped = (changes: Partial<ScopedKeyRequest> = {}, from = parent) =>
  newScopedKey(from, { name: "n", allowedBankIds: ["a"], expiresInDays: 1, metadata: {}, ...changes }, nowUs);

/** Location and type of each fault, or code and reason of any other refusal. */
function refusal(attempt: () => unknown): unknown {
  try {
    attempt();
  } catch (error) {
    if (!isAppError(error)) throw error;
    if (error.violations.length === 0) return [error.code, error.reason];
    return error.violations.map(({ location, type }) => [location.join("."), type]);
  }
  return "accepted";
}

describe("top-level key", () => {
  test.each([
    [null, null],
    ["never", null],
    ["1h", 3_600_000_000],
    ["1d", dayUs],
    ["7d", 7 * dayUs],
    ["30d", 30 * dayUs],
    ["90d", 90 * dayUs],
    ["1y", 365 * dayUs],
  ])("expiration %s", (expiration, lifetimeUs) => {
    expect(topLevel({ expiration }).expiresAtUs).toBe(lifetimeUs === null ? null : nowUs + lifetimeUs);
  });

  test("a custom expiration counts days", () => {
    expect(topLevel({ expiration: "custom", expiresInDays: 400 }).expiresAtUs).toBe(nowUs + 400 * dayUs);
    expect(Number.isSafeInteger(topLevel({ expiration: "custom", expiresInDays: 36_500 }).expiresAtUs)).toBe(true);
  });

  test("defaults: a member without capabilities on every bank", () => {
    const expected = {
      tenantId: "acme",
      role: "member",
      capabilities: [],
      allowedBankIds: null,
      parentKeyId: null,
      metadata: {},
    };
    expect(topLevel()).toMatchObject(expected);
  });

  test("repeated banks and capabilities are kept once", () => {
    const capabilities = ["create_scoped_keys", "create_scoped_keys"];
    const key = topLevel({ allowedBankIds: ["b", "a", "b"], capabilities });
    expect(key).toMatchObject({ allowedBankIds: ["b", "a"], capabilities: ["create_scoped_keys"] });
  });

  test.each<[string, Partial<KeyRequest>, unknown]>([
    ["no name", { name: "" }, [["body.name", "string_too_short"]]],
    ["a name of NULs", { name: "\0" }, [["body.name", "string_too_short"]]],
    ["a long name", { name: "x".repeat(256) }, [["body.name", "string_too_long"]]],
    ["a name of 256 astral characters", { name: "😀".repeat(256) }, [["body.name", "string_too_long"]]],
    ["a name of 255 astral characters", { name: "😀".repeat(255) }, "accepted"],
    ["unknown expiration", { expiration: "2d" }, [["body.expiration", "literal_error"]]],
    ["expiration by prototype", { expiration: "constructor" }, [["body.expiration", "literal_error"]]],
    ["custom without days", { expiration: "custom" }, [["body.expires_in_days", "missing"]]],
    ["custom with 0 days", { expiration: "custom", expiresInDays: 0 }, [["body.expires_in_days", "greater_than_equal"]]],
    ["custom with too many days", { expiration: "custom", expiresInDays: 36_501 }, [["body.expires_in_days", "less_than_equal"]]],
    ["days without custom", { expiration: "1d", expiresInDays: 3 }, [["body.expires_in_days", "value_error"]]],
    ["an empty list of banks", { allowedBankIds: [] }, [["body.allowed_bank_ids", "too_short"]]],
    ["an empty bank id", { allowedBankIds: ["a", ""] }, [["body.allowed_bank_ids.1", "string_too_short"]]],
    ["a long bank id", { allowedBankIds: ["x".repeat(256)] }, [["body.allowed_bank_ids.0", "string_too_long"]]],
    ["a slash in a bank id", { allowedBankIds: ["a/b"] }, [["body.allowed_bank_ids.0", "string_pattern_mismatch"]]],
    ["a NUL in a bank id", { allowedBankIds: ["a\0"] }, [["body.allowed_bank_ids.0", "string_pattern_mismatch"]]],
    ["half a character", { allowedBankIds: ["\ud800"] }, [["body.allowed_bank_ids.0", "string_pattern_mismatch"]]],
    ["many banks", { allowedBankIds: Array.from({ length: 1_001 }, (_, i) => `${i}`) }, [["body.allowed_bank_ids", "too_long"]]],
    [
      "much text in banks",
      { allowedBankIds: Array.from({ length: 200 }, (_, i) => "x".repeat(250) + i) },
      [["body.allowed_bank_ids", "value_error"]],
    ],
    ["unknown capability", { capabilities: ["fly"] }, [["body.capabilities.0", "literal_error"]]],
    ["unknown role", { role: "root" }, [["body.role", "literal_error"]]],
    [
      "everything wrong at once",
      { name: "", expiration: "x", allowedBankIds: [], capabilities: ["fly"], role: "root" },
      [
        ["body.name", "string_too_short"],
        ["body.expiration", "literal_error"],
        ["body.allowed_bank_ids", "too_short"],
        ["body.capabilities.0", "literal_error"],
        ["body.role", "literal_error"],
      ],
    ],
  ])("%s", (_, changes, expected) => {
    expect(refusal(() => topLevel(changes))).toEqual(expected);
  });

  test("only owners and admins create, and only owners create owners and admins", () => {
    const admin = testKey({ role: "admin" });
    const member = testKey({ capabilities: ["create_scoped_keys"] });
    expect(refusal(() => topLevel({}, member))).toEqual(["permission_denied", "NOT_A_MANAGER"]);
    expect(refusal(() => topLevel({ name: "" }, member))).toEqual(["permission_denied", "NOT_A_MANAGER"]);
    expect(refusal(() => topLevel({}, admin))).toBe("accepted");
    for (const role of ["owner", "admin"]) {
      expect(refusal(() => topLevel({ role }, admin))).toEqual(["permission_denied", "NOT_AN_OWNER"]);
      expect(refusal(() => topLevel({ role }))).toBe("accepted");
    }
  });

  test("a restricted creator cannot create a wider key", () => {
    const restricted = testKey({ role: "owner", allowedBankIds: ["a", "b"] });
    expect(refusal(() => topLevel({ allowedBankIds: ["a"] }, restricted))).toBe("accepted");
    expect(refusal(() => topLevel({ allowedBankIds: ["a", "c"] }, restricted))).toEqual(["permission_denied", "SCOPE_TOO_WIDE"]);
    expect(refusal(() => topLevel({ allowedBankIds: null }, restricted))).toEqual(["permission_denied", "SCOPE_TOO_WIDE"]);
  });
});

describe("child key", () => {
  test("is a member without capabilities on the asked banks", () => {
    const metadata = { user: "17", nested: { list: [1, null] } };
    expect(scoped({ allowedBankIds: ["b", "a", "b"], metadata })).toEqual({
      tenantId: "acme",
      name: "n",
      role: "member",
      capabilities: [],
      allowedBankIds: ["b", "a"],
      parentKeyId: parent.keyId,
      metadata,
      expiresAtUs: nowUs + dayUs,
    });
  });

  test.each<[string, Partial<ScopedKeyRequest>, unknown]>([
    ["no banks", { allowedBankIds: [] }, [["body.allowed_bank_ids", "too_short"]]],
    ["a bank that the parent lacks", { allowedBankIds: ["a", "c"] }, ["permission_denied", "SCOPE_TOO_WIDE"]],
    ["0 days", { expiresInDays: 0 }, [["body.expires_in_days", "greater_than_equal"]]],
    ["less than 0 days", { expiresInDays: -5 }, [["body.expires_in_days", "greater_than_equal"]]],
    ["366 days", { expiresInDays: 366 }, [["body.expires_in_days", "less_than_equal"]]],
    ["as long as the parent", { expiresInDays: 10 }, "accepted"],
    ["longer than the parent", { expiresInDays: 11 }, [["body.expires_in_days", "value_error"]]],
    ["4096 bytes of metadata", { metadata: { k: "x".repeat(4_088) } }, "accepted"],
    ["4097 bytes of metadata", { metadata: { k: "x".repeat(4_089) } }, [["body.metadata", "value_error"]]],
    ["metadata of few but wide characters", { metadata: { k: "語".repeat(1_400) } }, [["body.metadata", "value_error"]]],
  ])("%s", (_, changes, expected) => {
    expect(refusal(() => scoped(changes))).toEqual(expected);
  });

  test("a parent that never expires allows a year and no more", () => {
    const eternal = { ...parent, expiresAtUs: null };
    expect(refusal(() => scoped({ expiresInDays: 365 }, eternal))).toBe("accepted");
    expect(refusal(() => scoped({ expiresInDays: 366 }, eternal))).toEqual([["body.expires_in_days", "less_than_equal"]]);
  });

  test("the capability is needed, whatever the role", () => {
    for (const role of ["owner", "admin", "member"] as const) {
      expect(() => scoped({}, testKey({ role }))).toThrow("API key lacks the create_scoped_keys capability");
    }
  });
});

test("the first key of a tenant is an owner without restrictions", () => {
  expect(newOwnerKey("acme.eu-1_x", "root")).toEqual({
    tenantId: "acme.eu-1_x",
    name: "root",
    role: "owner",
    capabilities: ["create_scoped_keys"],
    allowedBankIds: null,
    parentKeyId: null,
    metadata: {},
    expiresAtUs: null,
  });
  for (const tenantId of ["", "a b", "a/b", "é", "x".repeat(65), "a\n"]) {
    expect(refusal(() => newOwnerKey(tenantId, "root"))).toEqual([["body.tenant_id", "string_pattern_mismatch"]]);
  }
});
