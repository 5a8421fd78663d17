import { AppError } from "@memory-bank/errors";
import type { ApiKey, CreatedApiKey } from "@memory-bank/proto/auth/v1/auth";
import { instantText, instantTextOrNull } from "../instant-text.ts";

export function keyFromProto(key: ApiKey) {
  return {
    id: key.id,
    key_prefix: key.keyPrefix,
    name: key.name,
    parent_key_id: key.parentKeyId ?? null,
    allowed_bank_ids: key.allowedBankIds?.values ?? null,
    capabilities: key.capabilities,
    role: key.role,
    metadata: key.metadata ?? {},
    status: key.status,
    expires_at: instantTextOrNull(key.expiresAtUs),
    last_used_at: instantTextOrNull(key.lastUsedAtUs),
    created_at: instantText(key.createdAtUs),
    ...(key.revokedAtUs !== undefined && { revoked_at: instantText(key.revokedAtUs) }),
  };
}

export function createdKeyFromProto({ key, apiKey }: CreatedApiKey) {
  if (!key) throw new AppError("internal", "MALFORMED_ANSWER", "auth answered a secret without its record");
  const { id, ...members } = keyFromProto(key);
  return { id, api_key: apiKey, ...members };
}
