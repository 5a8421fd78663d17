import type { Role } from "@memory-bank/context";
import type { Credential } from "../../auth-store.ts";
import type { ApiKey, Capability, KeyLineage } from "../../domain/api-key.ts";

/** A key (`k`) with the life of its parent (`p`), as `keyColumns` selects it. */
export type KeyRow = {
  key_id: string;
  tenant_id: string;
  parent_key_id: string | null;
  name: string;
  role: string;
  capabilities: string;
  allowed_bank_ids: string | null;
  metadata: string;
  key_prefix: string;
  created_at_us: number;
  expires_at_us: number | null;
  last_used_at_us: number | null;
  revoked_at_us: number | null;
  parent_expires_at_us: number | null;
  parent_revoked_at_us: number | null;
};
export type KnownKeyRow = KeyRow & { secret_hash: Uint8Array<ArrayBuffer> };

export const keyColumns = `k.key_id, k.tenant_id, k.parent_key_id, k.name, k.role, k.capabilities, k.allowed_bank_ids, k.metadata,
  k.key_prefix, k.created_at_us, k.expires_at_us, k.last_used_at_us, k.revoked_at_us,
  p.expires_at_us AS parent_expires_at_us, p.revoked_at_us AS parent_revoked_at_us`;

export function keyFromRow(row: KeyRow): KeyLineage {
  const key: ApiKey = {
    keyId: row.key_id,
    tenantId: row.tenant_id,
    parentKeyId: row.parent_key_id,
    name: row.name,
    role: row.role as Role,
    capabilities: JSON.parse(row.capabilities) as Capability[],
    allowedBankIds: row.allowed_bank_ids === null ? null : (JSON.parse(row.allowed_bank_ids) as string[]),
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    keyPrefix: row.key_prefix,
    createdAtUs: row.created_at_us,
    expiresAtUs: row.expires_at_us,
    lastUsedAtUs: row.last_used_at_us,
    revokedAtUs: row.revoked_at_us,
  };
  if (row.parent_key_id === null) return { key, parent: null };
  const { parent_expires_at_us: expiresAtUs, parent_revoked_at_us: revokedAtUs } = row;
  return { key, parent: { keyId: row.parent_key_id, expiresAtUs, revokedAtUs } };
}

export function keyToRow(key: ApiKey, { lookup, secretHash }: Credential) {
  return {
    key_id: key.keyId,
    tenant_id: key.tenantId,
    parent_key_id: key.parentKeyId,
    name: key.name,
    role: key.role,
    capabilities: JSON.stringify(key.capabilities),
    allowed_bank_ids: key.allowedBankIds && JSON.stringify(key.allowedBankIds),
    metadata: JSON.stringify(key.metadata),
    key_prefix: key.keyPrefix,
    lookup,
    secret_hash: secretHash,
    created_at_us: key.createdAtUs,
    expires_at_us: key.expiresAtUs,
    last_used_at_us: key.lastUsedAtUs,
    revoked_at_us: key.revokedAtUs,
  };
}
