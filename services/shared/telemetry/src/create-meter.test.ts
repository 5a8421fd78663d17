import { expect, test } from "vitest";
import { createMeter } from "./create-meter.ts";

test("renders what was counted, observed and set", async () => {
  const meter = createMeter();
  const orders = { name: "orders_total", help: "Orders", labels: ["kind"] };
  meter.counter(orders).add({ kind: "book" });
  meter.counter(orders).add({ kind: "book" }, 2);
  meter.histogram({ name: "wait_seconds", help: "Wait", buckets: [1, 2] }).observe(1.5);
  meter.gauge({ name: "queue_depth", help: "Depth" }).set(7);
  const text = await meter.render();
  expect(text).toContain('orders_total{kind="book"} 3');
  expect(text).toContain('wait_seconds_bucket{le="2"} 1');
  expect(text).toContain('wait_seconds_bucket{le="1"} 0');
  expect(text).toContain("queue_depth 7");
  expect(meter.contentType).toContain("text/plain");
});

test("a label that was not declared is refused", () => {
  expect(() => createMeter().counter({ name: "a_total", help: "A" }).add({ id: "1" })).toThrow(/label/);
});

test("two meters do not meet, and process metrics are asked for", async () => {
  const first = createMeter({ processMetrics: true });
  first.counter({ name: "a_total", help: "A" }).add();
  const second = createMeter();
  expect(await second.render()).not.toContain("a_total");
  expect(await first.render()).toContain("process_cpu_seconds_total");
});
