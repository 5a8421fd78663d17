import type { JsonObject, NewJob } from "@memory-bank/jobs";
import type { BankRef, ObservationScopes } from "./domain/unit.ts";

/** Writes to a bank within this time share one run. */
const settleUs = 500_000;

export interface ConsolidationPayload extends JsonObject {
  readonly bank_id: string;
  /** Replaces the scopes of the units for this run; absent: each unit's own. */
  readonly observation_scopes?: Exclude<ObservationScopes, readonly unknown[]> | readonly (readonly string[])[];
}

/**
 * The bank's consolidation run: at most one runs, and at most one without scopes of its own waits. A run with scopes is never
 * taken for one without.
 */
export function consolidationJob(
  { tenantId, bankUid, bankId }: BankRef,
  id: string,
  nowUs: number,
  { scopes, isUrgent = false }: { readonly scopes?: ObservationScopes | undefined; readonly isUrgent?: boolean } = {},
): NewJob {
  const key = `consolidation ${bankUid}`;
  const payload: ConsolidationPayload = { bank_id: bankId, ...(scopes === undefined ? {} : { observation_scopes: scopes }) };
  return {
    id,
    kind: "consolidation",
    groupKey: bankUid,
    tenantKey: tenantId,
    serialKey: key,
    ...(scopes === undefined ? { dedupeKey: key } : {}),
    payload,
    runAtUs: isUrgent ? nowUs : nowUs + settleUs,
    createdAtUs: nowUs,
  };
}
