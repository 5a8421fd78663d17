import { silentLogger } from "@memory-bank/telemetry";
import { expect, test } from "vitest";
import type { GatewayClients } from "../clients.ts";
import type { Operation } from "../route.ts";
import { routes } from "../routes/all-routes.ts";
import { testGateway } from "../test-gateway.ts";
import { auditActions } from "./actions.ts";

/** These change nothing that anybody could see afterwards. */
const harmless = new Set(["testLanguageModel", "regenerateEntity"]);

test("every operation that changes something has an action, and every action an operation", async () => {
  const operations: Operation[] = [];
  await using _ = await testGateway((app) => {
    app.addHook("onRoute", ({ config }) => {
      if (config?.operation) operations.push(config.operation);
    });
    routes({
      clients: {} as GatewayClients,
      nowUs: () => 0,
      newId: () => crypto.randomUUID(),
      log: silentLogger,
      version: "1.2.3",
      ready: async () => {},
      renderMetrics: async () => "",
    })(app);
  });
  const changing = operations.filter(({ method, operationId }) => method !== "GET" && !harmless.has(operationId));
  expect(new Set(changing.map(({ operationId }) => operationId))).toEqual(new Set(Object.keys(auditActions)));
});
