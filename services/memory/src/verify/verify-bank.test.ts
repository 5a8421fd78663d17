import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expectTrueCounts } from "../store/recount.ts";
import { conversation, ctx, everything, item, recallOf, retainOf, startTestService } from "../test-service.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memory-bank-verify-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const verify = { tenantId: "t", bankId: "b", repair: false };
const repair = { ...verify, repair: true };

const moved = [item("Maria lives in Oslo.", { tags: ["x"] }), item("Maria moved to Bergen last month.", { tags: ["x"] })];

/** A bank with raw facts, observations, an edited and an invalidated unit, in files that the test may damage. */
async function startWithHistory() {
  const memory = await startTestService({ folder });
  await memory.client.retain(
    ctx(),
    retainOf([...conversation, item("Ann runs the Oslo office.", { tags: ["x", "y"], context: "Staff" })]),
  );
  await memory.service.start();
  const consolidate = async () => {
    const { operationId } = await memory.client.consolidate(ctx(), { bankId: "b" });
    const operation = { bankId: "b", operationId, includePayload: false };
    const status = async () => (await memory.client.getOperation(ctx(), operation)).status;
    await expect.poll(status, { timeout: 10_000 }).toBe("completed");
  };
  await consolidate();
  const { items } = await memory.store.listUnits("uid-b", { ...everything, type: "world" });
  await memory.client.updateMemory(ctx(), {
    bankId: "b",
    memoryId: items[0]!.unitId,
    text: "Ben sold the house in Graz.",
    exactEntities: false,
  });
  await memory.client.updateMemory(ctx(), {
    bankId: "b",
    memoryId: items[1]!.unitId,
    state: "invalidated",
    exactEntities: false,
  });
  await memory.client.retain(ctx(), retainOf([item("Carla met Ann in Oslo.", { documentId: "d" }), ...moved]));
  await consolidate();
  expect((await memory.store.stats("uid-b")).nodesByType.get("observation")).toBeGreaterThan(0);
  return memory;
}

/** Runs SQL on the file from outside, as damage would come. */
function damage(sql: string, file = "memory"): number {
  const db = new DatabaseSync(join(folder, `${file}.sqlite`), { timeout: 2_000 });
  const changes = Number(db.prepare(sql).run().changes);
  db.close();
  return changes;
}

test("a bank with a history has nothing to mend", async () => {
  await using memory = await startWithHistory();
  expect(await memory.internal.verifyBanks(ctx(), verify)).toEqual({ banksCount: 1, disagreements: [], omittedCount: 0 });
  expect(await memory.internal.verifyBanks(ctx(), { ...verify, bankId: "" })).toMatchObject({ banksCount: 1 });
  expect(await memory.internal.verifyBanks(ctx(), { ...verify, bankId: "unknown" })).toMatchObject({ banksCount: 0 });
});

const damages: readonly (readonly [part: string, what: string, sql: string, file?: string])[] = [
  ["counters", "a counter", "UPDATE counters SET value = value + 3 WHERE name = 'node:world'"],
  ["counters", "a lost counter", "DELETE FROM counters WHERE name GLOB 'link:*:entity'"],
  ["tags", "a tag count", "UPDATE tag_counts SET count = 7 WHERE tag = 'x'"],
  [
    "entities",
    "an entity's dates",
    "UPDATE entities SET first_seen_us = 1, mention_count = mention_count + 1 WHERE name = 'Ann'",
  ],
  [
    "entities",
    "an entity of nobody",
    "INSERT INTO entities (entity_id, bank_no, name, folded, kind) VALUES ('e', 1, 'No One', 'no one', 'PERSON')",
  ],
  ["co-occurrences", "a co-occurrence", "UPDATE cooccurrences SET count = 0 - count"],
  ["mentions", "a mention of a unit that is gone", "UPDATE unit_entities SET unit_no = 999"],
  [
    "links",
    "a link to nowhere",
    "INSERT INTO links (from_no, type, to_no, weight) SELECT unit_no, 'semantic', 999, 1 FROM units LIMIT 1",
  ],
  [
    "documents",
    "a chunk without a document",
    "UPDATE chunks SET doc_no = 999 WHERE chunk_no = (SELECT max(chunk_no) FROM chunks)",
  ],
  ["units", "a unit filed under another family", "UPDATE units SET family = 'experience' WHERE family = 'world'"],
  ["observations", "an observation without sources", "DELETE FROM observation_sources"],
  [
    "full text",
    "units that are not indexed",
    "DELETE FROM unit_words WHERE rowid IN (SELECT unit_no FROM units WHERE live = 1 LIMIT 2)",
  ],
  ["full text", "an entry of no unit", "INSERT INTO unit_words (rowid, bank, words) VALUES (999, 'b1', 'nothing')"],
  ["vectors", "units without a vector", "DELETE FROM vectors WHERE vector_no = (SELECT max(vector_no) FROM vectors)", "vectors"],
  [
    "vectors",
    "a vector of no unit",
    "INSERT INTO vectors (bank_no, unit_id, family, vector) SELECT bank_no, 'gone', 0, vector FROM vectors LIMIT 1",
    "vectors",
  ],
];

test.for(damages)("%s: %s is found and mended", async ([part, , sql, file]) => {
  await using memory = await startWithHistory();
  expect(damage(sql, file)).toBeGreaterThan(0);
  const { disagreements } = await memory.internal.verifyBanks(ctx(), verify);
  expect(disagreements.map((found) => found.part)).toContain(part);
  expect(disagreements.every((found) => !found.isRepaired && !found.text.includes("\n"))).toBe(true);
  const mended = await memory.internal.verifyBanks(ctx(), repair);
  expect(mended.disagreements.filter((found) => !found.isRepaired)).toEqual(part === "documents" ? expect.any(Array) : []);
  const { disagreements: left } = await memory.internal.verifyBanks(ctx(), verify);
  // What a chunk held cannot be derived from its facts: its units stay, and are told of.
  expect(left.map((found) => found.part)).toEqual(part === "documents" ? ["units"] : []);
  await expectTrueCounts(memory.store, "uid-b");
  const { results } = await memory.client.recall(ctx(), recallOf("Who met Ann in Oslo?"));
  expect(results[0]?.text).toBe("Carla met Ann in Oslo.");
});

test("a mended unit is found by its words and its meaning again", async () => {
  await using memory = await startWithHistory();
  const { items } = await memory.store.listUnits("uid-b", { ...everything, documentId: "d" });
  const [before] = [...(await memory.vectors.get("uid-b", [items[0]!.unitId])).values()];
  damage(`DELETE FROM vectors WHERE unit_id = '${items[0]!.unitId}'`, "vectors");
  damage("DELETE FROM unit_words");
  await memory.internal.verifyBanks(ctx(), repair);
  expect([...(await memory.vectors.get("uid-b", [items[0]!.unitId])).values()]).toEqual([before]);
  expect(await memory.store.listUnits("uid-b", { ...everything, words: { all: ["carla", "oslo"] } })).toMatchObject({ total: 1 });
});

test("vectors that a killed process left behind are gone soon after a start", async () => {
  {
    await using memory = await startTestService({ folder });
    await memory.client.retain(ctx(), retainOf(conversation));
    const vector = new Float32Array(memory.embedder.dimensions);
    await memory.vectors.upsert("uid-b", [{ unitId: "never-committed", family: "world", vector }]);
  }
  await using memory = await startTestService({ folder });
  await memory.service.start();
  const { total } = await memory.store.listUnits("uid-b", everything);
  await expect.poll(() => memory.vectors.count("uid-b"), { timeout: 10_000 }).toBe(total);
});
