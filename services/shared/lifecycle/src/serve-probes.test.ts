import { expect, test } from "vitest";
import { serveProbes } from "./serve-probes.ts";

test("live always, ready as the service says, metrics as they are, nothing else", async () => {
  let isUp = false;
  await using probes = await serveProbes({
    host: "127.0.0.1",
    port: 0,
    async ready() {
      if (!isUp) throw new Error("secret reason");
    },
    renderMetrics: async () => "jobs_total 1",
  });
  const get = async (path: string, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${probes.port}${path}`, { method });
    return `${response.status} ${(await response.text()).trim()}`;
  };
  expect(await get("/health/live")).toBe("200 live");
  expect(await get("/health/ready")).toBe("503 not ready");
  isUp = true;
  expect(await get("/health/ready?verbose")).toBe("200 ready");
  expect(await get("/metrics")).toBe("200 jobs_total 1");
  expect(await get("/")).toBe("404 not found");
  expect(await get("/metrics", "POST")).toBe("405 method not allowed");
});

test("a readiness that does not answer in time is none", async () => {
  await using probes = await serveProbes({
    host: "127.0.0.1",
    port: 0,
    ready: () => new Promise(() => undefined),
    renderMetrics: async () => "",
  });
  expect((await fetch(`http://127.0.0.1:${probes.port}/health/ready`)).status).toBe(503);
});
