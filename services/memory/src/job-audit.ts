import { type EndedJob, type JobEntry, jobEntry } from "@memory-bank/audit";
import type { DomainEvent } from "@memory-bank/events";
import { isTerminal, type Job, type JobEnd, type JobStore, type JobSummary } from "@memory-bank/jobs";
import { auditRecorded } from "./events.ts";
import type { Consequences, MemoryStore } from "./memory-store.ts";

export interface JobAuditDeps {
  readonly jobs: Pick<JobStore, "find" | "children">;
  /** Makes events durable that no commit carries; they are published soon after. */
  readonly tell: (events: readonly DomainEvent[]) => Promise<void>;
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Keeps the text of memories in the log, also after they are forgotten. */
  readonly keepsText: boolean;
}

/** Leaves an entry in the audit log for every audited operation that ends, and for the parent that ends with its last child. */
export interface JobAudit {
  /** The store as a job's handler sees it: the commit that completes the job carries the entry, so that neither is without the other. */
  recordingStore(store: MemoryStore, job: Job): MemoryStore;
  /** For the job runner: records what no commit of a handler has recorded. */
  onEnded(job: Job, end: JobEnd): Promise<void>;
}

const auditedKinds = new Set(["retain", "batch_retain", "consolidation"]);

export function createJobAudit({ jobs, tell, nowUs, newId, keepsText }: JobAuditDeps): JobAudit {
  const entryOf = (job: Job | JobSummary, ended: Pick<EndedJob, "run" | "startedAtUs" | "endedAtUs" | "error" | "payload">) =>
    jobEntry(
      {
        operationId: job.id,
        operationType: job.kind,
        tenantId: job.tenantKey,
        bankId: String(ended.payload["bank_id"]),
        ...ended,
      },
      { keepsText },
    ).entry;

  const entryOfJob = (job: Job, error: string | undefined) =>
    entryOf(job, {
      run: String(job.epoch),
      // Taking a job is the last change of it before its handler begins.
      startedAtUs: job.updatedAtUs,
      endedAtUs: nowUs(),
      payload: job.payload,
      error,
    });

  const eventOf = (entries: readonly JobEntry[]): DomainEvent =>
    auditRecorded.create({ id: newId(), occurredAtUs: nowUs(), payload: { entries: [...entries] } });

  /** The entry of a job's parent, when the job is the last of its children to end; as if `job` had ended if it has not yet. */
  const entriesOfParent = async (job: Job, isFailed: boolean): Promise<JobEntry[]> => {
    if (job.parentId === null) return [];
    const parent = await jobs.find(job.parentId);
    if (!parent || !auditedKinds.has(parent.kind)) return [];
    const children = await jobs.children(parent.id);
    const others = children.filter((child) => child.id !== job.id);
    if (!others.every((child) => isTerminal(child.status))) return [];
    const failures = others.filter((child) => child.status === "failed").length + (isFailed ? 1 : 0);
    return [
      entryOf(parent, {
        // Whichever child is seen to end last, the parent's end is the same one.
        run: children.map((child) => child.epoch).join(" "),
        startedAtUs: parent.createdAtUs,
        endedAtUs: nowUs(),
        payload: parent.payload,
        error: failures > 0 ? (parent.error ?? `${failures} of ${children.length} parts failed`) : undefined,
      }),
    ];
  };

  return {
    recordingStore(store, job) {
      const withEntry = async <C extends Consequences>(commit: C): Promise<C> => {
        if (!commit.completes || !auditedKinds.has(job.kind)) return commit;
        const entries = [entryOfJob(job, undefined), ...(await entriesOfParent(job, false))];
        return { ...commit, events: [...commit.events, eventOf(entries)] };
      };
      return {
        ...store,
        commitRetain: async (commit) => store.commitRetain(await withEntry(commit)),
        commitConsolidation: async (commit) => store.commitConsolidation(await withEntry(commit)),
      };
    },

    async onEnded(job, end) {
      if (!auditedKinds.has(job.kind)) return;
      const isFailed = end.status === "failed";
      const own = end.status === "committed" ? [] : [entryOfJob(job, isFailed ? end.error : undefined)];
      const entries = [...own, ...(await entriesOfParent(job, isFailed))];
      if (entries.length > 0) await tell([eventOf(entries)]);
    },
  };
}
