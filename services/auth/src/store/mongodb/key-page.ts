import type { Db, Filter } from "mongodb";
import type { KeyPage, KeyQuery } from "../../auth-store.ts";
import type { KeyLineage } from "../../domain/api-key.ts";
import type { KeyVisibility } from "../../domain/key-management.ts";
import { type KeyDocument, keysOf, lineageOf } from "./key-documents.ts";

const newestFirst = { createdAtUs: -1, _id: -1 } as const;

/** What every read leaves out: the key of a tenant that has not come to be. */
export const counts = { isFirstKey: { $ne: true } } as const;

export async function findPage(db: Db, query: KeyQuery): Promise<KeyPage> {
  const filter = await filterOf(db, query);
  const total = await keysOf(db).countDocuments(filter);
  if (query.limit === 0) return { items: [], total };
  const documents = await keysOf(db).find(filter, { sort: newestFirst }).skip(query.offset).limit(query.limit).toArray();
  return { items: await lineagesOf(db, documents), total };
}

export async function findKeyIds(db: Db, query: KeyQuery): Promise<string[]> {
  const filter = await filterOf(db, query);
  const options = { sort: newestFirst, projection: { _id: 1 } } as const;
  const documents = await keysOf(db).find(filter, options).skip(query.offset).limit(query.limit).toArray();
  return documents.map(({ _id }) => _id);
}

/** The keys with the lives of their parents, read after them: a revocation that came between shows. */
export async function lineagesOf(db: Db, documents: readonly KeyDocument[]): Promise<KeyLineage[]> {
  const parentIds = [...new Set(documents.flatMap(({ parentKeyId }) => parentKeyId ?? []))];
  const parents =
    parentIds.length === 0
      ? []
      : await keysOf(db)
          .find({ _id: { $in: parentIds } })
          .toArray();
  const byId = new Map(parents.map((parent) => [parent._id, parent]));
  return documents.map((document) => lineageOf(document, byId.get(document.parentKeyId ?? "")));
}

const isVisible = (visibility: KeyVisibility): Filter<KeyDocument> => {
  switch (visibility.kind) {
    case "tenant":
      return {};
    case "tenant_children":
      return { parentKeyId: { $ne: null } };
    case "self_and_children":
      return { $or: [{ _id: visibility.keyId }, { parentKeyId: visibility.keyId }] };
    case "children":
      return { parentKeyId: visibility.keyId };
  }
};

async function filterOf(db: Db, { tenantId, visibility, status, nowUs }: KeyQuery): Promise<Filter<KeyDocument>> {
  const conditions: Filter<KeyDocument>[] = [{ tenantId, ...counts }, isVisible(visibility)];
  if (status !== null) {
    const isOver: Filter<KeyDocument> = { expiresAtUs: { $ne: null, $lte: nowUs } };
    const isRevoked = await orParent(db, tenantId, { revokedAtUs: { $ne: null } });
    const isExpired = status === "revoked" ? undefined : await orParent(db, tenantId, isOver);
    conditions.push(status === "revoked" ? isRevoked : { $nor: [isRevoked] });
    if (isExpired) conditions.push(status === "expired" ? isExpired : { $nor: [isExpired] });
  }
  return { $and: conditions };
}

/** True of a key when it, or its parent, meets the condition. */
async function orParent(db: Db, tenantId: string, condition: Filter<KeyDocument>): Promise<Filter<KeyDocument>> {
  const parents = await keysOf(db)
    .find({ tenantId, parentKeyId: null, ...condition }, { projection: { _id: 1 } })
    .toArray();
  return { $or: [condition, { parentKeyId: { $in: parents.map(({ _id }) => _id) } }] };
}
