import { AppError } from "@memory-bank/errors";
import { QdrantClient, QdrantClientResourceExhaustedError, QdrantClientTimeoutError } from "@qdrant/js-client-rest";
import type { VectorHit, VectorIndex, VectorRow, VectorSearch } from "../../vector-index.ts";
import { openCollection, payloadKeys, pointIdOf } from "./qdrant-collection.ts";

export interface QdrantVectorIndexOptions {
  readonly url: string;
  readonly apiKey?: string;
  /** Deployments that share a server differ in it. */
  readonly prefix?: string;
  /** Copies of each shard in a Qdrant cluster. */
  readonly replicas?: number;
  readonly embedderId: string;
  readonly dimensions: number;
}

const PREFIX = "memory-bank";
const TIMEOUT_MS = 10_000; // of one call; a batch is written in some ten milliseconds
const CONNECTIONS_MAX = 32; // per process
const UPSERT_BATCH = 256; // points of one call: 512 numbers of some ten characters each, so one to two megabytes
const IDS_BATCH = 1_000; // ids of one call
const PAGE = 1_000; // points of one page of a scroll
const DROP_TRIES_MAX = 5; // a shard that was away during the deletion is asked again
const TIES_EXTRA = 16; // hits beyond the limit, to see whether equal ones continue there
const TIES_MAX = 16_384; // equal hits that are put in order; beyond it the order among them is the server's

/**
 * Vectors in Qdrant. Every write waits until it can be searched. Ranking is approximate in banks that are large enough for a graph,
 * exact in the others.
 */
export async function openQdrantVectorIndex(options: QdrantVectorIndexOptions): Promise<VectorIndex> {
  const { url, apiKey, prefix = PREFIX, replicas = 1, embedderId, dimensions } = options;
  const client = new QdrantClient({
    url,
    ...(apiKey === undefined ? {} : { apiKey }),
    timeout: TIMEOUT_MS,
    maxConnections: CONNECTIONS_MAX,
    checkCompatibility: false,
  });
  const collection = await translated(() => openCollection(client, { prefix, embedderId, dimensions, replicas }));
  let isClosed = false;

  function call<T>(work: () => Promise<T>): Promise<T> {
    requireOpen();
    return translated(work);
  }
  function requireOpen(): void {
    if (isClosed) throw new AppError("unavailable", "VECTOR_INDEX_CLOSED", "The vector index is closed");
  }
  function requireVector(vector: Float32Array): void {
    if (vector.length !== dimensions) {
      const text = `A vector has ${vector.length} numbers, expected ${dimensions}`;
      throw new AppError("invalid_argument", "VECTOR_DIMENSIONS", text);
    }
    if (!vector.every(Number.isFinite)) {
      throw new AppError("invalid_argument", "VECTOR_NOT_FINITE", "A vector has a number that is not finite");
    }
  }

  /** Asks for more than wanted while the last of them equals the last wanted one, so that ties are cut by their ids. */
  async function bestHits(bankUid: string, query: Float32Array, search: VectorSearch): Promise<VectorHit[]> {
    const filter = filterOf(bankUid, search);
    const vector = Array.from(query);
    for (let limit = search.limit + TIES_EXTRA; ; limit *= 2) {
      const { points } = await client.query(collection, { query: vector, filter, limit, with_payload: [payloadKeys.unit] });
      const hits = points.map(hitOf);
      const isCut = points.length === limit && limit < search.limit + TIES_MAX;
      if (isCut && hits.at(-1)?.score === hits[search.limit - 1]?.score) continue;
      return hits
        .filter(({ score }) => score >= search.minScore)
        .sort((a, b) => b.score - a.score || (a.unitId < b.unitId ? -1 : 1))
        .slice(0, search.limit);
    }
  }

  return {
    async upsert(bankUid, rows) {
      requireOpen();
      for (const { vector } of rows) requireVector(vector);
      const points = pointsOf(bankUid, rows);
      for (const batch of batches(points, UPSERT_BATCH)) {
        await call(() => client.upsert(collection, { wait: true, points: batch }));
      }
    },

    async remove(bankUid, unitIds) {
      requireOpen();
      const ids = unitIds.map((unitId) => pointIdOf(bankUid, unitId));
      for (const points of batches(ids, IDS_BATCH)) await call(() => client.delete(collection, { wait: true, points }));
    },

    async search(bankUid, query, search) {
      requireOpen();
      requireVector(query);
      const isNothing = search.limit <= 0 || search.families?.length === 0 || search.only?.size === 0;
      return isNothing ? [] : await call(() => bestHits(bankUid, query, search));
    },

    async scores(bankUid, query, unitIds) {
      requireOpen();
      requireVector(query);
      const found = new Map<string, number>();
      for (const only of batches([...new Set(unitIds)], IDS_BATCH)) {
        const filter = filterOf(bankUid, { only: new Set(only) });
        const request = { query: Array.from(query), filter, limit: only.length, with_payload: [payloadKeys.unit] };
        const { points } = await call(() => client.query(collection, request));
        for (const { unitId, score } of points.map(hitOf)) found.set(unitId, score);
      }
      return inOrder(unitIds, found);
    },

    async get(bankUid, unitIds) {
      requireOpen();
      const found = new Map<string, Float32Array>();
      for (const named of batches([...new Set(unitIds)], IDS_BATCH)) {
        const ids = named.map((unitId) => pointIdOf(bankUid, unitId));
        const request = { ids, with_payload: [payloadKeys.unit], with_vector: true };
        for (const { payload, vector } of await call(() => client.retrieve(collection, request))) {
          found.set(unitIdOf(payload), Float32Array.from(vector as number[]));
        }
      }
      return inOrder(unitIds, found);
    },

    async count(bankUid) {
      return await call(() => countOf(client, collection, bankUid));
    },

    async *unitIds(bankUid) {
      const filter = filterOf(bankUid, {});
      for (let offset: string | number | undefined; ; ) {
        const request = { filter, limit: PAGE, with_payload: [payloadKeys.unit], ...(offset === undefined ? {} : { offset }) };
        const { points, next_page_offset: next } = await call(() => client.scroll(collection, request));
        for (const { payload } of points) yield unitIdOf(payload);
        if (typeof next !== "string" && typeof next !== "number") return;
        offset = next;
      }
    },

    async dropBank(bankUid) {
      for (let tries = 0; tries < DROP_TRIES_MAX; tries += 1) {
        await call(() => client.delete(collection, { wait: true, filter: filterOf(bankUid, {}) }));
        if ((await call(() => countOf(client, collection, bankUid))) === 0) return;
      }
      throw new AppError("unavailable", "VECTORS_REMAIN", "The vector store still shows vectors that were deleted");
    },

    async [Symbol.asyncDispose]() {
      isClosed = true;
    },
  };
}

