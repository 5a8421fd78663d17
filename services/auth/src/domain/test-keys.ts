import type { ApiKey } from "./api-key.ts";

/** An unrestricted member key of tenant `acme` with everything unset, changed as the test needs it. */
export function testKey(changes: Partial<ApiKey> = {}): ApiKey {
  return {
    keyId: crypto.randomUUID(),
    tenantId: "acme",
    name: "test key",
    role: "member",
    capabilities: [],
    allowedBankIds: null,
    parentKeyId: null,
    metadata: {},
    keyPrefix: "hsk_abcdefgh",
    expiresAtUs: null,
    lastUsedAtUs: null,
    createdAtUs: 1_700_000_000_000_000,
    revokedAtUs: null,
    ...changes,
  };
}
