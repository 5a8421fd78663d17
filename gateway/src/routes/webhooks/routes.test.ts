import { AppError } from "@memory-bank/errors";
import type { Delivery, Webhook } from "@memory-bank/proto/webhook/v1/webhook";
import { expect, test } from "vitest";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type DeliveryRouteDeps, deliveryRoutes } from "./delivery-routes.ts";
import { type WebhookRouteDeps, webhookRoutes } from "./routes.ts";

const atUs = 1_772_625_600_000_000;
const stored: Webhook = {
  id: "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
  bankId: "one",
  url: "https://hooks.example.com/mem",
  secret: "whs-1f9c",
  eventTypes: ["retain.completed"],
  enabled: true,
  httpConfig: { method: "POST", timeoutSeconds: 30, headers: { "X-Env": "prod" }, params: {} },
  createdAtUs: atUs,
  updatedAtUs: atUs,
};
const delivery: Delivery = {
  id: "c9bf9e57-1685-4c89-bafb-ff5af830be8a",
  webhookId: stored.id,
  url: stored.url,
  eventType: "retain.completed",
  status: "pending",
  attempts: 0,
  createdAtUs: atUs,
  updatedAtUs: atUs,
};

type Client = WebhookRouteDeps["webhook"] & DeliveryRouteDeps["webhook"];

function openWith(answers: Partial<Record<keyof Client, unknown>> = {}) {
  const calls: unknown[] = [];
  const answering = (method: keyof Client, usual: unknown) => async (_ctx: unknown, request: unknown) => {
    calls.push([method, request]);
    const answer = answers[method] ?? usual;
    if (answer instanceof Error) throw answer;
    return answer as never;
  };
  const webhook: Client = {
    createWebhook: answering("createWebhook", stored),
    listWebhooks: answering("listWebhooks", { webhooks: [stored, { ...stored, secret: undefined }] }),
    updateWebhook: answering("updateWebhook", stored),
    deleteWebhook: answering("deleteWebhook", {}),
    listDeliveries: answering("listDeliveries", { deliveries: [delivery], nextBeforeUs: atUs }),
    redeliverDelivery: answering("redeliverDelivery", { queued: 1 }),
    redeliverFailed: answering("redeliverFailed", { queued: 3 }),
    testWebhook: answering("testWebhook", { queued: 1 }),
  };
  const gateway = testGateway((app) => {
    webhookRoutes(app, { webhook });
    deliveryRoutes(app, { webhook });
  });
  return { gateway, calls };
}

const url = "/v1/default/banks/one/webhooks";
const oneUrl = `${url}/${stored.id}`;
const names = { bankId: "one", webhookId: stored.id };

test("a new webhook is answered with 201, its secret and its defaults", async () => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  const payload = { url: stored.url, secret: "whs-1f9c" };
  const response = await opened.app.inject({ method: "POST", url, headers: asOwner, payload });
  expect(response.statusCode).toBe(201);
  expect(response.json()).toEqual({
    id: stored.id,
    bank_id: "one",
    ...payload,
    event_types: ["retain.completed"],
    enabled: true,
    http_config: { method: "POST", timeout_seconds: 30, headers: { "X-Env": "prod" }, params: {} },
    created_at: "2026-03-04T12:00:00.000000Z",
    updated_at: "2026-03-04T12:00:00.000000Z",
  });
  expect(calls).toEqual([
    ["createWebhook", { bankId: "one", ...payload, eventTypes: ["consolidation.completed"], enabled: true }],
  ]);
});

test("a list has no page, and a missing secret reads null", async () => {
  const { gateway } = openWith();
  await using opened = await gateway;
  const answer = (await opened.app.inject({ url, headers: asOwner })).json<{ items: { secret: unknown }[] }>();
  expect(Object.keys(answer)).toEqual(["items"]);
  expect(answer.items.map(({ secret }) => secret)).toEqual(["whs-1f9c", null]);
});

test.each<[string, object, object]>([
  ["a secret that is given", { secret: "new" }, { secret: "new", clearSecret: false }],
  ["a null secret, which clears", { secret: null }, { clearSecret: true }],
  ["no secret, which keeps it", { enabled: false, url: null }, { clearSecret: false, enabled: false }],
  ["nulls that change nothing", { url: null, enabled: null }, { clearSecret: false }],
  ["no events at all", { event_types: [] }, { clearSecret: false, eventTypes: { values: [] } }],
  [
    "a configuration, as a whole",
    { http_config: { method: "GET" } },
    { clearSecret: false, httpConfig: { method: "GET", timeoutSeconds: 30, headers: {}, params: {} } },
  ],
])("a change takes %s", async (_name, payload, expected) => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  expect((await opened.app.inject({ method: "PATCH", url: oneUrl, headers: asOwner, payload })).statusCode).toBe(200);
  expect(calls).toEqual([["updateWebhook", { ...names, ...expected }]]);
});

