import type { BankStats } from "@memory-bank/proto/memory/v1/memory";
import { instantTextOrNull } from "../instant-text.ts";

type Counts = Readonly<Record<string, number>>;

/** Link types that are shown even when there is no such link. */
const linkTypesShown = { entity: 0, semantic: 0, temporal: 0 };

/** All views of the counts are sums over the same two tables, so that they agree. */
export function bankStatsFromProto(bankId: string, stats: BankStats, operationsOfReflect: Counts) {
  const breakdown: Readonly<Record<string, Counts>> = Object.fromEntries(
    Object.entries(stats.linksBreakdown)
      .map(([type, links]) => [type, positive(links.byLinkType)] as const)
      .filter(([, links]) => sum(links) > 0),
  );
  const byLinkType = Object.values(breakdown).reduce<Counts>(add, linkTypesShown);
  const nodes = positive(stats.nodesByFactType);
  const operations = positive(add(stats.operationsByStatus, operationsOfReflect));
  return {
    bank_id: bankId,
    total_nodes: sum(nodes),
    total_links: sum(byLinkType),
    total_documents: stats.totalDocuments,
    total_observations: nodes["observation"] ?? 0,
    nodes_by_fact_type: nodes,
    links_by_fact_type: Object.fromEntries(Object.entries(breakdown).map(([type, links]) => [type, sum(links)])),
    links_by_link_type: byLinkType,
    links_breakdown: breakdown,
    pending_operations: operations["pending"] ?? 0,
    failed_operations: operations["failed"] ?? 0,
    pending_consolidation: stats.pendingConsolidation,
    failed_consolidation: stats.failedConsolidation,
    last_consolidated_at: instantTextOrNull(stats.lastConsolidatedAtUs),
    operations_by_status: operations,
    last_memory_write_at: instantTextOrNull(stats.lastMemoryWriteAtUs),
  };
}

function sum(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function add(a: Counts, b: Counts): Counts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

function positive(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
