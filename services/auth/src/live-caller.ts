import { type CallContext, requirePrincipal } from "@memory-bank/context";
import type { AuthStore } from "./auth-store.ts";
import { type ApiKey, statusOf } from "./domain/api-key.ts";
import { invalidKey } from "./domain/invalid-key.ts";

/**
 * The caller's key as the store has it now. Keys are managed on this record alone: what a gateway remembers of a
 * verification, up to a second old, lets nobody make keys with a key that is gone.
 */
export async function requireLiveCaller(store: Pick<AuthStore, "find">, ctx: CallContext, nowUs: number): Promise<ApiKey> {
  const { tenantId, keyId } = requirePrincipal(ctx);
  const found = await store.find(tenantId, keyId);
  if (!found || statusOf(found, nowUs) !== "active") throw invalidKey();
  return found.key;
}
