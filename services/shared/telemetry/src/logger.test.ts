import { describe, expect, test } from "vitest";
import { createLogger, type LoggerOptions } from "./logger.ts";

const key = "hsk_0123456789abcDEF";

function recording(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const log = createLogger({ level: "info", destination: { write: (line) => lines.push(line) }, ...options });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "null") as Record<string, unknown> };
}

test("a line is JSON with level, time, members and message; lower levels are dropped", () => {
  const { log, lines, last } = recording();
  log.debug({ n: 1 }, "not seen");
  log.child({ service: "orders" }).warn({ orderId: "o1" }, "order is late");
  expect(lines).toHaveLength(1);
  expect(last()).toMatchObject({ level: "warn", service: "orders", orderId: "o1", msg: "order is late" });
  expect(last()["time"]).toMatch(/^\d{4}-\d\d-\d\dT/);
});

describe("secrets never reach a line", () => {
  test("by what they look like, wherever they stand", () => {
    const { log, lines } = recording();
    const error = new Error(`key ${key} refused`, { cause: new Error(key) });
    log.child({ caller: key }).error({ url: `/x?k=${key}`, deep: [{ a: [`Bearer ${key}`] }], err: error }, `failed for ${key}`);
    expect(lines.join()).not.toContain(key);
    expect(lines.join()).toContain("failed for [hidden]");
  });

  test.each([
    "authorization",
    "x-api-key",
    "llm_api_key",
    "clientSecret",
    "AUTH_KEY_PEPPER",
    "password",
    "Set-Cookie",
    "sessionToken",
  ])("by the name %s", (name) => {
    const { log, last } = recording();
    log.info({ request: { headers: { [name]: "plain", other: "kept" }, [name]: ["plain"] } }, "request");
    expect(last()["request"]).toEqual({ headers: { [name]: "[hidden]", other: "kept" }, [name]: "[hidden]" });
  });

  test("counts under such names stay", () => {
    const { log, last } = recording();
    log.info({ maxToken: 512, hasSecret: true, totalTokens: 3 }, "usage");
    expect(last()).toMatchObject({ maxToken: 512, hasSecret: true, totalTokens: 3 });
  });
});

test("odd values do not break a line", () => {
  const { log, last } = recording();
  const circular: Record<string, unknown> = {
    n: 1n,
    at: new Date(0),
    bytes: new Uint8Array(3),
    fn: () => 1,
    many: Array(99).fill(0),
  };
  circular["self"] = circular;
  log.info({ circular }, "odd");
  expect(last()["circular"]).toMatchObject({ n: "1", at: "1970-01-01T00:00:00.000Z", bytes: "[3 bytes]", self: "[circular]" });
  expect((last()["circular"] as { many: unknown[] }).many).toHaveLength(51);
});

test("an error keeps its type, reason, stack and cause", () => {
  const { log, last } = recording();
  log.error({ err: Object.assign(new TypeError("bad", { cause: new Error("root") }), { reason: "BAD" }) }, "failed");
  expect(last()["err"]).toMatchObject({
    type: "TypeError",
    message: "bad",
    reason: "BAD",
    cause: { type: "Error", message: "root" },
  });
  expect((last()["err"] as { stack: string }).stack).toContain("logger.test");
});

test("a pretty line is for a person, and hides the same", () => {
  const { log, lines } = recording({ pretty: true });
  log.info({ orderId: "o1", note: "two words", apiKey: "plain" }, "order taken");
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}order taken orderId=o1 note="two words" apiKey=\[hidden\]\n$/);
  log.error({ err: new Error("boom") }, "failed");
  expect(lines[1]).toMatch(/ERROR failed\n {2}Error: boom\n {6}at /);
});
