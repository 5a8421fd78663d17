import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { literal, str } from "../../validation/scalars.ts";
import { bankParams, bankUrl, filterText } from "../request-parts.ts";
import { auditEntryFromProto, auditQueryToProto, auditStatsFromProto } from "./convert.ts";
import { auditPage, auditQuery, auditStats } from "./schemas.ts";

export interface AuditLogRouteDeps {
  readonly bank: Pick<GatewayClients["bank"], "listAuditEntries" | "getAuditStats">;
}

export function auditLogRoutes(app: FastifyInstance, { bank }: AuditLogRouteDeps): void {
  const tag = "audit log";

  route(app, {
    method: "GET",
    url: `${bankUrl}/audit-logs`,
    operationId: "listAuditLogs",
    summary: "List audited calls, most recent first",
    tag,
    params: bankParams,
    query: auditQuery,
    response: auditPage,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId }, query }) => {
      const { entries, total } = await bank.listAuditEntries(ctx, auditQueryToProto(bankId, query));
      const { limit, offset } = query;
      return { bank_id: bankId, total, limit, offset, items: entries.map(auditEntryFromProto) };
    },
  });

  route(app, {
    method: "GET",
    url: `${bankUrl}/audit-logs/stats`,
    operationId: "getAuditLogStats",
    summary: "Count audited calls over time",
    tag,
    params: bankParams,
    query: { action: optional(str()), period: optional(literal(["1d", "7d", "30d"]), "7d") },
    response: auditStats,
    errors: [404],
    handler: async (ctx, { params: { bank_id: bankId }, query: { action, period } }) =>
      auditStatsFromProto(bankId, await bank.getAuditStats(ctx, { bankId, action: filterText(action), period })),
  });

  route(app, {
    method: "GET",
    url: "/v1/audit-logs",
    operationId: "listTenantAuditLogs",
    summary: "List audited calls that belong to no bank",
    description: "Keys that were made and revoked, and deleted banks. For owners and admins.",
    tag,
    query: auditQuery,
    response: auditPage,
    handler: async (ctx, { query }) => {
      const { entries, total } = await bank.listAuditEntries(ctx, auditQueryToProto(undefined, query));
      const { limit, offset } = query;
      return { bank_id: null, total, limit, offset, items: entries.map(auditEntryFromProto) };
    },
  });
}
