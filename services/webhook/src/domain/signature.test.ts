import { createHmac, randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { hindsightSignature, standardSignatures } from "./signature.ts";

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const bodies = ["", "{}", '{"text":"Zoë 😀 \\u0000"}', "x".repeat(256 * 1024), "\r\n\r\n", "�"];

function verifier(secret: string): Webhook {
  if (secret.startsWith("whsec_")) return new Webhook(secret);
  // Given as text, the library would take each character's code for a byte.
  return new Webhook(new TextEncoder().encode(secret), { format: "raw" });
}

describe("signatures", () => {
  const secrets = [
    `whsec_${randomBytes(24).toString("base64")}`,
    `whsec_${randomBytes(64).toString("base64")}`,
    "plain",
    "ключ 🔑",
    " ",
    "k".repeat(5_000),
  ];

  test.each(secrets)("the official library accepts what %s signs, for any body", (secret) => {
    for (const body of bodies) {
      const message = {
        id: "c9bf9e57-1685-4c89-bafb-ff5af830be8a",
        timestampSeconds: nowSeconds(),
        body: new TextEncoder().encode(body),
      };
      const headers = {
        "webhook-id": message.id,
        "webhook-timestamp": String(message.timestampSeconds),
        "webhook-signature": standardSignatures([secret], message),
      };
      const payload = new TextDecoder().decode(message.body);
      expect(() => verifier(secret).verify(payload, headers, { jsonParse: false })).not.toThrow();
      expect(() => verifier(secret).verify(`${payload} `, headers)).toThrow("No matching signature found");
    }
  });

  test("while a secret is replaced, receivers with either of the two are satisfied", () => {
    const body = '{"a":1}';
    const message = { id: "msg", timestampSeconds: nowSeconds(), body: new TextEncoder().encode(body) };
    const headers = {
      "webhook-id": message.id,
      "webhook-timestamp": String(message.timestampSeconds),
      "webhook-signature": standardSignatures([secrets[0]!, "plain"], message),
    };
    expect(verifier(secrets[0]!).verify(body, headers)).toEqual({ a: 1 });
    expect(verifier("plain").verify(body, headers)).toEqual({ a: 1 });
    expect(() => verifier("other").verify(body, headers)).toThrow("No matching signature found");
  });

  test("Hindsight's header is over the bytes, keyed with the secret as it is written", () => {
    const body = new TextEncoder().encode("{}");
    expect(hindsightSignature("whsec_AAAA", body)).toBe(
      `sha256=${createHmac("sha256", "whsec_AAAA").update("{}").digest("hex")}`,
    );
  });
});
