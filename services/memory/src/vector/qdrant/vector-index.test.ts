import { startProxy } from "@memory-bank/test-servers/tcp-proxy";
import { describeWithServer } from "@memory-bank/test-servers/with-server";
import { QdrantClient } from "@qdrant/js-client-rest";
import { expect, test } from "vitest";
import { describeVectorIndex, TEST_DIMENSIONS } from "../../vector-index.conformance.ts";
import { collectionName } from "./qdrant-collection.ts";
import { openQdrantVectorIndex, type QdrantVectorIndexOptions } from "./vector-index.ts";

const embedderId = "test/1: small";

describeWithServer("Qdrant", (url) => {
  async function open(parts: Partial<QdrantVectorIndexOptions> = {}) {
    const options = { url: url(), prefix: `test-${crypto.randomUUID()}`, embedderId, dimensions: TEST_DIMENSIONS, ...parts };
    const index = await openQdrantVectorIndex(options);
    return {
      index,
      options,
      async [Symbol.asyncDispose]() {
        await index[Symbol.asyncDispose]();
        const client = new QdrantClient({ url: url(), checkCompatibility: false });
        await client.deleteCollection(collectionName(options));
      },
    };
  }
  const vector = () => Float32Array.from({ length: TEST_DIMENSIONS }, (_, i) => (i === 0 ? 1 : 0));

  describeVectorIndex("Qdrant", () => open());

  test("what one process wrote another one finds, in a collection for each embedder", async () => {
    await using t = await open();
    await t.index.upsert("bank", [{ unitId: "u", family: "world", vector: vector() }]);
    await using other = await openQdrantVectorIndex(t.options);
    expect(await other.count("bank")).toBe(1);
    await expect(openQdrantVectorIndex({ ...t.options, dimensions: 8 })).rejects.toMatchObject({
      code: "failed_precondition",
      reason: "EMBEDDER_CHANGED",
    });
  });

  test("a server that goes away is unavailable, and the index works again once it is back", async () => {
    await using proxy = await startProxy(url());
    await using t = await open({ url: proxy.url });
    await t.index.upsert("bank", [{ unitId: "u", family: "world", vector: vector() }]);
    await proxy.shut();
    const unavailable = { code: "unavailable", reason: "VECTOR_STORE_UNAVAILABLE" };
    await expect(t.index.count("bank")).rejects.toMatchObject(unavailable);
    await expect(t.index.upsert("bank", [{ unitId: "v", family: "world", vector: vector() }])).rejects.toMatchObject(unavailable);
    await proxy.reopen();
    await expect.poll(() => t.index.count("bank"), { timeout: 10_000 }).toBe(1);
  });
});
