import { expect, test } from "vitest";
import { bounded, digest, withoutSecrets } from "./redact.ts";

test.each([
  ["secret", "s"],
  ["Token", "t"],
  ["PASSWORD", { deep: "p" }],
  ["Authorization", "Bearer x"],
  ["api_key", "hsk_x"],
  ["llm_api_key", "sk"],
  ["X-Api-Key", "k"],
])("the value of %s is replaced", (name, value) => {
  expect(withoutSecrets({ items: [{ [name]: value, kept: 1 }] })).toEqual({ items: [{ [name]: "[redacted]", kept: 1 }] });
});

test("names that only look alike, and nulls, stay", () => {
  const body = { max_tokens: 5, secret: null, tokens: ["a"], content: "my secret" };
  expect(withoutSecrets(body)).toEqual(body);
});

test("headers that a webhook sends are replaced, whatever their names, and their params are not", () => {
  const http_config = { method: "POST", headers: { "X-Env": "prod" }, params: { a: "b" } };
  const hidden = { ...http_config, headers: { "X-Env": "[redacted]" } };
  expect(withoutSecrets({ http_config })).toEqual({ http_config: hidden });
  expect(withoutSecrets({ httpConfig: http_config }), "as gRPC messages spell it").toEqual({ httpConfig: hidden });
});

test("a member called __proto__ stays a member", () => {
  const body: unknown = JSON.parse('{"__proto__":{"token":"t"}}');
  expect(JSON.stringify(withoutSecrets(body))).toBe('{"__proto__":{"token":"[redacted]"}}');
});

test("64 KiB are kept, one byte more is not", () => {
  const text = "x".repeat(64 * 1024 - 2);
  expect(bounded(text)).toEqual({ value: text, bytes: 65_536 });
  expect(bounded(`${text}x`).value).toEqual({ truncated: true, size: 65_537 });
  expect(bounded("é".repeat(32_768)).value).toEqual({ truncated: true, size: 65_538 });
  expect(bounded(undefined).value).toBeNull();
});

test("a digest can be compared and not read", () => {
  expect(digest("abc")).toEqual({ sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", chars: 3 });
  expect(digest(null)).toBeNull();
});
