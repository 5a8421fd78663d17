import { expect, test } from "vitest";
import { fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type StatsRouteDeps, statsRoutes } from "./routes.ts";

const stats = {
  nodesByFactType: { world: 4, observation: 2, fact: 0 },
  linksBreakdown: {
    world: { byLinkType: { entity: 3, semantic: 2, caused_by: 1 } },
    observation: { byLinkType: { entity: 1 } },
    fact: { byLinkType: { entity: 0 } },
  },
  totalDocuments: 3,
  pendingConsolidation: 1,
  failedConsolidation: 0,
  lastConsolidatedAtUs: 1_000_000,
  operationsByStatus: { pending: 1, completed: 2, failed: 0 },
};
const empty = {
  nodesByFactType: {},
  linksBreakdown: {},
  totalDocuments: 0,
  pendingConsolidation: 0,
  failedConsolidation: 0,
  operationsByStatus: {},
};

async function gatewayWith(getStats: unknown, byStatus: Record<string, number> = {}) {
  const memory = fakeClient<StatsRouteDeps["memory"]>({
    getStats,
    getTimeSeries: { trunc: "day", buckets: [{ timeUs: 0, world: 1, experience: 0, observation: 2 }] },
  });
  const reflect = fakeClient<StatsRouteDeps["reflect"]>({ countOperations: { byStatus } });
  const gateway = await testGateway((app) => statsRoutes(app, { memory: memory.client, reflect: reflect.client }));
  const get = async (path: string) =>
    (await gateway.app.inject({ url: `/v1/default/banks/one/stats${path}`, headers: asOwner })).json();
  return { ...gateway, get, calls: memory.calls };
}

test("the views of the counts agree, and operations of both owners are added", async () => {
  await using gateway = await gatewayWith(stats, { pending: 2, failed: 1 });
  expect(await gateway.get("?refresh=yes")).toEqual({
    bank_id: "one",
    total_nodes: 6,
    total_links: 7,
    total_documents: 3,
    total_observations: 2,
    nodes_by_fact_type: { world: 4, observation: 2 },
    links_by_fact_type: { world: 6, observation: 1 },
    links_by_link_type: { entity: 4, semantic: 2, temporal: 0, caused_by: 1 },
    links_breakdown: { world: { entity: 3, semantic: 2, caused_by: 1 }, observation: { entity: 1 } },
    pending_operations: 3,
    failed_operations: 1,
    pending_consolidation: 1,
    failed_consolidation: 0,
    last_consolidated_at: "1970-01-01T00:00:01.000000Z",
    operations_by_status: { pending: 3, completed: 2, failed: 1 },
    last_memory_write_at: null,
  });
});

test("a bank without anything has zeros, and the three link types that always stand", async () => {
  await using gateway = await gatewayWith(empty);
  expect(await gateway.get("")).toMatchObject({
    total_nodes: 0,
    total_links: 0,
    links_by_link_type: { entity: 0, semantic: 0, temporal: 0 },
    links_by_fact_type: {},
    operations_by_status: {},
  });
});

test("a time series says what was applied", async () => {
  await using gateway = await gatewayWith(empty);
  expect(await gateway.get("/memories-timeseries?period=2y&time_field=mentioned_at")).toEqual({
    bank_id: "one",
    period: "7d",
    trunc: "day",
    time_field: "mentioned_at",
    buckets: [{ time: "1970-01-01T00:00:00.000000Z", world: 1, experience: 0, observation: 2 }],
  });
  expect(gateway.calls.at(-1)![1]).toEqual({ bankId: "one", period: "7d", timeField: "mentioned_at" });
});