test.each([{}, { other: 1 }])("the change %j names nothing and is refused", async (payload) => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  const response = await opened.app.inject({ method: "PATCH", url: oneUrl, headers: asOwner, payload });
  expect(response.statusCode).toBe(422);
  expect(response.json()).toMatchObject({
    detail: [{ type: "value_error", loc: ["body"], msg: "Value error, No fields provided to update" }],
  });
  expect(calls).toEqual([]);
});

test("a method that is neither POST nor GET is a literal error", async () => {
  const { gateway } = openWith();
  await using opened = await gateway;
  const payload = { url: stored.url, http_config: { method: "PUT", timeout_seconds: 301 } };
  const response = await opened.app.inject({ method: "POST", url, headers: asOwner, payload });
  expect(response.json<{ detail: { type: string; loc: unknown }[] }>().detail.map(({ type, loc }) => [type, loc])).toEqual([
    ["literal_error", ["body", "http_config", "method"]],
    ["less_than_equal", ["body", "http_config", "timeout_seconds"]],
  ]);
});

test("refusals of the service keep their status and text", async () => {
  const blocked = new AppError("invalid_argument", "DESTINATION_REFUSED", "Webhook url points to a private address");
  const unknown = new AppError("not_found", "WEBHOOK_NOT_FOUND", "Webhook not found");
  const { gateway } = openWith({ createWebhook: blocked, deleteWebhook: unknown });
  await using opened = await gateway;
  const created = await opened.app.inject({ method: "POST", url, headers: asOwner, payload: { url: "http://10.0.0.1" } });
  expect([created.statusCode, created.json()]).toEqual([400, { detail: "Webhook url points to a private address" }]);
  const deleted = await opened.app.inject({ method: "DELETE", url: oneUrl, headers: asOwner });
  expect([deleted.statusCode, deleted.json()]).toEqual([404, { detail: "Webhook not found" }]);
});

test("deliveries show every member, and their cursor goes back in as it came", async () => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  const first = await opened.app.inject({ url: `${oneUrl}/deliveries`, headers: asOwner });
  const { items, next_cursor } = first.json<{ items: object[]; next_cursor: string }>();
  expect(items).toEqual([
    {
      id: delivery.id,
      webhook_id: stored.id,
      url: stored.url,
      event_type: "retain.completed",
      status: "pending",
      attempts: 0,
      next_retry_at: null,
      last_error: null,
      last_response_status: null,
      last_response_body: null,
      last_attempt_at: null,
      created_at: "2026-03-04T12:00:00.000000Z",
      updated_at: "2026-03-04T12:00:00.000000Z",
    },
  ]);
  await opened.app.inject({ url: `${oneUrl}/deliveries?limit=200&cursor=${next_cursor}`, headers: asOwner });
  expect(calls).toEqual([
    ["listDeliveries", { ...names, limit: 50 }],
    ["listDeliveries", { ...names, limit: 200, beforeUs: atUs }],
  ]);
});

test.each([
  ["limit=0", "greater_than_equal"],
  ["limit=201", "less_than_equal"],
  ["cursor=yesterday", "datetime_from_date_parsing"],
])("deliveries refuse %s", async (query, type) => {
  const { gateway } = openWith();
  await using opened = await gateway;
  const response = await opened.app.inject({ url: `${oneUrl}/deliveries?${query}`, headers: asOwner });
  expect(response.json()).toMatchObject({ detail: [{ type }] });
});

test("sending again answers how many were queued", async () => {
  const { gateway, calls } = openWith();
  await using opened = await gateway;
  const post = async (path: string, payload?: object) =>
    (await opened.app.inject({ method: "POST", url: `${oneUrl}${path}`, headers: asOwner, ...(payload && { payload }) })).json();
  expect(await post(`/deliveries/${delivery.id}/redeliver`)).toEqual({ queued: 1 });
  expect(await post("/redeliver", { since: "2026-03-04T12:00:00Z" })).toEqual({ queued: 3 });
  expect(await post("/test")).toEqual({ queued: 1 });
  expect(await post("/redeliver", {})).toMatchObject({ detail: [{ type: "missing", loc: ["body", "since"] }] });
  expect(calls).toEqual([
    ["redeliverDelivery", { ...names, deliveryId: delivery.id }],
    ["redeliverFailed", { ...names, sinceUs: atUs }],
    ["testWebhook", names],
  ]);
});
