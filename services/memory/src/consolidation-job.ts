import type { NewJob } from "@memory-bank/jobs";
import type { BankRef } from "./domain/unit.ts";

/** Writes to a bank within this time share one run. */
const settleUs = 500_000;

/** The bank's consolidation run: at most one runs, at most one waits. */
export function consolidationJob({ tenantId, bankUid, bankId }: BankRef, id: string, nowUs: number): NewJob {
  const key = `consolidation ${bankUid}`;
  return {
    id,
    kind: "consolidation",
    groupKey: bankUid,
    tenantKey: tenantId,
    serialKey: key,
    dedupeKey: key,
    payload: { bank_id: bankId },
    runAtUs: nowUs + settleUs,
    createdAtUs: nowUs,
  };
}