async function countOf(client: QdrantClient, collection: string, bankUid: string): Promise<number> {
  return (await client.count(collection, { filter: filterOf(bankUid, {}), exact: true })).count;
}

/** Copies: the caller may change its vectors from now on. Of several rows with one unit id the last counts. */
function pointsOf(bankUid: string, rows: readonly VectorRow[]) {
  const lastByUnit = new Map(rows.map((row) => [row.unitId, row]));
  return [...lastByUnit.values()].map(({ unitId, family, vector }) => ({
    id: pointIdOf(bankUid, unitId),
    vector: Array.from(vector),
    payload: { [payloadKeys.bank]: bankUid, [payloadKeys.unit]: unitId, [payloadKeys.family]: family },
  }));
}

function filterOf(bankUid: string, { families, only }: Partial<VectorSearch>) {
  return {
    must: [
      { key: payloadKeys.bank, match: { value: bankUid } },
      ...(families ? [{ key: payloadKeys.family, match: { any: [...families] } }] : []),
      ...(only ? [{ has_id: [...only].map((unitId) => pointIdOf(bankUid, unitId)) }] : []),
    ],
  };
}

interface ScoredPoint {
  readonly score: number;
  readonly payload?: Readonly<Record<string, unknown>> | null;
}

/** Rounding may bring the product of two unit vectors a little outside the range of a cosine. */
function hitOf({ score, payload }: ScoredPoint): VectorHit {
  return { unitId: unitIdOf(payload), score: Math.min(1, Math.max(-1, score)) };
}

function unitIdOf(payload: ScoredPoint["payload"]): string {
  const unitId = payload?.[payloadKeys.unit];
  if (typeof unitId !== "string") throw new AppError("internal", "INVALID_POINT", "A point of the vector store names no unit");
  return unitId;
}

function inOrder<T>(unitIds: readonly string[], found: ReadonlyMap<string, T>): Map<string, T> {
  return new Map(
    unitIds.flatMap((unitId): [string, T][] => {
      const value = found.get(unitId);
      return value === undefined ? [] : [[unitId, value]];
    }),
  );
}

function* batches<T>(items: readonly T[], size: number): Iterable<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** A server that is away or overloaded is `unavailable`; what it refuses comes through. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isPassing(error)) throw error;
    throw new AppError("unavailable", "VECTOR_STORE_UNAVAILABLE", "The vector store is unavailable", { cause: error });
  }
}

const SERVER_FAULT = 500;

function isPassing(error: unknown): boolean {
  if (error instanceof QdrantClientTimeoutError || (error instanceof TypeError && error.message === "fetch failed")) return true;
  if (error instanceof QdrantClientResourceExhaustedError) return true;
  const status = error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : 0;
  return status >= SERVER_FAULT;
}
