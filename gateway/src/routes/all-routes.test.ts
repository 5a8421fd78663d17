import { expect, test } from "vitest";
import type { GatewayClients } from "../clients.ts";
import { testGateway } from "../test-gateway.ts";
import { routes } from "./all-routes.ts";

const noCalls = (name: string) =>
  new Proxy({}, { get: (_, method) => () => Promise.reject(new Error(`${name}.${String(method)} was called`)) });

const clients = Object.fromEntries(
  ["auth", "bank", "bankInternal", "memory", "reflect", "webhook"].map((name) => [name, noCalls(name)]),
) as unknown as GatewayClients;

const everything = () =>
  testGateway((app) =>
    routes({
      clients,
      nowUs: () => 0,
      newId: () => crypto.randomUUID(),
      log: { debug() {}, info() {}, warn() {}, error() {}, child: () => expect.fail() },
      version: "1.2.3",
      ready: async () => {},
      renderMetrics: async () => "up 1\n",
    })(app),
  );

test("every operation has an id of its own and a description of its answer", async () => {
  await using gateway = await everything();
  const { paths } = (await gateway.app.inject({ url: "/openapi.json" })).json<{
    paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
  }>();
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(15);
  for (const { responses } of operations) expect(Object.keys(responses)[0]).toMatch(/^(?:20[01]|202|4)/);
});

test("paths with fixed words are not taken for ids", async () => {
  await using gateway = await everything();
  const statusOf = async (url: string) => (await gateway.app.inject({ url })).statusCode;
  expect(await statusOf("/v1/default/banks/one/memories/list")).toBe(401);
  expect(await statusOf("/v1/other/banks/one/memories/list")).toBe(404);
});
