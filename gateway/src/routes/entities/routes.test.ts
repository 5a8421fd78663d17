import { expect, test } from "vitest";
import { failing, fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type EntityRouteDeps, entityRoutes } from "./routes.ts";

const [smaller, larger] = ["7c9e6679-7425-40de-944b-e07fc1f90ae7", "9b2d7c1e-3f4a-4b5c-8d6e-7f8091a2b3c4"];
const maria = { id: smaller, canonicalName: "Maria", kind: "PERSON", mentionCount: 12, firstSeenUs: 0 };
const northwind = { id: larger, canonicalName: "Northwind", kind: "ORGANIZATION", mentionCount: 1 };

async function gatewayWith(answers: Partial<Record<keyof EntityRouteDeps["memory"], unknown>>) {
  const { client, calls } = fakeClient<EntityRouteDeps["memory"]>(answers);
  const gateway = await testGateway((app) => entityRoutes(app, { memory: client }));
  const send = (path: string, method: "GET" | "POST" = "GET") =>
    gateway.app.inject({ method, url: `/v1/default/banks/one/entities${path}`, headers: asOwner });
  return { ...gateway, send, calls };
}

test("the list shows names, mentions and dates", async () => {
  await using gateway = await gatewayWith({ listEntities: { entities: [maria, northwind], total: 2 } });
  const shown = { id: smaller, canonical_name: "Maria", mention_count: 12, last_seen: null, metadata: {} };
  const { items, ...page } = (await gateway.send("?limit=0")).json();
  expect(items[0]).toEqual({ ...shown, first_seen: "1970-01-01T00:00:00.000000Z" });
  expect(page).toEqual({ total: 2, limit: 0, offset: 0 });
});

test("the graph has its colours, and counts what it holds", async () => {
  const edge = { sourceId: smaller, targetId: larger, weight: 5, lastCooccurredUs: 1 };
  await using gateway = await gatewayWith({ getEntityGraph: { nodes: [maria, northwind], edges: [edge] } });
  expect((await gateway.send("/graph?min_count=-3&limit=99999")).json()).toEqual({
    nodes: [
      { data: { id: smaller, label: "Maria", color: "#42a5f5", mentionCount: 12 } },
      { data: { id: larger, label: "Northwind", color: "#90caf9", mentionCount: 1 } },
    ],
    edges: [
      {
        data: {
          id: `${smaller}-${larger}`,
          source: smaller,
          target: larger,
          weight: 5,
          linkType: "cooccurrence",
          lineStyle: "solid",
          color: "#ffd700",
          lastCooccurred: "1970-01-01T00:00:00.000001Z",
        },
      },
    ],
    total_entities: 2,
    total_edges: 1,
    limit: 10_000,
  });
  expect(gateway.calls).toEqual([["getEntityGraph", { bankId: "one", limit: 10_000, minCount: 1 }]]);
});

test("one entity is found by any form of its UUID; other text is simply unknown", async () => {
  await using gateway = await gatewayWith({ getEntity: maria });
  expect((await gateway.send(`/${smaller.toUpperCase()}`)).json()).toMatchObject({ id: smaller, observations: [] });
  expect(gateway.calls[0]![1].entityId).toBe(smaller);
  await using empty = await gatewayWith({ getEntity: failing("not_found", "ENTITY_NOT_FOUND", "Entity 'maria' not found") });
  const response = await empty.send("/maria");
  expect([response.statusCode, response.json().detail]).toEqual([404, "Entity 'maria' not found"]);
});

test("regeneration is gone, and says where to", async () => {
  await using gateway = await gatewayWith({});
  const response = await gateway.send(`/${smaller}/regenerate`, "POST");
  expect(response.statusCode).toBe(410);
  expect(response.json().detail).toContain("consolidate");
});
