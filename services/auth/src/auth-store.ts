import type { DomainEvent } from "@memory-bank/events";
import type { ApiKey, KeyLineage, KeyStatus } from "./domain/api-key.ts";
import type { KeyVisibility } from "./domain/key-management.ts";

export interface Tenant {
  readonly tenantId: string;
  readonly createdAtUs: number;
}

/** How a presented key is found and judged. */
export interface Credential {
  /** The look-up part of the key string, unique among all tenants. */
  readonly lookup: string;
  /** HMAC of the secret part, 32 bytes. */
  readonly secretHash: Uint8Array;
}

export interface KnownKey extends KeyLineage {
  readonly secretHash: Uint8Array;
}

export interface KeyQuery {
  readonly tenantId: string;
  readonly visibility: KeyVisibility;
  /** Keeps one status, as the key and its parent have it at `nowUs`; `null` keeps all. */
  readonly status: KeyStatus | null;
  readonly nowUs: number;
  readonly limit: number;
  readonly offset: number;
}

export interface KeyPage {
  /** Newest first; among keys of the same instant by descending id. */
  readonly items: readonly KeyLineage[];
  /** All matches. */
  readonly total: number;
}

export interface Revocation {
  readonly tenantId: string;
  readonly keyId: string;
  readonly atUs: number;
  /** Published once the revocation is durable. */
  readonly event: DomainEvent;
}

export interface KeyUse {
  readonly keyId: string;
  readonly atUs: number;
}

/** The last use of a key is written at most this often. */
export const lastUseIntervalUs = 60_000_000;
/** Ids that one revocation tells at most: it ends every child, but its answer must stay a message of ordinary size. */
export const revokedIdsMax = 10_000;

/**
 * Tenants and keys. Answered writes are durable. Ids and look-up parts compare byte for byte. Every read sees all writes
 * that were answered before it began: a revocation has to hold for the next request. Use after close is `unavailable`.
 */
export interface AuthStore extends AsyncDisposable {
  /** Adds a tenant unless it is there. */
  ensureTenant(tenant: Tenant): Promise<void>;
  /** Adds a tenant with its first key, both or none. `already_exists` when the tenant id is taken. */
  insertTenant(tenant: Tenant, ownerKey: ApiKey, credential: Credential): Promise<void>;
  /** `already_exists` when the id or the look-up part is taken; the first key is kept. */
  insertKey(key: ApiKey, credential: Credential): Promise<void>;
  /** For verification: one read, whatever the number of keys. */
  findByLookup(lookup: string): Promise<KnownKey | undefined>;
  /** `undefined` also when the key belongs to another tenant. */
  find(tenantId: string, keyId: string): Promise<KeyLineage | undefined>;
  list(query: KeyQuery): Promise<KeyPage>;
  /** True when a key of role owner is neither revoked nor expired. */
  hasLiveOwner(tenantId: string, nowUs: number): Promise<boolean>;
  /**
   * Ends a key and its children for good, and saves the event in the same write. Answers the key's id, then those of its
   * children that were active until now, at most `revokedIdsMax` in all. `not_found` when the tenant has no such key, or it
   * (or its parent) is revoked already. `failed_precondition` (LAST_OWNER) when it is the tenant's last live owner key, also
   * when several revocations run at once.
   */
  revoke(revocation: Revocation): Promise<string[]>;
  /** Replaces a secret's hash if it still is `from`; a repeat or a lost race changes nothing. */
  replaceSecretHash(keyId: string, from: Uint8Array, to: Uint8Array): Promise<void>;
  /**
   * Writes last uses: the first always, later ones only `lastUseIntervalUs` or more after the one on record, so never
   * backwards. Unknown keys are ignored.
   */
  recordUses(uses: readonly KeyUse[]): Promise<void>;
  /** Starts to pass the events of committed revocations on, oldest first, with those that an earlier process left behind. */
  startPublishing(): void;
  /** Throws `unavailable` while the store cannot be read. */
  ping(): Promise<void>;
}
