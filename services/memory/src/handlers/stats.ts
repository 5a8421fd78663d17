import { requirePrincipal } from "@memory-bank/context";
import type { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import type { Rpc } from "@memory-bank/rpc";
import { defined } from "../convert.ts";
import { buckets, timeSeriesOf } from "../domain/time-series.ts";
import { findBank, type MemoryDeps, readableUid } from "../memory-deps.ts";

type Stats = Pick<Rpc<typeof MemoryServiceService>, "getStats" | "getTimeSeries" | "listBankActivity" | "listObservationScopes">;

export const statsHandlers = (deps: MemoryDeps): Stats => ({
  async getStats(ctx, { bankId }) {
    const bankUid = await readableUid(deps, ctx, bankId);
    const [stats, operations] = await Promise.all([deps.store.stats(bankUid), deps.jobs.countByStatus(bankUid)]);
    const linksBreakdown = Object.fromEntries(
      [...stats.links].map(([type, links]) => [type, { byLinkType: Object.fromEntries(links) }]),
    );
    return {
      nodesByFactType: Object.fromEntries(stats.nodesByType),
      linksBreakdown,
      totalDocuments: stats.documents,
      pendingConsolidation: stats.pendingConsolidation,
      failedConsolidation: stats.failedConsolidation,
      operationsByStatus: Object.fromEntries(Object.entries(operations).filter(([, count]) => count > 0)),
      ...defined({ lastConsolidatedAtUs: stats.lastConsolidatedAtUs, lastMemoryWriteAtUs: stats.lastWriteAtUs }),
    };
  },

  async getTimeSeries(ctx, { bankId, period, timeField }) {
    const bankUid = await readableUid(deps, ctx, bankId);
    const { trunc, starts } = buckets(period, deps.nowUs());
    const field = timeField as "created_at" | "mentioned_at" | "occurred_start";
    const instants = await deps.store.instants(bankUid, field, starts[0]!);
    return { trunc, buckets: timeSeriesOf(starts, instants) };
  },

  async listBankActivity(ctx, { bankIds }) {
    const { tenantId, allowedBankIds } = requirePrincipal(ctx);
    const allowed = allowedBankIds === null ? undefined : new Set(allowedBankIds);
    const activity = await deps.store.activity(tenantId, bankIds.length > 0 ? bankIds : undefined);
    return {
      banks: activity
        .filter((bank) => allowed?.has(bank.bankId) ?? true)
        .map(({ bankId, bankUid, factCount, lastDocumentAtUs, lastWriteAtUs }) => ({
          bankId,
          bankUid,
          factCount,
          ...defined({ lastDocumentAtUs, lastWriteAtUs }),
        })),
    };
  },

  async listObservationScopes(ctx, { bankId }) {
    const bank = await findBank(deps, ctx, bankId);
    const scopes = bank ? await deps.store.observationScopes(bank.bankUid) : [];
    return { scopes: scopes.map(({ tags, count }) => ({ tags: [...tags], count })) };
  },
});
