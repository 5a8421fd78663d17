import type { Principal, Role } from "@memory-bank/context";

export const roles = ["owner", "admin", "member"] as const satisfies readonly Role[];

/** Lets a key create child keys. */
export const createScopedKeys = "create_scoped_keys";
export const capabilities = [createScopedKeys] as const;
export type Capability = (typeof capabilities)[number];

/** The tenant that exists from the first start on and that the bootstrap key owns. */
export const defaultTenantId = "default";

/** When a key stops working. Instants in microseconds; `null` means never. */
export interface KeyLife {
  readonly keyId: string;
  readonly expiresAtUs: number | null;
  readonly revokedAtUs: number | null;
}

/** A key as everybody who may see it sees it. Only `lastUsedAtUs` and `revokedAtUs` ever change, and a revocation stays. */
export interface ApiKey extends KeyLife {
  readonly tenantId: string;
  readonly name: string;
  readonly role: Role;
  readonly capabilities: readonly Capability[];
  /** `null` means every bank of the tenant. */
  readonly allowedBankIds: readonly string[] | null;
  readonly parentKeyId: string | null;
  /** What the creator attached to a child key, a JSON object. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The first characters of the key string, for display. */
  readonly keyPrefix: string;
  readonly lastUsedAtUs: number | null;
  readonly createdAtUs: number;
}

/**
 * A key together with what its life depends on. Children never hold `create_scoped_keys`, so a child has no children and a
 * lineage is never longer than this.
 */
export interface KeyLineage {
  readonly key: ApiKey;
  readonly parent: KeyLife | null;
}

export type KeyStatus = "active" | "revoked" | "expired";

/** A key is as good as its parent: revoked with it, and expired with it. Revoked wins over expired, since it cannot heal. */
export function statusOf(lineage: KeyLineage, nowUs: number): KeyStatus {
  if (revokedAtUsOf(lineage) !== null) return "revoked";
  const expiresAtUs = expiresAtUsOf(lineage);
  return expiresAtUs !== null && nowUs >= expiresAtUs ? "expired" : "active";
}

/** When the key or its parent was revoked, whichever came first. */
export function revokedAtUsOf({ key, parent }: KeyLineage): number | null {
  return earlier(key.revokedAtUs, parent?.revokedAtUs ?? null);
}

/** When the key or its parent expires, whichever comes first. */
export function expiresAtUsOf({ key, parent }: KeyLineage): number | null {
  return earlier(key.expiresAtUs, parent?.expiresAtUs ?? null);
}

/** The key and its parent: revoking any of them ends the key. */
export function lineageKeyIdsOf({ key, parent }: KeyLineage): string[] {
  return parent ? [key.keyId, parent.keyId] : [key.keyId];
}

/** True when every bank in `inner` may be touched with `outer`; `null` stands for all banks. */
export function isWithinScope(inner: readonly string[] | null, outer: readonly string[] | null): boolean {
  if (outer === null) return true;
  if (inner === null) return false;
  const allowed = new Set(outer);
  return inner.every((bankId) => allowed.has(bankId));
}

/** Whom a key stands for. */
export function principalOf(key: ApiKey): Principal {
  const { tenantId, keyId, role, capabilities, allowedBankIds } = key;
  return { tenantId, keyId, role, capabilities, allowedBankIds };
}

/** Owners and admins manage the keys of their tenant. */
export function managesKeys(key: ApiKey): boolean {
  return key.role === "owner" || key.role === "admin";
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
