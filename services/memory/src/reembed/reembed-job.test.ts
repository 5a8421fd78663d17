import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@memory-bank/errors";
import type { Embedder } from "@memory-bank/models";
import { afterEach, beforeEach, expect, test } from "vitest";
import { conversation, ctx, everything, item, recallOf, retainOf, startTestService } from "../test-service.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memory-bank-reembed-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Another vector space: the same vectors, every number with the opposite sign. */
const mirrored = (embedder: Embedder): Embedder => ({
  ...embedder,
  id: "test/mirrored/1",
  embed: async (texts, options) => (await embedder.embed(texts, options)).map((vector) => vector.map((number) => -number)),
});

const texts = [
  ...conversation,
  item("The tram to Matosinhos leaves every ten minutes.", { documentId: "tram", context: "Timetable" }),
];
const listOf = { bankId: "b", excludeParents: false, type: "reembed", limit: 10, offset: 0 };

async function retainAll() {
  await using memory = await startTestService({ folder });
  await memory.client.retain(ctx(), retainOf(texts));
  await memory.service.start();
}

test("a bank of another embedder gets the vectors and passage lengths that retain would have given it", async () => {
  await retainAll();
  await using fresh = await startTestService({ wrap: mirrored });
  await fresh.client.retain(ctx(), retainOf(texts));
  await using memory = await startTestService({ folder, wrap: mirrored });
  expect(await memory.vectors.count("uid-b")).toBe(0);
  await memory.service.start();
  await expect.poll(() => memory.store.lacksVectors("uid-b"), { timeout: 10_000 }).toBe(false);
  const { operations } = await memory.client.listOperations(ctx(), listOf);
  expect(operations).toMatchObject([{ type: "reembed", status: "completed" }]);

  const byText = async ({ store, vectors }: Pick<typeof memory, "store" | "vectors">) => {
    const { upserts } = await store.changesSince("uid-b", 0);
    const stored = await vectors.get(
      "uid-b",
      upserts.map((unit) => unit.unitId),
    );
    return new Map(upserts.map((unit) => [unit.text, { norm: unit.pairNorm.toFixed(6), vector: stored.get(unit.unitId) }]));
  };
  expect(await byText(memory)).toEqual(await byText(fresh));
});

test("until then recall goes without meaning, and a start that dies half way is taken up by the next", async () => {
  await retainAll();
  let isDown = true;
  const unsteady = (embedder: Embedder): Embedder => {
    const inner = mirrored(embedder);
    const refuse = () => Promise.reject(new AppError("unavailable", "MODEL_DOWN", "Service temporarily unavailable"));
    return {
      ...inner,
      embed: (given, options) => (isDown && options?.purpose === "document" ? refuse() : inner.embed(given, options)),
    };
  };
  {
    await using memory = await startTestService({ folder, wrap: unsteady });
    await memory.service.start();
    expect(await memory.store.lacksVectors("uid-b")).toBe(true);
    const { results } = await memory.client.recall(ctx(), { ...recallOf("Who sold the flat in Graz?"), trace: true });
    expect(results.length).toBeGreaterThan(0);
    expect(results.map((result) => result.scores?.semantic ?? 0)).toEqual(results.map(() => 0));
    // A bank that only waits for its vectors is in order.
    expect(await memory.internal.verifyBanks(ctx(), { tenantId: "t", bankId: "b", repair: false })).toMatchObject({
      disagreements: [],
    });
  }
  isDown = false;
  await using memory = await startTestService({ folder, wrap: unsteady });
  await memory.jobs.reclaimAll();
  const { items } = await memory.jobs.list({ groupKey: "uid-b", kind: "reembed", limit: 10, offset: 0 });
  for (const job of items) await memory.jobs.cancel("uid-b", job.id);
  await memory.service.start();
  await expect.poll(() => memory.store.lacksVectors("uid-b"), { timeout: 10_000 }).toBe(false);
  expect(await memory.vectors.count("uid-b")).toBe((await memory.store.listUnits("uid-b", everything)).total);
});
