import { AppError } from "@memory-bank/errors";
import { expect, test } from "vitest";
import { fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type HealthRouteDeps, healthRoutes } from "./routes.ts";

async function gatewayWith(overrides: Partial<HealthRouteDeps> = {}, model: object = {}) {
  let nowUs = 1_000_000;
  const answer = { status: "ok", provider: "local", model: "local", latencyMs: 4, ...model };
  const { client } = fakeClient<HealthRouteDeps["reflect"]>({ testLanguageModel: answer });
  const gateway = await testGateway((app) =>
    healthRoutes(app, {
      reflect: client,
      nowUs: () => {
        nowUs += 1_500_000;
        return nowUs;
      },
      version: "1.2.3",
      ready: async () => {},
      renderMetrics: async () => "# TYPE up gauge\nup 1\n",
      ...overrides,
    }),
  );
  return { ...gateway, get: (url: string) => gateway.app.inject({ url }) };
}

test("live, ready, version and metrics need no key", async () => {
  await using gateway = await gatewayWith();
  expect((await gateway.get("/health/live")).json()).toEqual({ status: "alive", version: "1.2.3", uptime_seconds: 1.5 });
  for (const url of ["/health", "/health/ready"]) expect((await gateway.get(url)).json()).toEqual({ status: "healthy" });
  expect((await gateway.get("/version")).json()).toMatchObject({ api_version: "1.2.3", features: { mcp: false, worker: true } });
  const metrics = await gateway.get("/metrics");
  expect(metrics.body).toBe("# TYPE up gauge\nup 1\n");
  expect(metrics.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
});

test("a store that cannot be reached makes it unready, not dead", async () => {
  const ready = () => Promise.reject(new AppError("unavailable", "STORE_UNREACHABLE", "no store"));
  await using gateway = await gatewayWith({ ready });
  for (const url of ["/health", "/health/ready"]) {
    const response = await gateway.get(url);
    expect([response.statusCode, response.json()]).toEqual([503, { detail: "Service temporarily unavailable" }]);
  }
  expect((await gateway.get("/health/live")).statusCode).toBe(200);
});

test.each([
  [{ status: "ok" }, { ok: true, status: "connected", latency_ms: 4 }],
  [{ status: "disabled" }, { ok: false, status: "not_configured", latency_ms: null }],
  [
    { status: "error", error: "refused" },
    { ok: false, status: "unreachable", latency_ms: 4 },
  ],
])("a model that answers %j", async (model, expected) => {
  await using gateway = await gatewayWith({}, model);
  const url = "/v1/default/banks/one/health/llm";
  const answer = (await gateway.app.inject({ method: "POST", url, headers: asOwner })).json();
  expect(answer).toEqual({
    bank_id: "one",
    operations: ["retain", "consolidation", "reflect"].map((operation) => ({ operation, ...expected })),
  });
});
