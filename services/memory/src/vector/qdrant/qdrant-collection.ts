import { createHash } from "node:crypto";
import { AppError } from "@memory-bank/errors";
import type { QdrantClient } from "@qdrant/js-client-rest";

export interface CollectionPlace {
  /** Deployments that share a server differ in it. */
  readonly prefix: string;
  readonly embedderId: string;
  readonly dimensions: number;
  /** Copies of each shard in a Qdrant cluster. */
  readonly replicas: number;
}

/** Payload members of a point; Qdrant's ids are UUIDs, so the unit's own id is kept beside. */
export const payloadKeys = { bank: "bank", unit: "unit", family: "family" } as const;

const LINKS_PER_POINT = 16; // of the graph that each bank has for itself; Qdrant's usual number

/**
 * Makes the collection of an embedder, or checks the one that is there, and answers its name. Vectors of different embedders mean
 * nothing to each other, so each has a collection of its own; one whose size does not fit is `failed_precondition`.
 */
export async function openCollection(client: QdrantClient, place: CollectionPlace): Promise<string> {
  const name = collectionName(place);
  const { exists } = await client.collectionExists(name);
  if (!exists) await createCollection(client, name, place);
  const { config } = await client.getCollection(name);
  const { vectors } = config.params;
  const size = vectors && "size" in vectors ? vectors.size : undefined;
  if (size !== place.dimensions) {
    const message = `The stored vectors have ${String(size)} numbers, those of embedder '${place.embedderId}' ${place.dimensions}`;
    throw new AppError("failed_precondition", "EMBEDDER_CHANGED", message, {
      details: { stored: size, configured: place.dimensions },
    });
  }
  await indexPayload(client, name);
  return name;
}

/**
 * Vectors are of unit length or zero, for which the dot product is the cosine and zero stays zero. One graph per bank and none over
 * all of them, because no search ever goes over more than one bank.
 */
async function createCollection(client: QdrantClient, name: string, { dimensions, replicas }: CollectionPlace): Promise<void> {
  try {
    await client.createCollection(name, {
      vectors: { size: dimensions, distance: "Dot", on_disk: true },
      hnsw_config: { m: 0, payload_m: LINKS_PER_POINT },
      replication_factor: replicas,
      write_consistency_factor: Math.ceil((replicas + 1) / 2),
    });
  } catch (error) {
    // Another process that starts at the same time was quicker.
    if (!(await client.collectionExists(name)).exists) throw error;
  }
}

async function indexPayload(client: QdrantClient, name: string): Promise<void> {
  const wait = true;
  await client.createPayloadIndex(name, {
    wait,
    field_name: payloadKeys.bank,
    field_schema: { type: "keyword", is_tenant: true },
  });
  await client.createPayloadIndex(name, { wait, field_name: payloadKeys.family, field_schema: "keyword" });
}

/** Readable and unique: a digest tells apart what the characters that a name may hold would make the same. */
export function collectionName({ prefix, embedderId }: Pick<CollectionPlace, "prefix" | "embedderId">): string {
  const digest = createHash("sha256").update(embedderId).digest("hex").slice(0, 8);
  return `${prefix}-${embedderId.replaceAll(/[^A-Za-z0-9_-]/g, "_")}-${digest}`;
}

/** The point of a unit in a bank. Two banks may use one unit id, and never share a point. */
export function pointIdOf(bankUid: string, unitId: string): string {
  const hex = createHash("sha256")
    .update(JSON.stringify([bankUid, unitId]))
    .digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
