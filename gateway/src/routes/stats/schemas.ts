import { Type } from "typebox";
import { component } from "../../validation/schema.ts";
import { count, counts, instant, instantOrNull } from "../answer-parts.ts";

export const bankStats = component(
  "BankStats",
  Type.Object({
    bank_id: Type.String(),
    total_nodes: count,
    total_links: count,
    total_documents: count,
    total_observations: count,
    nodes_by_fact_type: counts,
    links_by_fact_type: counts,
    links_by_link_type: counts,
    links_breakdown: Type.Record(Type.String(), counts),
    pending_operations: count,
    failed_operations: count,
    pending_consolidation: count,
    failed_consolidation: count,
    last_consolidated_at: instantOrNull,
    operations_by_status: counts,
    last_memory_write_at: instantOrNull,
  }),
);

export const timeSeries = Type.Object({
  bank_id: Type.String(),
  period: Type.String(),
  trunc: Type.String(),
  time_field: Type.String(),
  buckets: Type.Array(Type.Object({ time: instant, world: count, experience: count, observation: count })),
});
