import { AppError } from "@memory-bank/errors";
import { type ApiKey, createScopedKeys, isWithinScope, managesKeys } from "./api-key.ts";

/** Which keys of a tenant a caller may see. */
export type KeyVisibility =
  | { readonly kind: "tenant" }
  | { readonly kind: "tenant_children" }
  | { readonly kind: "self_and_children"; readonly keyId: string }
  | { readonly kind: "children"; readonly keyId: string };

/** Owners and admins see their tenant's keys, others themselves and their children. */
export function visibleKeys(caller: ApiKey, childrenOnly: boolean): KeyVisibility {
  if (managesKeys(caller)) return { kind: childrenOnly ? "tenant_children" : "tenant" };
  if (!childrenOnly) return { kind: "self_and_children", keyId: caller.keyId };
  requireScopedKeys(caller);
  return { kind: "children", keyId: caller.keyId };
}

/**
 * Lets the caller revoke `target`, which is `undefined` when the tenant has no such key. Every key may revoke itself and its
 * children; beyond that it takes an owner or admin, only owners touch owner and admin keys, and nobody touches a key that
 * reaches banks which the own key does not. A caller who may not see a key learns nothing about whether it exists.
 */
export function requireMayRevoke(caller: ApiKey, target: ApiKey | undefined, childrenOnly: boolean): asserts target is ApiKey {
  const isOwn = target !== undefined && (target.keyId === caller.keyId || target.parentKeyId === caller.keyId);
  if (!isOwn && !managesKeys(caller)) {
    if (!childrenOnly) throw notAManager();
    requireScopedKeys(caller);
    throw keyNotFound();
  }
  if (target === undefined || (childrenOnly && target.parentKeyId === null)) throw keyNotFound();
  if (isOwn) return;
  if (target.role !== "member" && caller.role !== "owner") {
    throw new AppError("permission_denied", "NOT_AN_OWNER", "Only Owners can revoke owner and admin keys");
  }
  if (!isWithinScope(target.allowedBankIds, caller.allowedBankIds)) {
    throw new AppError("permission_denied", "SCOPE_TOO_WIDE", "API key is not allowed to act on a key with more banks");
  }
}

/** The answer for keys that are unknown, foreign, or already revoked. */
export const keyNotFound = () => new AppError("not_found", "API_KEY_NOT_FOUND", "API key not found");

const notAManager = () => new AppError("permission_denied", "NOT_A_MANAGER", "Only Owners and Admins can manage API keys");

function requireScopedKeys(caller: ApiKey): void {
  if (caller.capabilities.includes(createScopedKeys)) return;
  throw new AppError("permission_denied", "CAPABILITY_MISSING", `API key lacks the ${createScopedKeys} capability`);
}
