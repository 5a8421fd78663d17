import { describe, expect, test } from "vitest";
import { checkedSecret, RETIRED_SECRETS_MAX, retire, SECRET_OVERLAP_US, signingSecrets } from "./secret.ts";

describe("secrets", () => {
  test.each(["a", "whs-1f9c", "ключ 🔑", "x".repeat(10_000), "whsec_AAAA", "whsec_+/+/", "whsec_QQ==", "WHSEC_!!"])(
    "%s is taken",
    (secret) => {
      expect(checkedSecret(secret)).toBe(secret);
    },
  );

  test.each([
    "whsec_",
    "whsec_A",
    "whsec_AAA",
    "whsec_AAAA=",
    "whsec_====",
    "whsec_A-_A",
    "whsec_ключ",
    "whsec_AAA AAA A",
    "whsec_QQ==QQ==",
  ])("%s is refused, for it is not base64", (secret) => {
    expect(() => checkedSecret(secret)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        violations: [expect.objectContaining({ location: ["body", "secret"], type: "value_error" })],
      }),
    );
  });

  test("an empty secret is none", () => {
    expect(checkedSecret("")).toBeNull();
  });
});

describe("rotation", () => {
  const overlapEnd = 100 + SECRET_OVERLAP_US;

  test("a replaced secret signs for a day beside the new one, behind it", () => {
    const target = { secret: "new", retiredSecrets: retire([], "old", "new", 100) };
    expect(signingSecrets(target, overlapEnd - 1)).toEqual(["new", "old"]);
    expect(signingSecrets(target, overlapEnd)).toEqual(["new"]);
  });

  test("several replacements within a day all go on signing, the newest first, up to a bound", () => {
    let retired = retire([], "0", "1", 100);
    for (let index = 1; index <= 10; index += 1) retired = retire(retired, String(index), String(index + 1), 100 + index);
    expect(retired.map(({ secret }) => secret)).toEqual(["10", "9", "8", "7", "6"]);
    expect(retired).toHaveLength(RETIRED_SECRETS_MAX);
  });

  test("the same secret again changes nothing, and going back does not sign twice with it", () => {
    const retired = retire([], "old", "new", 100);
    expect(retire(retired, "new", "new", 200)).toEqual(retired);
    expect(retire(retired, "new", "old", 200).map(({ secret }) => secret)).toEqual(["new"]);
  });

  test("without a secret nothing signs, not even the ones before", () => {
    expect(retire([], "old", null, 100)).toEqual([]);
    expect(signingSecrets({ secret: null, retiredSecrets: [{ secret: "old", untilUs: 999 }] }, 100)).toEqual([]);
  });
});
