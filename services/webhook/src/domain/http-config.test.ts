import { describe, expect, test } from "vitest";
import { checkedHttpConfig, defaultHttpConfig } from "./http-config.ts";
import type { HttpConfig } from "./webhook.ts";

const refusal = { code: "invalid_argument", reason: "HTTP_CONFIG_REFUSED", violations: [] };
const check = (parts: Partial<HttpConfig>) => checkedHttpConfig({ ...defaultHttpConfig, ...parts });

describe("http_config", () => {
  test.each([
    "Host",
    "host",
    "Content-Length",
    "connection",
    "Transfer-Encoding",
    "keep-alive",
    "TE",
    "trailer",
    "Upgrade",
    "Expect",
    "Proxy-Authorization",
    "proxy-connection",
    "X-Hindsight-Signature",
    "webhook-id",
    "Webhook-Timestamp",
    "WEBHOOK-SIGNATURE",
    "traceparent",
    "tracestate",
  ])("header %s cannot be set", (name) => {
    expect(() => check({ headers: { [name]: "x" } })).toThrow(
      expect.objectContaining({ ...refusal, message: expect.stringContaining(`'${name}' cannot be set`) }),
    );
  });

  test.each(["", " ", "a b", "a:b", "ä", "a\r\nb", "a\0"])("'%s' is not a header name", (name) => {
    expect(() => check({ headers: { [name]: "x" } })).toThrow(expect.objectContaining(refusal));
  });

  test.each(["a\r\nX-Evil: 1", "a\nb", "a\0b", "\x7f", "€", "😀"])("%j is not a header value", (value) => {
    expect(() => check({ headers: { "x-a": value } })).toThrow(expect.objectContaining(refusal));
  });

  test("what may be set is taken as it is, the two headers of ours that the contract leaves open included", () => {
    const headers = {
      Authorization: "Bearer ü",
      "X-Env": "",
      "content-type": "text/plain",
      "X-Hindsight-Event": "mine",
      "x-a": "\t",
    };
    expect(check({ headers, params: { "a b": "ö&=" }, method: "GET", timeoutSeconds: 300 })).toMatchObject({ headers });
  });

  test("a name that differs from another only by case is refused", () => {
    expect(() => check({ headers: { "X-A": "1", "x-a": "2" } })).toThrow(expect.objectContaining(refusal));
  });

  test.each([0, -1, 301, 1.5, Number.NaN])("a timeout of %d s is refused", (timeoutSeconds) => {
    expect(() => check({ timeoutSeconds })).toThrow(expect.objectContaining(refusal));
  });

  test("other methods are refused", () => {
    expect(() => check({ method: "PUT" as "POST" })).toThrow(expect.objectContaining(refusal));
  });

  test("numbers and sizes of headers and params are bounded", () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-${index}`, "v"]));
    for (const config of [
      { headers: many },
      { params: many },
      { headers: { "x-a": "v".repeat(16 * 1024) } },
      { params: { a: "ü".repeat(2_000) } },
    ]) {
      expect(() => check(config)).toThrow(expect.objectContaining(refusal));
    }
  });
});
