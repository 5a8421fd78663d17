import type { AuditEntry } from "@memory-bank/proto/bank/v1/bank";
import { expect, test } from "vitest";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type AuditLogRouteDeps, auditLogRoutes } from "./routes.ts";

const atUs = 1_772_625_600_000_000;
const entry: AuditEntry = {
  id: "e02f",
  action: "create_directive",
  transport: "http",
  bankId: "one",
  startedAtUs: atUs,
  endedAtUs: atUs + 12_999,
  request: { name: "Language" },
  response: { id: "a3bb" },
  metadata: { status_code: 200 },
  tenantId: "default",
};
const failed = { ...entry, bankId: undefined, request: undefined, response: undefined, metadata: undefined };

function opened() {
  const calls: unknown[] = [];
  const bank: AuditLogRouteDeps["bank"] = {
    async listAuditEntries(_ctx, request) {
      calls.push(request);
      return { entries: [entry, failed], total: 2 };
    },
    async getAuditStats(_ctx, request) {
      calls.push(request);
      return { period: "1d", trunc: "hour", startUs: atUs, buckets: [{ timeUs: atUs, actions: { retain: 2 }, total: 2 }] };
    },
  };
  return { gateway: testGateway((app) => auditLogRoutes(app, { bank })), calls };
}

test("entries are answered with every member, durations rounded down", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const url = "/v1/default/banks/one/audit-logs?action=create_directive&transport=http&start_date=2026-03-04&end_date=2026-03-05";
  const response = await running.app.inject({ url, headers: asOwner });
  expect(response.json()).toEqual({
    bank_id: "one",
    total: 2,
    limit: 50,
    offset: 0,
    items: [
      {
        id: "e02f",
        action: "create_directive",
        transport: "http",
        bank_id: "one",
        started_at: "2026-03-04T12:00:00.000000Z",
        ended_at: "2026-03-04T12:00:00.012999Z",
        duration_ms: 12,
        request: { name: "Language" },
        response: { id: "a3bb" },
        metadata: { status_code: 200 },
      },
      expect.objectContaining({ bank_id: null, request: null, response: null, metadata: {} }),
    ],
  });
  const midnightUs = atUs - 12 * 3_600_000_000;
  expect(calls).toEqual([
    {
      bankId: "one",
      action: "create_directive",
      transport: "http",
      startUs: midnightUs,
      endUs: midnightUs + 86_400_000_000,
      limit: 50,
      offset: 0,
    },
  ]);
});

test("the tenant's own log has no bank", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const response = await running.app.inject({ url: "/v1/audit-logs?limit=500", headers: asOwner });
  expect(response.json()).toMatchObject({ bank_id: null, total: 2, limit: 500 });
  expect(calls).toEqual([{ limit: 500, offset: 0 }]);
});

test.each(["limit=0", "limit=501", "start_date=soon", "end_date=2026-13-01"])("%s is a fault", async (query) => {
  const { gateway } = opened();
  await using running = await gateway;
  expect((await running.app.inject({ url: `/v1/audit-logs?${query}`, headers: asOwner })).statusCode).toBe(422);
});

test("statistics come in buckets", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const url = "/v1/default/banks/one/audit-logs/stats";
  const response = await running.app.inject({ url: `${url}?period=1d&action=retain`, headers: asOwner });
  expect(response.json()).toEqual({
    bank_id: "one",
    period: "1d",
    trunc: "hour",
    start: "2026-03-04T12:00:00.000000Z",
    buckets: [{ time: "2026-03-04T12:00:00.000000Z", actions: { retain: 2 }, total: 2 }],
  });
  expect(calls).toEqual([{ bankId: "one", action: "retain", period: "1d" }]);
  expect((await running.app.inject({ url: `${url}?period=2d`, headers: asOwner })).statusCode).toBe(422);
});
