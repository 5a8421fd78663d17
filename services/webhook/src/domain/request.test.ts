import { describe, expect, test } from "vitest";
import { type AttemptParts, requestOf } from "./request.ts";
import type { HttpConfig, Target } from "./webhook.ts";

const nowUs = 1_790_000_000_500_000;
const body = new TextEncoder().encode('{"event":"retain.completed"}');
const deliveryId = "c9bf9e57-1685-4c89-bafb-ff5af830be8a";

function request(
  target: Partial<Omit<Target, "httpConfig">> & { httpConfig?: Partial<HttpConfig> } = {},
  parts: Partial<AttemptParts> = {},
) {
  const httpConfig: HttpConfig = { method: "POST", timeoutSeconds: 30, headers: {}, params: {}, ...target.httpConfig };
  return requestOf({
    deliveryId,
    eventType: "retain.completed",
    body,
    traceparent: null,
    target: { url: "https://hooks.test/a", secret: null, retiredSecrets: [], ...target, httpConfig },
    nowUs,
    spanId: "00f067aa0ba902b7",
    ...parts,
  });
}

describe("requests", () => {
  test("a POST carries the queued bytes, its type and its event", () => {
    expect(request()).toEqual({
      method: "POST",
      url: "https://hooks.test/a",
      headers: {
        "content-type": "application/json",
        "user-agent": "memory-bank-webhook/1",
        "accept-encoding": "identity",
        "x-hindsight-event": "retain.completed",
        traceparent: "00-c9bf9e5716854c89bafbff5af830be8a-00f067aa0ba902b7-00",
      },
      body,
      timeoutMs: 30_000,
    });
  });

  test("with a secret it is signed both ways, and without one it carries none of those headers", () => {
    const { headers } = request({ secret: "s" });
    expect(headers).toMatchObject({
      "x-hindsight-signature": expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      "webhook-id": deliveryId,
      "webhook-timestamp": "1790000000",
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(Object.keys(request().headers).filter((name) => /webhook-|signature/.test(name))).toEqual([]);
  });

  test("Hindsight's header uses the new secret while the other header holds both", () => {
    const retiredSecrets = [{ secret: "old", untilUs: nowUs + 1 }];
    const { headers } = request({ secret: "new", retiredSecrets });
    expect(headers["x-hindsight-signature"]).toBe(request({ secret: "new" }).headers["x-hindsight-signature"]);
    expect(headers["webhook-signature"]!.split(" ")).toEqual([
      request({ secret: "new" }).headers["webhook-signature"],
      request({ secret: "old" }).headers["webhook-signature"],
    ]);
  });

  test("a GET has no body and is signed over the empty one", () => {
    const get = request({ secret: "s", httpConfig: { method: "GET" } });
    expect(get).toMatchObject({ method: "GET", body: null });
    const empty = request({ secret: "s" }, { body: new Uint8Array() });
    expect(get.headers["x-hindsight-signature"]).toBe(empty.headers["x-hindsight-signature"]);
    expect(get.headers["webhook-signature"]).toBe(empty.headers["webhook-signature"]);
  });

  test("own headers are merged over ours, whatever their case, and never doubled", () => {
    const { headers } = request({ httpConfig: { headers: { "Content-Type": "text/plain", "X-Env": "prod", Accept: "a/b" } } });
    expect(headers).toMatchObject({ "content-type": "text/plain", "x-env": "prod", accept: "a/b" });
    expect(Object.keys(headers).every((name) => name === name.toLowerCase())).toBe(true);
  });

  test.each([
    { url: "https://hooks.test/a", params: {}, sent: "https://hooks.test/a" },
    { url: "https://hooks.test", params: { a: "1" }, sent: "https://hooks.test/?a=1" },
    {
      url: "https://hooks.test/a?x=%20+y",
      params: { "a b": "ö&=?" },
      sent: "https://hooks.test/a?x=%20+y&a%20b=%C3%B6%26%3D%3F",
    },
    { url: "https://hooks.test/a?#frag", params: { a: "1" }, sent: "https://hooks.test/a?a=1" },
    { url: "https://hooks.test/a#frag", params: {}, sent: "https://hooks.test/a" },
  ])("$url with $params goes to $sent", ({ url, params, sent }) => {
    expect(request({ url, httpConfig: { params } }).url).toBe(sent);
  });

  test("the trace of the cause goes on, with a span of this attempt", () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba90200-01";
    expect(request({}, { traceparent }).headers["traceparent"]).toBe("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    expect(request({}, { traceparent: "nonsense" }).headers["traceparent"]).toMatch(/^00-c9bf9e57/);
  });
});
