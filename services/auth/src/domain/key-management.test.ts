import { isAppError } from "@memory-bank/errors";
import { describe, expect, test } from "vitest";
import type { ApiKey } from "./api-key.ts";
import { requireMayRevoke, visibleKeys } from "./key-management.ts";
import { testKey } from "./test-keys.ts";

const owner = testKey({ keyId: "owner", role: "owner" });
const admin = testKey({ keyId: "admin", role: "admin" });
const member = testKey({ keyId: "member" });
const parent = testKey({ keyId: "parent", capabilities: ["create_scoped_keys"], allowedBankIds: ["a", "b"] });
const child = testKey({ keyId: "child", parentKeyId: "parent", allowedBankIds: ["a"] });
const foreignChild = testKey({ keyId: "foreign-child", parentKeyId: "admin", allowedBankIds: ["b"] });
const adminOfA = testKey({ keyId: "admin-of-a", role: "admin", allowedBankIds: ["a"] });

function verdict(caller: ApiKey, target: ApiKey | undefined, childrenOnly: boolean): string {
  try {
    requireMayRevoke(caller, target, childrenOnly);
    return "allowed";
  } catch (error) {
    if (!isAppError(error)) throw error;
    return error.reason;
  }
}

describe("who may revoke what", () => {
  test.each([
    ["an owner an owner", owner, { ...owner, keyId: "second" }, "allowed"],
    ["an owner an admin", owner, admin, "allowed"],
    ["an owner itself", owner, owner, "allowed"],
    ["an owner another's child", owner, child, "allowed"],
    ["an owner nothing", owner, undefined, "API_KEY_NOT_FOUND"],
    ["an admin a member", admin, member, "allowed"],
    ["an admin an owner", admin, owner, "NOT_AN_OWNER"],
    ["an admin another admin", admin, { ...admin, keyId: "second" }, "NOT_AN_OWNER"],
    ["an admin itself", admin, admin, "allowed"],
    ["a member itself", member, member, "allowed"],
    ["a member another", member, parent, "NOT_A_MANAGER"],
    ["a member nothing", member, undefined, "NOT_A_MANAGER"],
    ["a parent its child", parent, child, "allowed"],
    ["a parent another's child", parent, foreignChild, "NOT_A_MANAGER"],
    ["a child itself", child, child, "allowed"],
    ["a child its parent", child, parent, "NOT_A_MANAGER"],
    ["a restricted admin a key of its bank", adminOfA, child, "allowed"],
    ["a restricted admin a key of another bank", adminOfA, foreignChild, "SCOPE_TOO_WIDE"],
    ["a restricted admin a wider key", adminOfA, parent, "SCOPE_TOO_WIDE"],
    ["a restricted admin an unrestricted key", adminOfA, member, "SCOPE_TOO_WIDE"],
    ["a restricted admin itself", adminOfA, adminOfA, "allowed"],
  ])("%s", (_, caller, target, expected) => {
    expect(verdict(caller, target, false)).toBe(expected);
  });

  test.each([
    ["a parent its child", parent, child, "allowed"],
    ["a parent another's child", parent, foreignChild, "API_KEY_NOT_FOUND"],
    ["a parent nothing", parent, undefined, "API_KEY_NOT_FOUND"],
    ["a parent itself, which is no child", parent, parent, "API_KEY_NOT_FOUND"],
    ["an owner any child", owner, child, "allowed"],
    ["an owner a top-level key", owner, member, "API_KEY_NOT_FOUND"],
    ["a member without the capability", member, child, "CAPABILITY_MISSING"],
    ["a member without the capability, nothing", member, undefined, "CAPABILITY_MISSING"],
    ["a child itself", child, child, "allowed"],
  ])("among child keys only: %s", (_, caller, target, expected) => {
    expect(verdict(caller, target, true)).toBe(expected);
  });
});

test("who sees which keys", () => {
  for (const manager of [owner, admin]) {
    expect(visibleKeys(manager, false)).toEqual({ kind: "tenant" });
    expect(visibleKeys(manager, true)).toEqual({ kind: "tenant_children" });
  }
  expect(visibleKeys(parent, false)).toEqual({ kind: "self_and_children", keyId: "parent" });
  expect(visibleKeys(parent, true)).toEqual({ kind: "children", keyId: "parent" });
  expect(() => visibleKeys(member, true)).toThrow("create_scoped_keys");
});
