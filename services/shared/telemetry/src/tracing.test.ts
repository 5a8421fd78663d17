import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { currentTraceparent, startTracing, withSpan } from "./tracing.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("without an SDK spans pass values and failures through and there is no trace", async () => {
  expect(await withSpan("work", { kind: "x" }, async () => 7, traceparent)).toBe(7);
  await expect(withSpan("work", {}, () => Promise.reject(new Error("boom")))).rejects.toThrow("boom");
  await using tracing = await startTracing({ OTEL_TRACES_EXPORTER: "none" }, "orders");
  expect(tracing).toBeDefined();
  expect(currentTraceparent()).toBeUndefined();
});

test("with an SDK a span continues the trace that came from outside and is sent when it is closed", async () => {
  const bodies: string[] = [];
  const collector = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  // The SDK reads its settings from the process itself.
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_METRICS_EXPORTER: "none",
  };
  Object.assign(process.env, settings, { OTEL_LOGS_EXPORTER: "none" });

  const tracing = await startTracing(settings, "orders");
  const inner = await withSpan("work", {}, async () => currentTraceparent(), traceparent);
  await tracing[Symbol.asyncDispose]();
  collector.close();

  expect(inner).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  expect(inner).not.toBe(traceparent);
  expect(bodies).toHaveLength(1);
  for (const part of ["0af7651916cd43dd8448eb211c80319c", '"name":"work"', '"orders"']) expect(bodies[0]).toContain(part);
});
