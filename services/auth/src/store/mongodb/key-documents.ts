import type { Role } from "@memory-bank/context";
import { type PendingEvent, pendingEventsIndex, type TellsEvents } from "@memory-bank/events";
import type { MongodbMigration } from "@memory-bank/storage";
import { Binary, type Collection, type Db } from "mongodb";
import type { Credential } from "../../auth-store.ts";
import type { ApiKey, Capability, KeyLineage } from "../../domain/api-key.ts";

export interface TenantDocument {
  _id: string;
  createdAtUs: number;
  /** The key that was added with it; the insertion of this document is what makes that key count. */
  firstKeyId?: string;
}

/** Free-form members are kept as JSON text, because names of callers may hold dots or dollars. */
export interface KeyDocument extends TellsEvents {
  _id: string;
  tenantId: string;
  parentKeyId: string | null;
  name: string;
  role: string;
  capabilities: string[];
  allowedBankIds: string[] | null;
  metadata: string;
  keyPrefix: string;
  lookup: string;
  secretHash: Binary;
  createdAtUs: number;
  expiresAtUs: number | null;
  lastUsedAtUs: number | null;
  revokedAtUs: number | null;
  /** It came with a new tenant that is not there yet, and counts from the moment that it is. */
  isFirstKey?: boolean;
}

/** One per tenant: takes turns among revocations of owner keys, so that two at once cannot end the last two. */
export interface OwnerTurnDocument {
  _id: string;
  turn: number;
  /** What the turn was taken for, until it is carried out. */
  ending?: { readonly keyId: string; readonly atUs: number; readonly event: PendingEvent };
}

export const tenantsOf = (db: Db): Collection<TenantDocument> => db.collection<TenantDocument>("tenants");
export const keysOf = (db: Db): Collection<KeyDocument> => db.collection<KeyDocument>("api_keys");
export const ownerTurnsOf = (db: Db): Collection<OwnerTurnDocument> => db.collection<OwnerTurnDocument>("owner_turns");

export const KEY_COLLECTION = "api_keys";

export const authMigration: MongodbMigration = {
  id: "001-keys",
  collections: {
    [KEY_COLLECTION]: [
      { name: "by_lookup", key: { lookup: 1 }, unique: true },
      { name: "by_age", key: { tenantId: 1, createdAtUs: -1, _id: -1 } },
      { name: "by_parent", key: { parentKeyId: 1, createdAtUs: -1, _id: -1 } },
      { name: "by_role", key: { tenantId: 1, role: 1 } },
      pendingEventsIndex,
    ],
  },
};

export function keyDocumentOf(key: ApiKey, { lookup, secretHash }: Credential): KeyDocument {
  return {
    _id: key.keyId,
    tenantId: key.tenantId,
    parentKeyId: key.parentKeyId,
    name: key.name,
    role: key.role,
    capabilities: [...key.capabilities],
    allowedBankIds: key.allowedBankIds && [...key.allowedBankIds],
    metadata: JSON.stringify(key.metadata),
    keyPrefix: key.keyPrefix,
    lookup,
    secretHash: new Binary(secretHash),
    createdAtUs: key.createdAtUs,
    expiresAtUs: key.expiresAtUs,
    lastUsedAtUs: key.lastUsedAtUs,
    revokedAtUs: key.revokedAtUs,
  };
}

export function lineageOf(document: KeyDocument, parent: KeyDocument | undefined): KeyLineage {
  const key: ApiKey = {
    keyId: document._id,
    tenantId: document.tenantId,
    parentKeyId: document.parentKeyId,
    name: document.name,
    role: document.role as Role,
    capabilities: document.capabilities as Capability[],
    allowedBankIds: document.allowedBankIds,
    metadata: JSON.parse(document.metadata) as Record<string, unknown>,
    keyPrefix: document.keyPrefix,
    createdAtUs: document.createdAtUs,
    expiresAtUs: document.expiresAtUs,
    lastUsedAtUs: document.lastUsedAtUs,
    revokedAtUs: document.revokedAtUs,
  };
  if (document.parentKeyId === null) return { key, parent: null };
  const life = { expiresAtUs: parent?.expiresAtUs ?? null, revokedAtUs: parent?.revokedAtUs ?? null };
  return { key, parent: { keyId: document.parentKeyId, ...life } };
}
