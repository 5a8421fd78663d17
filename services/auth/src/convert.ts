import type { Principal, Role } from "@memory-bank/context";
import type * as proto from "@memory-bank/proto/auth/v1/auth";
import { expiresAtUsOf, type KeyLineage, lineageKeyIdsOf, revokedAtUsOf, statusOf } from "./domain/api-key.ts";
import type { KeyRequest, ScopedKeyRequest } from "./domain/new-key.ts";

export function keyToProto(lineage: KeyLineage, nowUs: number): proto.ApiKey {
  const { key } = lineage;
  return {
    id: key.keyId,
    name: key.name,
    role: key.role,
    capabilities: [...key.capabilities],
    allowedBankIds: stringListToProto(key.allowedBankIds),
    parentKeyId: key.parentKeyId ?? undefined,
    metadata: key.metadata,
    keyPrefix: key.keyPrefix,
    status: statusOf(lineage, nowUs),
    expiresAtUs: key.expiresAtUs ?? undefined,
    lastUsedAtUs: key.lastUsedAtUs ?? undefined,
    createdAtUs: key.createdAtUs,
    revokedAtUs: revokedAtUsOf(lineage) ?? undefined,
  };
}

export function verifiedKeyToProto(lineage: KeyLineage): proto.VerifyKeyResponse {
  const { tenantId, keyId, role, capabilities, allowedBankIds } = lineage.key;
  return {
    tenantId,
    keyId,
    lineageKeyIds: lineageKeyIdsOf(lineage),
    role,
    capabilities: [...capabilities],
    allowedBankIds: stringListToProto(allowedBankIds),
    expiresAtUs: expiresAtUsOf(lineage) ?? undefined,
  };
}

/** Whom a verified key stands for; the roles are those that `verifiedKeyToProto` wrote. */
export function principalFromProto({ tenantId, keyId, role, capabilities, allowedBankIds }: proto.VerifyKeyResponse): Principal {
  return { tenantId, keyId, role: role as Role, capabilities, allowedBankIds: allowedBankIds?.values ?? null };
}

export function keyRequestFromProto(request: proto.CreateApiKeyRequest): KeyRequest {
  return {
    name: request.name,
    expiration: request.expiration === "" ? null : request.expiration,
    expiresInDays: request.expiresInDays ?? null,
    allowedBankIds: request.allowedBankIds?.values ?? null,
    capabilities: request.capabilities,
    role: request.role === "" ? null : request.role,
  };
}

export function scopedKeyRequestFromProto(request: proto.CreateScopedApiKeyRequest): ScopedKeyRequest {
  const { name, allowedBankIds, expiresInDays, metadata } = request;
  return { name, allowedBankIds, expiresInDays, metadata: metadata ?? {} };
}

const stringListToProto = (values: readonly string[] | null) => (values === null ? undefined : { values: [...values] });
