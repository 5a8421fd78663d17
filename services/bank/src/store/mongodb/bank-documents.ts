import { pendingEventsIndex, type TellsEvents } from "@memory-bank/events";
import type { MongodbMigration } from "@memory-bank/storage";
import type { Binary, Collection, Db } from "mongodb";

/** Free-form members are kept as JSON text, because names of callers may hold dots or dollars. */
export interface BankDocument extends TellsEvents {
  /** The `bankUid`. */
  _id: string;
  tenantId: string;
  bankId: string;
  name: string;
  /** What a search for a part of the id or the name looks into: both in lower case. */
  foldedId: string;
  foldedName: string;
  overrides: string;
  createdAtUs: number;
  updatedAtUs: number;
  /** A tombstone has it. */
  deletedAtUs: number | null;
  /** Counts the changes, so that one computed from an older state is not written. */
  revision: number;
  /** Tenant and id while the bank lives; unique. */
  liveKey?: string;
  isPurged?: boolean;
  /** Jobs of its burial that are not in the job store yet, as JSON text. */
  pendingJobs?: string[];
}

export interface DirectiveDocument {
  _id: string;
  bankUid: string;
  directiveId: string;
  name: string;
  content: string;
  priority: number;
  isActive: boolean;
  tags: string[];
  createdAtUs: number;
  updatedAtUs: number;
  revision: number;
}

export interface AuditDocument {
  _id: string;
  tenantId: string;
  bankUid: string | null;
  bankId: string | null;
  action: string;
  transport: string;
  startedAtUs: number;
  endedAtUs: number;
  request: string;
  response: string;
  metadata: string;
}

export interface IdempotentDocument {
  _id: string;
  requestHash: string;
  /** Null once it is answered. */
  holder: string | null;
  answer: Binary | null;
  endsAtUs: number;
}

export interface TenantConfigDocument {
  _id: string;
  config: string;
}

export const BANK_COLLECTION = "banks";
export const banksOf = (db: Db): Collection<BankDocument> => db.collection<BankDocument>(BANK_COLLECTION);
export const directivesOf = (db: Db): Collection<DirectiveDocument> => db.collection<DirectiveDocument>("directives");
export const auditOf = (db: Db): Collection<AuditDocument> => db.collection<AuditDocument>("audit_entries");
export const idempotentOf = (db: Db): Collection<IdempotentDocument> => db.collection<IdempotentDocument>("idempotent_requests");
export const tenantConfigsOf = (db: Db): Collection<TenantConfigDocument> =>
  db.collection<TenantConfigDocument>("tenant_configs");

export const bankMigration: MongodbMigration = {
  id: "001-banks",
  collections: {
    [BANK_COLLECTION]: [
      { name: "live", key: { liveKey: 1 }, unique: true, sparse: true },
      { name: "listed", key: { tenantId: 1, bankId: 1, deletedAtUs: -1 } },
      { name: "purged", key: { isPurged: 1, deletedAtUs: 1 }, sparse: true },
      { name: "pending_jobs", key: { pendingJobs: 1 }, sparse: true },
      pendingEventsIndex,
    ],
    directives: [{ name: "ordered", key: { bankUid: 1, priority: -1, createdAtUs: -1, directiveId: -1 } }],
    audit_entries: [
      { name: "ordered", key: { tenantId: 1, bankUid: 1, startedAtUs: -1, _id: -1 } },
      { name: "by_age", key: { startedAtUs: 1 } },
      { name: "by_bank", key: { bankUid: 1 } },
    ],
    idempotent_requests: [{ name: "ended", key: { endsAtUs: 1 } }],
    tenant_configs: [],
  },
};

/** True while the bank may be read and written. */
export async function isLive(db: Db, bankUid: string): Promise<boolean> {
  return (await banksOf(db).findOne({ _id: bankUid, deletedAtUs: null }, { projection: { _id: 1 } })) !== null;
}
