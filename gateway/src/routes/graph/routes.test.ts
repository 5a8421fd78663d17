import type { MemoryUnit } from "@memory-bank/proto/memory/v1/memory";
import { expect, test } from "vitest";
import { fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type GraphRouteDeps, graphRoutes } from "./routes.ts";

const unitOf = (id: string, text: string): MemoryUnit => ({
  id,
  bankId: "one",
  text,
  context: "",
  type: "world",
  entities: [{ id: "e", name: "Maria", kind: "PERSON" }],
  mentionedAtUs: 0,
  proofCount: 1,
  tags: [],
  metadata: {},
  state: "valid",
  createdAtUs: 1,
  updatedAtUs: 1,
  sourceMemories: [],
  sourceMemoryIds: [],
});

test("units are nodes and rows, links are edges with an id of their own", async () => {
  const links = [
    { fromId: "a", toId: "b", type: "semantic", weight: 0.8 },
    { fromId: "a", toId: "b", type: "entity", weight: 1, entityName: "Maria" },
    { fromId: "a", toId: "b", type: "entity", weight: 1, entityName: "Lisbon" },
  ];
  const long = "😀".repeat(80);
  const { client, calls } = fakeClient<GraphRouteDeps["memory"]>({
    getMemoryGraph: { units: [unitOf("a", long), unitOf("b", "short")], links, totalUnits: 7 },
  });
  await using gateway = await testGateway((app) => graphRoutes(app, { memory: client }));
  const url = "/v1/default/banks/one/graph?type=world&q=maria&document_id=d&chunk_id=c&tags=t&limit=2";
  const graph = (await gateway.app.inject({ url, headers: asOwner })).json();
  expect(calls[0]![1]).toMatchObject({
    bankId: "one",
    type: "world",
    query: "maria",
    documentId: "d",
    chunkId: "c",
    tags: { tags: ["t"] },
    limit: 2,
  });
  expect(graph).toMatchObject({ total_units: 7, limit: 2 });
  expect(graph.nodes[0].data.label).toBe(`${"😀".repeat(59)}…`);
  expect(graph.nodes[1].data).toMatchObject({ id: "b", label: "short" });
  const ids = graph.edges.map(({ data }: { data: { id: string } }) => data.id);
  expect(new Set(ids).size).toBe(3);
  expect(graph.edges[1].data).toMatchObject({ source: "a", target: "b", linkType: "entity", entityName: "Maria" });
  expect(graph.edges[0].data.entityName).toBeNull();
  expect(graph.table_rows[0]).toMatchObject({
    id: "a",
    text: long,
    date: "1970-01-01T00:00:00.000000Z",
    entities: "Maria (PERSON)",
  });
});
