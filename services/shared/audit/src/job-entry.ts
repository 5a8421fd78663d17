import { hash } from "node:crypto";
import { ENTRY_BYTES } from "./audit-queue.ts";
import { bounded, type JsonObject, withoutSecrets } from "./redact.ts";
import { withDigestedItems } from "./rpc-actions.ts";

/** A job that ended for good, as far as the log tells of it. */
export interface EndedJob {
  readonly operationId: string;
  readonly operationType: string;
  readonly tenantId: string;
  readonly bankId: string;
  /** Tells this run from those before an operation was queued again. */
  readonly run: string;
  readonly startedAtUs: number;
  readonly endedAtUs: number;
  readonly payload: JsonObject;
  /** Why it failed; absent when it was carried out. */
  readonly error?: string | undefined;
}

/** An entry as the event `audit.recorded.v1` carries it. */
export interface JobEntry {
  readonly id: string;
  readonly tenantId: string;
  readonly bankId: string;
  readonly action: string;
  readonly transport: "system";
  readonly startedAtUs: number;
  readonly endedAtUs: number;
  readonly request: JsonObject;
  readonly response: JsonObject | null;
  readonly metadata: JsonObject;
}

/**
 * The entry of a job, with its size. Its id follows from the operation and its run, so that an entry that is told twice is kept once.
 * Texts of memories are left out unless they are to be kept.
 */
export function jobEntry(job: EndedJob, { keepsText }: { readonly keepsText: boolean }): { entry: JobEntry; bytes: number } {
  const request = bounded(withoutSecrets(keepsText ? job.payload : withDigestedItems(job.payload)));
  const { tenantId, bankId, startedAtUs, endedAtUs, error } = job;
  const entry: JobEntry = {
    id: uuidOf(`${job.operationId} ${job.run}`),
    ...{ tenantId, bankId, startedAtUs, endedAtUs },
    action: job.operationType,
    transport: "system",
    request: request.value as JsonObject,
    response: error === undefined ? { status: "completed", operation_id: job.operationId } : null,
    metadata: error === undefined ? {} : { error },
  };
  return { entry, bytes: request.bytes + ENTRY_BYTES };
}

/** A UUID (version 8) that stands for the text. */
function uuidOf(text: string): string {
  const hex = hash("sha256", text, "hex");
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
