import { AppError } from "@memory-bank/errors";
import { appendEvents, createOutboxRelay, type EventBus, outboxMigration } from "@memory-bank/events";
import { migrationsFrom, openSqlite, type SqliteTx } from "@memory-bank/storage";
import type { Logger } from "@memory-bank/telemetry";
import { type AuthStore, type Credential, lastUseIntervalUs, type Revocation, revokedIdsMax } from "../../auth-store.ts";
import { type ApiKey, statusOf } from "../../domain/api-key.ts";
import { keyNotFound } from "../../domain/key-management.ts";
import { selectKeyIds, selectPage } from "./key-page.ts";
import { type KeyRow, type KnownKeyRow, keyColumns, keyFromRow, keyToRow } from "./key-row.ts";

export interface SqliteAuthStoreOptions {
  /** Path of the file, or `:memory:`. */
  readonly file: string;
  readonly bus: EventBus;
  readonly log: Logger;
}

/** One file with tenants, keys and the outbox of revocations. */
export async function openSqliteAuthStore({ file, bus, log }: SqliteAuthStoreOptions): Promise<AuthStore> {
  const migrations = [outboxMigration, ...migrationsFrom(new URL("./migrations/", import.meta.url))];
  const db = openSqlite({ file, migrations });
  const relay = createOutboxRelay({ db, bus, log });

  return {
    async ensureTenant({ tenantId, createdAtUs }) {
      await db.write((tx) => {
        tx.run("INSERT INTO tenants (tenant_id, created_at_us) VALUES (?, ?) ON CONFLICT DO NOTHING", [tenantId, createdAtUs]);
      });
    },
    async insertTenant({ tenantId, createdAtUs }, ownerKey, credential) {
      await db.write((tx) => {
        if (tx.get("SELECT 1 FROM tenants WHERE tenant_id = ?", [tenantId])) throw tenantExists(tenantId);
        tx.run("INSERT INTO tenants (tenant_id, created_at_us) VALUES (?, ?)", [tenantId, createdAtUs]);
        insertKey(tx, ownerKey, credential);
      });
    },
    async insertKey(key, credential) {
      await db.write((tx) => insertKey(tx, key, credential));
    },
    async findByLookup(lookup) {
      const row = db.read((tx) => tx.get<KnownKeyRow>(selectByLookup, [lookup]));
      return row && { ...keyFromRow(row), secretHash: row.secret_hash };
    },
    async find(tenantId, keyId) {
      const row = db.read((tx) => tx.get<KeyRow>(selectById, [keyId, tenantId]));
      return row && keyFromRow(row);
    },
    async list(query) {
      return db.read((tx) => selectPage(tx, query));
    },
    async hasLiveOwner(tenantId, nowUs) {
      return db.read((tx) => tx.get(selectLiveOwner, { tenantId, exceptKeyId: "", nowUs }) !== undefined);
    },
    async revoke(revocation) {
      const revokedKeyIds = await db.write((tx) => revoke(tx, revocation));
      relay.nudge();
      return revokedKeyIds;
    },
    async replaceSecretHash(keyId, from, to) {
      await db.write((tx) => {
        tx.run("UPDATE api_keys SET secret_hash = ? WHERE key_id = ? AND secret_hash = ?", [to, keyId, from]);
      });
    },
    async recordUses(uses) {
      await db.write((tx) => {
        for (const { keyId, atUs } of uses) tx.run(updateLastUse, { keyId, atUs, intervalUs: lastUseIntervalUs });
      });
    },
    startPublishing: () => relay.start(),
    ping: async () => db.ping(),
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

const fromKeys = "FROM api_keys k LEFT JOIN api_keys p ON p.key_id = k.parent_key_id";
const selectByLookup = `SELECT ${keyColumns}, k.secret_hash ${fromKeys} WHERE k.lookup = ?`;
const selectById = `SELECT ${keyColumns} ${fromKeys} WHERE k.key_id = ? AND k.tenant_id = ?`;

/** Owner keys have no parent, so their own life is all that counts. */
const selectLiveOwner = `SELECT 1 AS found FROM api_keys WHERE tenant_id = :tenantId AND role = 'owner' AND key_id <> :exceptKeyId
  AND revoked_at_us IS NULL AND (expires_at_us IS NULL OR expires_at_us > :nowUs) LIMIT 1`;

const updateLastUse = `UPDATE api_keys SET last_used_at_us = :atUs WHERE key_id = :keyId
  AND (last_used_at_us IS NULL OR last_used_at_us <= :atUs - :intervalUs)`;

function insertKey(tx: SqliteTx, key: ApiKey, credential: Credential): void {
  const row = keyToRow(key, credential);
  if (tx.get("SELECT 1 FROM api_keys WHERE key_id = :key_id OR lookup = :lookup", { key_id: row.key_id, lookup: row.lookup })) {
    throw new AppError("already_exists", "API_KEY_EXISTS", "An API key with this id or look-up part already exists");
  }
  const names = Object.keys(row);
  tx.run(`INSERT INTO api_keys (${names.join(", ")}) VALUES (${names.map((name) => `:${name}`).join(", ")})`, row);
}

function revoke(tx: SqliteTx, { tenantId, keyId, atUs, event }: Revocation): string[] {
  const row = tx.get<KeyRow>(selectById, [keyId, tenantId]);
  const lineage = row && keyFromRow(row);
  const status = lineage && statusOf(lineage, atUs);
  if (!lineage || status === "revoked") throw keyNotFound();
  const isLiveOwner = lineage.key.role === "owner" && status === "active";
  if (isLiveOwner && !tx.get(selectLiveOwner, { tenantId, exceptKeyId: keyId, nowUs: atUs })) throw lastOwner();

  const visibility = { kind: "children", keyId } as const;
  const children = { tenantId, visibility, status: "active", nowUs: atUs, limit: revokedIdsMax - 1, offset: 0 } as const;
  const childKeyIds = selectKeyIds(tx, children);
  tx.run("UPDATE api_keys SET revoked_at_us = ? WHERE key_id = ?", [atUs, keyId]);
  appendEvents(tx, [event]);
  return [keyId, ...childKeyIds];
}

const tenantExists = (tenantId: string) =>
  new AppError("already_exists", "TENANT_EXISTS", `Tenant '${tenantId}' already exists`, { details: { tenantId } });

const lastOwner = () =>
  new AppError("failed_precondition", "LAST_OWNER", "The last live owner key of a tenant cannot be revoked");
