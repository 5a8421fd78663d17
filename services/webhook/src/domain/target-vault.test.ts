import { describe, expect, test } from "vitest";
import { createTargetVault, parseVaultKey } from "./target-vault.ts";
import type { Target } from "./webhook.ts";

const key = (fill: number) => new Uint8Array(32).fill(fill);
const target: Target = {
  url: "https://hooks.test/?token=t0ken",
  secret: "s3cret 🔑",
  retiredSecrets: [{ secret: "0ld", untilUs: 5 }],
  httpConfig: { method: "POST", timeoutSeconds: 30, headers: { authorization: "Bearer b3arer" }, params: {} },
};

describe("the vault", () => {
  test("what was sealed is opened again, by another process with the same key", () => {
    expect(createTargetVault({ current: key(1) }).open(createTargetVault({ current: key(1) }).seal("id", target))).toEqual(
      target,
    );
  });

  test("nothing of a target can be read from its sealed form, and two are never alike", () => {
    const vault = createTargetVault({ current: key(1) });
    const [one, two] = [vault.seal("id", target), vault.seal("id", target)];
    const text = Buffer.from(one.sealed).toString("latin1");
    for (const word of ["hooks", "t0ken", "s3cret", "0ld", "b3arer"]) expect(text).not.toContain(word);
    expect(Buffer.from(one.sealed).equals(two.sealed)).toBe(false);
    expect(one.keyId).toBe(vault.keyId);
  });

  test("a change of any byte, or a swap of two targets, is noticed", () => {
    const vault = createTargetVault({ current: key(1) });
    const sealed = vault.seal("id", target);
    for (const at of [0, 12, 28, sealed.sealed.length - 1]) {
      const changed = Uint8Array.from(sealed.sealed);
      changed[at]! ^= 1;
      expect(() => createTargetVault({ current: key(1) }).open({ ...sealed, sealed: changed })).toThrow();
    }
    expect(() => createTargetVault({ current: key(1) }).open({ ...sealed, id: "other" })).toThrow();
  });

  test("after a rotation old targets open with the previous key and new ones are sealed with the new key", () => {
    const old = createTargetVault({ current: key(1) });
    const rotated = createTargetVault({ current: key(2), previous: [key(1)] });
    expect(rotated.open(old.seal("id", target))).toEqual(target);
    expect(rotated.seal("id", target).keyId).not.toBe(old.keyId);
  });

  test("a key that is not there is told as such", () => {
    const sealed = createTargetVault({ current: key(1) }).seal("id", target);
    expect(() => createTargetVault({ current: key(2) }).open(sealed)).toThrow(
      expect.objectContaining({ reason: "TARGET_KEY_MISSING" }),
    );
  });

  test("keys are read as hexadecimal digits or base64, and nothing else", () => {
    expect(Buffer.from(parseVaultKey("ab".repeat(32)))).toEqual(Buffer.alloc(32, 0xab));
    expect(Buffer.from(parseVaultKey(Buffer.alloc(32, 7).toString("base64")))).toEqual(Buffer.alloc(32, 7));
    for (const text of ["", "short", "ab".repeat(31), Buffer.alloc(33).toString("base64")])
      expect(() => parseVaultKey(text)).toThrow("32 bytes");
  });
});
