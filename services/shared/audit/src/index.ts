export { type AuditQueue, type AuditQueueDeps, cannotRecord, createAuditQueue, ENTRY_BYTES } from "./audit-queue.ts";
export { type EndedJob, type JobEntry, jobEntry } from "./job-entry.ts";
export { isMutation } from "./mutations.ts";
export { bounded, digest, isObject, type JsonObject, withoutSecrets } from "./redact.ts";
export { createRpcAudit, type RpcAudit, type RpcAuditDeps } from "./rpc-audit.ts";
