import { expect, test } from "vitest";
import { fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type ConfigRouteDeps, configRoutes } from "./routes.ts";

test("configuration goes through as it is, nulls and unknown keys too", async () => {
  const answer = { bankId: "one", config: { retain_mission: null, retain_chunk_size: 3000 }, overrides: {} };
  const { client, calls } = fakeClient<ConfigRouteDeps["bank"]>({
    getBankConfig: answer,
    patchBankConfig: answer,
    resetBankConfig: answer,
  });
  await using gateway = await testGateway((app) => configRoutes(app, { bank: client }));
  const shown = { bank_id: "one", config: answer.config, overrides: {} };
  const url = "/v1/default/banks/one/config";
  expect((await gateway.app.inject({ url, headers: asOwner })).json()).toEqual(shown);
  const payload = JSON.stringify({ updates: { retain_mission: null, NEW_KEY: [1, { a: "b" }] } });
  expect((await gateway.app.inject({ method: "PATCH", url, headers: asOwner, payload })).json()).toEqual(shown);
  expect((await gateway.app.inject({ method: "DELETE", url, headers: asOwner })).json()).toEqual(shown);
  expect(calls.map(([method]) => method)).toEqual(["getBankConfig", "patchBankConfig", "resetBankConfig"]);
  expect(calls[1]![1].updates).toEqual({ retain_mission: null, NEW_KEY: [1, { a: "b" }] });
});
