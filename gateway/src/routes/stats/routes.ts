import type { FastifyInstance } from "fastify";
import type { GatewayClients } from "../../clients.ts";
import { route } from "../../route.ts";
import { optional } from "../../validation/containers.ts";
import { bool, str } from "../../validation/scalars.ts";
import { instantText } from "../instant-text.ts";
import { bankParams, bankUrl } from "../request-parts.ts";
import { bankStatsFromProto } from "./convert.ts";
import { bankStats, timeSeries } from "./schemas.ts";

export interface StatsRouteDeps {
  readonly memory: Pick<GatewayClients["memory"], "getStats" | "getTimeSeries">;
  readonly reflect: Pick<GatewayClients["reflect"], "countOperations">;
}

const periods = ["1h", "12h", "1d", "7d", "30d", "90d"];
const timeFields = ["created_at", "mentioned_at", "occurred_start"];

export function statsRoutes(app: FastifyInstance, { memory, reflect }: StatsRouteDeps): void {
  const tag = "statistics";

  route(app, {
    method: "GET",
    url: `${bankUrl}/stats`,
    operationId: "getBankStats",
    summary: "Count what a bank holds",
    tag,
    params: bankParams,
    query: { refresh: optional(bool({ description: "Accepted, without effect: nothing is cached" }), false) },
    response: bankStats,
    handler: async (ctx, { params: { bank_id: bankId } }) => {
      const [stats, operations] = await Promise.all([memory.getStats(ctx, { bankId }), reflect.countOperations(ctx, { bankId })]);
      return bankStatsFromProto(bankId, stats, operations.byStatus);
    },
  });

  route(app, {
    method: "GET",
    url: `${bankUrl}/stats/memories-timeseries`,
    operationId: "getMemoriesTimeSeries",
    summary: "Count memories over time",
    description: `Periods: ${periods.join(", ")}. An unknown period or time field is answered as the default one.`,
    tag,
    params: bankParams,
    query: { period: optional(str(), "7d"), time_field: optional(str(), "created_at") },
    response: timeSeries,
    handler: async (ctx, { params: { bank_id: bankId }, query }) => {
      const period = periods.includes(query.period) ? query.period : "7d";
      const timeField = timeFields.includes(query.time_field) ? query.time_field : "created_at";
      const { trunc, buckets } = await memory.getTimeSeries(ctx, { bankId, period, timeField });
      return {
        bank_id: bankId,
        period,
        trunc,
        time_field: timeField,
        buckets: buckets.map(({ timeUs, world, experience, observation }) => ({
          time: instantText(timeUs),
          world,
          experience,
          observation,
        })),
      };
    },
  });
}
