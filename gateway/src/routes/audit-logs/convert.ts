import type { AuditEntry, AuditStats, ListAuditEntriesRequest } from "@memory-bank/proto/bank/v1/bank";
import type { Read } from "../../validation/containers.ts";
import { instantText } from "../instant-text.ts";
import { filterText } from "../request-parts.ts";
import type { auditQuery } from "./schemas.ts";

export function auditQueryToProto(bankId: string | undefined, query: Read<typeof auditQuery>): ListAuditEntriesRequest {
  return {
    bankId,
    action: filterText(query.action),
    transport: filterText(query.transport),
    startUs: query.start_date,
    endUs: query.end_date,
    limit: query.limit,
    offset: query.offset,
  };
}

export function auditEntryFromProto(entry: AuditEntry) {
  const { id, action, transport, startedAtUs, endedAtUs } = entry;
  return {
    id,
    action,
    transport,
    bank_id: entry.bankId ?? null,
    started_at: instantText(startedAtUs),
    ended_at: instantText(endedAtUs),
    duration_ms: Math.max(0, Math.floor((endedAtUs - startedAtUs) / 1000)),
    request: entry.request ?? null,
    response: (entry.response ?? null) as unknown,
    metadata: entry.metadata ?? {},
  };
}

export function auditStatsFromProto(bankId: string, { period, trunc, startUs, buckets }: AuditStats) {
  return {
    bank_id: bankId,
    period,
    trunc: trunc === "hour" ? ("hour" as const) : ("day" as const),
    start: instantText(startUs),
    buckets: buckets.map(({ timeUs, actions, total }) => ({ time: instantText(timeUs), actions, total })),
  };
}
