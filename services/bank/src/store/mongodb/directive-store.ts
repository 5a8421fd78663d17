import { AppError } from "@memory-bank/errors";
import type { MongodbDatabase } from "@memory-bank/storage";
import type { Db, Filter } from "mongodb";
import type { DirectiveQuery, DirectiveStore } from "../../directive-store.ts";
import type { Directive } from "../../domain/directive.ts";
import { type DirectiveDocument, directivesOf, isLive } from "./bank-documents.ts";

const CHANGE_TRIES_MAX = 200; // each lost try means that somebody else changed the same directive just then

export function createMongodbDirectiveStore({ run }: MongodbDatabase): DirectiveStore {
  return {
    insert: (directive) => run((db) => insert(db, directive)),
    find: (bankUid, directiveId) =>
      run(async (db) => {
        const document = await find(db, bankUid, directiveId);
        return document ? directiveOf(document) : undefined;
      }),
    update: (bankUid, directiveId, change) =>
      run(async (db) => {
        for (let tries = 0; tries < CHANGE_TRIES_MAX; tries += 1) {
          const document = await find(db, bankUid, directiveId);
          if (!document) return undefined;
          const changed = change(directiveOf(document));
          const { revision, _id } = document;
          const { createdAtUs: _, ...members } = documentOf(changed, revision + 1);
          const { matchedCount } = await directivesOf(db).updateOne({ _id, revision }, { $set: members });
          if (matchedCount > 0) return changed;
        }
        throw new AppError("conflict", "DIRECTIVE_BUSY", "The directive is changed by too many callers at once");
      }),
    delete: (bankUid, directiveId) =>
      run(async (db) => {
        if (!(await isLive(db, bankUid))) return false;
        return (await directivesOf(db).deleteOne({ _id: keyOf(bankUid, directiveId) })).deletedCount > 0;
      }),
    list: (query) => run((db) => list(db, query)),
  };
}

/** Looks again after the write: a purge that ran in between must not leave this one behind. */
async function insert(db: Db, directive: Directive): Promise<boolean> {
  const { bankUid } = directive;
  if (!(await isLive(db, bankUid))) return false;
  const document = documentOf(directive, 0);
  await directivesOf(db).insertOne(document);
  if (await isLive(db, bankUid)) return true;
  await directivesOf(db).deleteOne({ _id: document._id });
  return false;
}

async function find(db: Db, bankUid: string, directiveId: string): Promise<DirectiveDocument | null> {
  if (!(await isLive(db, bankUid))) return null;
  return await directivesOf(db).findOne({ _id: keyOf(bankUid, directiveId) });
}

async function list(db: Db, query: DirectiveQuery) {
  const { bankUid, isActiveOnly, limit, offset } = query;
  if (!(await isLive(db, bankUid))) return { directives: [], total: 0 };
  const filter: Filter<DirectiveDocument> = { bankUid, ...(isActiveOnly ? { isActive: true } : {}), ...tagFilterOf(query) };
  const total = await directivesOf(db).countDocuments(filter);
  const sort = { priority: -1, createdAtUs: -1, directiveId: -1 } as const;
  const documents = await directivesOf(db).find(filter, { sort }).skip(offset).limit(limit).toArray();
  return { directives: documents.map(directiveOf), total };
}

/** No directive holds a tag twice, so as many as are wanted, and all of them, is exactly those. */
function tagFilterOf({ tags, tagsMatch }: DirectiveQuery): Filter<DirectiveDocument> {
  const wanted = [...new Set(tags)];
  if (tagsMatch === "exact") {
    return wanted.length === 0
      ? { tags: { $size: 0 } }
      : { $and: [{ tags: { $size: wanted.length } }, { tags: { $all: wanted } }] };
  }
  if (wanted.length === 0) return {};
  const shared = tagsMatch.startsWith("any") ? { tags: { $in: wanted } } : { tags: { $all: wanted } };
  return tagsMatch.endsWith("strict") ? shared : { $or: [{ tags: { $size: 0 } }, shared] };
}

const keyOf = (bankUid: string, directiveId: string) => JSON.stringify([bankUid, directiveId]);

function documentOf({ id, bankUid, tags, ...members }: Directive, revision: number): DirectiveDocument {
  return { _id: keyOf(bankUid, id), bankUid, directiveId: id, tags: [...tags], ...members, revision };
}

function directiveOf({ _id, directiveId, revision: _revision, ...members }: DirectiveDocument): Directive {
  return { id: directiveId, ...members };
}
