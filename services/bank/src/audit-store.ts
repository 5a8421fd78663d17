import type { AuditCount, AuditPeriod, FiledAuditEntry } from "./domain/audit.ts";

/** The audit log: entries of live banks, and those that belong to the tenant (`bankUid` null). */
export interface AuditStore {
  /**
   * Adds the entries and answers once they are durable. An entry whose id is there already is left as it is; one of a bank that
   * is not live is dropped. At most `AUDIT_BATCH_MAX`.
   */
  insert(entries: readonly FiledAuditEntry[]): Promise<void>;
  /** Newest start first, then descending id. Of a dead bank nothing. */
  list(query: AuditQuery): Promise<AuditPage>;
  /** Entries that start inside the period, by bucket and action; buckets without entries are absent. */
  count(query: AuditCountQuery): Promise<readonly AuditCount[]>;
  /** Deletes at most `AUDIT_SWEEP_MAX` entries that started before the instant, oldest first; answers how many. */
  deleteBefore(beforeUs: number): Promise<number>;
}

export interface AuditQuery {
  readonly tenantId: string;
  /** `null`: the entries that belong to the tenant. */
  readonly bankUid: string | null;
  readonly action?: string | undefined;
  readonly transport?: string | undefined;
  /** Inclusive, on the start of the call. */
  readonly startUs?: number | undefined;
  /** Exclusive, on the start of the call. */
  readonly endUs?: number | undefined;
  /** 1 to `AUDIT_PAGE_MAX`. */
  readonly limit: number;
  readonly offset: number;
}

export interface AuditPage {
  readonly entries: readonly FiledAuditEntry[];
  /** All matches, whatever the page. */
  readonly total: number;
}

export interface AuditCountQuery {
  readonly tenantId: string;
  readonly bankUid: string;
  readonly action?: string | undefined;
  readonly period: AuditPeriod;
}

export const AUDIT_BATCH_MAX = 500; // the contract's limit of one call
export const AUDIT_PAGE_MAX = 500; // the public contract's limit
export const AUDIT_SWEEP_MAX = 1_000; // one write holds up the others of the file
