import { type AuditQueue, jobEntry } from "@memory-bank/audit";
import { isTerminal, type Job, type JobStore } from "@memory-bank/jobs";

export interface RefreshAuditDeps {
  readonly jobs: Pick<JobStore, "find">;
  readonly queue: Pick<AuditQueue, "add">;
  readonly nowUs: () => number;
}

/** Leaves an entry in the audit log for a refresh that has ended, right after its record says how. */
export async function auditRefresh({ jobs, queue, nowUs }: RefreshAuditDeps, taken: Job): Promise<void> {
  const ended = await jobs.find(taken.id);
  // Gone with its bank, or queued again since: then the next end leaves an entry.
  if (!ended || !isTerminal(ended.status) || ended.status === "cancelled") return;
  const { entry, bytes } = jobEntry(
    {
      operationId: ended.id,
      operationType: ended.kind,
      tenantId: ended.tenantKey,
      bankId: String(ended.payload["bank_id"]),
      run: String(taken.epoch),
      // Taking a job is the last change of it before its handler begins.
      startedAtUs: taken.updatedAtUs,
      endedAtUs: nowUs(),
      payload: ended.payload,
      error: ended.status === "failed" ? (ended.error ?? "Internal error") : undefined,
    },
    // A refresh carries no text of memories.
    { keepsText: true },
  );
  queue.add({ ...entry, response: entry.response ?? undefined }, bytes);
}
