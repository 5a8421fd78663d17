import { expect, test } from "vitest";
import { fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type ObservationRouteDeps, observationRoutes } from "./routes.ts";

async function gatewayWith() {
  const { client, calls } = fakeClient<ObservationRouteDeps["memory"]>({
    clearObservations: { deletedCount: 2 },
    listObservationScopes: { scopes: [{ tags: [], count: 3 }] },
    consolidate: { operationId: "o", deduplicated: true },
    recoverConsolidation: { retriedCount: 5 },
  });
  const gateway = await testGateway((app) => observationRoutes(app, { memory: client }));
  const send = async (method: "GET" | "POST" | "DELETE", path: string, payload?: string) =>
    gateway.app.inject({ method, url: `/v1/default/banks/one${path}`, headers: asOwner, ...(payload && { payload }) });
  return { ...gateway, send, calls };
}

test("observations are counted by scope, cleared and made again", async () => {
  await using gateway = await gatewayWith();
  expect((await gateway.send("GET", "/observations/scopes")).json()).toEqual({ scopes: [{ tags: [], count: 3 }] });
  const cleared = { success: true, message: "Deleted 2 observations", deleted_count: 2 };
  expect((await gateway.send("DELETE", "/observations")).json()).toEqual(cleared);
  expect((await gateway.send("POST", "/consolidation/recover")).json()).toEqual({ retried_count: 5 });
});

test("consolidation needs no body, and takes scopes of its own", async () => {
  await using gateway = await gatewayWith();
  for (const body of [undefined, "{}", "null", '{"observation_scopes":null}', '{"observation_scopes":[["a"],[]]}']) {
    expect((await gateway.send("POST", "/consolidate", body)).json()).toEqual({ operation_id: "o", deduplicated: true });
  }
  const requests = gateway.calls.map(([, request]) => request);
  expect(requests.slice(0, 4)).toEqual([{ bankId: "one" }, { bankId: "one" }, { bankId: "one" }, { bankId: "one" }]);
  expect(requests[4].observationScopes).toEqual({ preset: "", explicit: [{ tags: ["a"] }, { tags: [] }] });
});
