import { AppError } from "@memory-bank/errors";
import { createMongodbOutboxRelay, type EventBus, mongodbOutboxMigration } from "@memory-bank/events";
import { isDuplicateKey, type MongodbPlace, openMongodb } from "@memory-bank/storage";
import type { Logger } from "@memory-bank/telemetry";
import { Binary, type Db } from "mongodb";
import { type AuthStore, type Credential, lastUseIntervalUs, type Tenant } from "../../auth-store.ts";
import type { ApiKey } from "../../domain/api-key.ts";
import { authMigration, KEY_COLLECTION, type KeyDocument, keyDocumentOf, keysOf, tenantsOf } from "./key-documents.ts";
import { counts, findPage, lineagesOf } from "./key-page.ts";
import { hasLiveOwner, revokeKey } from "./revoke-key.ts";

export interface MongodbAuthStoreOptions extends MongodbPlace {
  readonly bus: EventBus;
  readonly log: Logger;
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Called with what shall run when the bus is connected again. */
  readonly onBusReconnect?: (listener: () => void) => void;
}

export const authMigrations = [mongodbOutboxMigration, authMigration];

/** Tenants and keys in MongoDB. What must be one step is one write of one document. */
export async function openMongodbAuthStore(options: MongodbAuthStoreOptions): Promise<AuthStore> {
  const { bus, log, nowUs, newId, onBusReconnect, ...place } = options;
  const database = await openMongodb({ ...place, migrations: authMigrations });
  const { run } = database;
  const relay = createMongodbOutboxRelay({ database, sources: [KEY_COLLECTION], bus, log, now: nowUs, owner: newId() });
  onBusReconnect?.(() => relay.resend());

  return {
    ensureTenant: (tenant) => run((db) => ensureTenant(db, tenant)),
    insertTenant: (tenant, ownerKey, credential) => run((db) => insertTenant(db, tenant, ownerKey, credential)),
    insertKey: (key, credential) => run((db) => insertKey(db, keyDocumentOf(key, credential))),
    findByLookup: (lookup) =>
      run(async (db) => {
        const document = await keysOf(db).findOne({ lookup });
        if (!document || (document.isFirstKey && !(await countFirstKey(db, document)))) return undefined;
        const [lineage] = await lineagesOf(db, [document]);
        return lineage && { ...lineage, secretHash: new Uint8Array(document.secretHash.value()) };
      }),
    find: (tenantId, keyId) =>
      run(async (db) => {
        const document = await keysOf(db).findOne({ _id: keyId, tenantId, ...counts });
        return document ? (await lineagesOf(db, [document]))[0] : undefined;
      }),
    list: (query) => run((db) => findPage(db, query)),
    hasLiveOwner: (tenantId, atUs) => run((db) => hasLiveOwner(db, tenantId, "", atUs)),
    async revoke(revocation) {
      const revokedKeyIds = await run((db) => revokeKey(db, revocation));
      relay.nudge();
      return revokedKeyIds;
    },
    replaceSecretHash: (keyId, from, to) =>
      run(async (db) => {
        await keysOf(db).updateOne({ _id: keyId, secretHash: new Binary(from) }, { $set: { secretHash: new Binary(to) } });
      }),
    recordUses: (uses) =>
      run(async (db) => {
        const writes = uses.map(({ keyId, atUs }) => ({
          updateOne: {
            filter: { _id: keyId, $or: [{ lastUsedAtUs: null }, { lastUsedAtUs: { $lte: atUs - lastUseIntervalUs } }] },
            update: { $set: { lastUsedAtUs: atUs } },
          },
        }));
        if (writes.length > 0) await keysOf(db).bulkWrite(writes, { ordered: false });
      }),
    startPublishing: () => relay.start(),
    ping: () => database.ping(),
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function ensureTenant(db: Db, { tenantId, createdAtUs }: Tenant): Promise<void> {
  await tenantsOf(db).updateOne({ _id: tenantId }, { $setOnInsert: { createdAtUs } }, { upsert: true });
}

async function insertKey(db: Db, document: KeyDocument): Promise<void> {
  try {
    await keysOf(db).insertOne(document);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new AppError("already_exists", "API_KEY_EXISTS", "An API key with this id or look-up part already exists");
  }
}

/** The key goes first and does not count; it does from the moment that the tenant is there and names it. */
async function insertTenant(db: Db, { tenantId, createdAtUs }: Tenant, key: ApiKey, credential: Credential): Promise<void> {
  if (await tenantsOf(db).findOne({ _id: tenantId })) throw tenantExists(tenantId);
  await insertKey(db, { ...keyDocumentOf(key, credential), isFirstKey: true });
  try {
    await tenantsOf(db).insertOne({ _id: tenantId, createdAtUs, firstKeyId: key.keyId });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    await keysOf(db).deleteOne({ _id: key.keyId, isFirstKey: true });
    throw tenantExists(tenantId);
  }
  await keysOf(db).updateOne({ _id: key.keyId }, { $unset: { isFirstKey: "" } });
}

/** Finishes what an ended process may have left: true when the tenant is there, so that its key counts. */
async function countFirstKey(db: Db, { _id, tenantId }: KeyDocument): Promise<boolean> {
  if (!(await tenantsOf(db).findOne({ _id: tenantId, firstKeyId: _id }))) return false;
  await keysOf(db).updateOne({ _id }, { $unset: { isFirstKey: "" } });
  return true;
}

const tenantExists = (tenantId: string) =>
  new AppError("already_exists", "TENANT_EXISTS", `Tenant '${tenantId}' already exists`, { details: { tenantId } });
