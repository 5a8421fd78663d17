export { type AuditQueue, type AuditQueueDeps, cannotRecord, createAuditQueue, ENTRY_BYTES } from "./audit-queue.ts";
export { isMutation } from "./mutations.ts";
export { bounded, digest, isObject, type JsonObject, withoutSecrets } from "./redact.ts";
export { createRpcAudit, type RpcAudit, type RpcAuditDeps } from "./rpc-audit.ts";
