import type { CallContext } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import { createInProcessBus } from "@memory-bank/events";
import { createClock } from "@memory-bank/lifecycle";
import { type Embedder, openEmbedder } from "@memory-bank/models";
import { Budget } from "@memory-bank/proto/common/v1/common";
import { MemoryInternalServiceService, MemoryServiceService, type RetainItem } from "@memory-bank/proto/memory/v1/memory";
import { createInProcessMesh } from "@memory-bank/rpc";
import { silentLogger } from "@memory-bank/telemetry";
import { describe, expect, test, vi } from "vitest";
import { memoryRetained } from "./events.ts";
import { createMemoryService } from "./service.ts";
import { openMemoryStore } from "./store/open-memory-store.ts";
import { expectTrueCounts } from "./store/recount.ts";
import { openVectorIndex } from "./vector/open-vector-index.ts";

const config = {
  llm_provider: "local",
  retain_extraction_mode: "concise",
  retain_chunk_size: 3000,
  retain_structured_chunk_size: null,
  store_document_text: true,
  retain_dedup_threshold: 0.95,
  semantic_link_min_similarity: 0.7,
  enable_observations: true,
  enable_auto_consolidation: false,
  enable_temporal_retrieval: true,
  enable_graph_retrieval: true,
  enable_reranking: true,
  recall_budget_function: "fixed",
  recall_budget_fixed_low: 100,
  recall_budget_fixed_mid: 300,
  recall_budget_fixed_high: 1000,
};

/** The memory service over real parts in memory; a bank's uid is `uid-<bank id>`. */
async function start(wrap: (embedder: Embedder) => Embedder = (embedder) => embedder) {
  const log = silentLogger;
  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const bus = createInProcessBus({ log });
  const storage = await openMemoryStore({ kind: "sqlite", file: ":memory:" }, { bus, log, nowUs });
  const embedder = wrap(await openEmbedder({ kind: "lexical" }));
  const { id: embedderId, dimensions } = embedder;
  const vectors = await openVectorIndex({ kind: "sqlite", file: ":memory:", embedderId, dimensions });
  const bank = {
    resolveBank: async (_: CallContext, { bankId, bankUid }: { bankId: string; bankUid: string }) => {
      const id = bankId === "" ? bankUid.slice(4) : bankId;
      return {
        tenantId: "t",
        config,
        bank: { bankId: id, bankUid: `uid-${id}`, name: id, mission: "", createdAtUs: 0, updatedAtUs: 0 },
      };
    },
  };
  const service = createMemoryService({
    ...storage,
    ...{ vectors, embedder, bank, log, nowUs, newId },
    owner: "test",
    recallIndexBytesMax: 1e9,
    retainConcurrency: 2,
  });
  const mesh = createInProcessMesh({ log });
  mesh.bind(service);
  return {
    ...storage,
    ...{ vectors, bus, service },
    client: mesh.client(MemoryServiceService),
    internal: mesh.client(MemoryInternalServiceService),
    async [Symbol.asyncDispose]() {
      await service.stop();
      await vectors[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

const ctx = (): CallContext => ({
  requestId: "r",
  transport: "http",
  deadlineMs: Date.now() + 60_000,
  signal: new AbortController().signal,
  principal: { tenantId: "t", keyId: "k", role: "owner", capabilities: [], allowedBankIds: null },
});

const item = (content: string, members: Partial<RetainItem> = {}): RetainItem => ({
  content,
  context: "",
  metadata: {},
  tags: [],
  entities: [],
  exactEntities: false,
  append: false,
  timeless: false,
  timestampUs: Date.UTC(2026, 1, 11, 9) * 1000,
  ...members,
});
const retainOf = (items: RetainItem[], bankId = "b", async = false) => ({ bankId, items, async });
const recallOf = (query: string, bankId = "b") => ({
  ...{ bankId, query, types: [], budget: Budget.UNSPECIFIED, maxTokens: 4096, preferObservations: false, trace: false },
  ...{ maxCommitSeq: 0, minCommitSeq: 0, forReflect: false },
});
const everything = { state: "valid" as const, limit: 1_000, offset: 0 };

const conversation = [
  item("Ann: I moved to Porto last week. I love the tram rides there!"),
  item("Ben: Did you sell the flat in Graz, Ann?"),
  item("Ann: Yes, because the new job at Fjord Systems starts in March."),
];

describe("retain", () => {
  test("appends at the same moment, and a replacement among them, lose nothing that came after", async () => {
    await using memory = await start();
    const line = (i: number) => `Visitor ${i} came through gate ${i}.`;
    const append = (i: number) => item(line(i), { documentId: "log", append: true });
    await Promise.all(Array.from({ length: 8 }, (_, i) => memory.client.retain(ctx(), retainOf([append(i)]))));
    const text = async () => (await memory.store.findDocument("uid-b", "log"))?.originalText?.split("\n").sort();
    expect(await text()).toEqual(Array.from({ length: 8 }, (_, i) => line(i)));
    await Promise.all([
      memory.client.retain(ctx(), retainOf([item(line(8), { documentId: "log" })])),
      memory.client.retain(ctx(), retainOf([append(9)])),
    ]);
    // Either the replacement was last, or the addition is to it.
    expect([[line(8)], [line(8), line(9)]]).toContainEqual(await text());
    await expectTrueCounts(memory.store, "uid-b");
  });

  test("the same input gives the same facts, entities and links, ids aside", async () => {
    await using memory = await start();
    for (const bankId of ["one", "two"]) await memory.client.retain(ctx(), retainOf(conversation, bankId));
    const facts = async (bankUid: string) => {
      const { items } = await memory.store.listUnits(bankUid, everything);
      return items.map(({ text, type, author, subject, entities, occurredStartUs, tokenCount }) => ({
        ...{ text, type, author, subject, occurredStartUs, tokenCount },
        entities: entities.map(({ name, kind }) => `${name} ${kind}`),
      }));
    };
    const one = await facts("uid-one");
    expect(one.length).toBeGreaterThanOrEqual(4);
    expect(await facts("uid-two")).toEqual(one);
    expect(await memory.store.stats("uid-two")).toMatchObject({ links: (await memory.store.stats("uid-one")).links });
    await expectTrueCounts(memory.store, "uid-one");
  });

  test("one that fails while encoding leaves nothing: no document, no vector, no event", async () => {
    let isBroken = true;
    await using memory = await start((embedder) => ({
      ...embedder,
      embed: async (texts, options) => {
        if (isBroken) throw new AppError("unavailable", "MODEL_DOWN", "Service temporarily unavailable");
        return embedder.embed(texts, options);
      },
    }));
    await expect(memory.client.retain(ctx(), retainOf(conversation))).rejects.toMatchObject({ code: "unavailable" });
    expect(await memory.store.seq("uid-b")).toBe(0);
    expect(await memory.vectors.count("uid-b")).toBe(0);
    isBroken = false;
    await memory.client.retain(ctx(), retainOf(conversation));
    const { total } = await memory.store.listUnits("uid-b", everything);
    expect(await memory.vectors.count("uid-b")).toBe(total);
  });

  test("a commit that the store refuses takes its vectors back", async () => {
    await using memory = await start();
    await memory.internal.fence(ctx(), { bankUid: "uid-b" });
    await expect(memory.client.retain(ctx(), retainOf(conversation))).rejects.toMatchObject({ code: "not_found" });
    expect(await memory.vectors.count("uid-b")).toBe(0);
  });

  test("thirty concurrent retains of one bank all land, and the counts are true", async () => {
    await using memory = await start();
    const calls = Array.from({ length: 30 }, (_, i) =>
      memory.client.retain(ctx(), retainOf([item(`Crate ${i} went to Oslo with Ann.`, { documentId: `d${i % 10}` })])),
    );
    await Promise.all(calls);
    expect((await memory.store.listUnits("uid-b", everything)).total).toBe(10);
    expect(await memory.vectors.count("uid-b")).toBe(10);
    await expectTrueCounts(memory.store, "uid-b");
  });

  test("tells of each item once, with the units that its document owns", async () => {
    await using memory = await start();
    const events: unknown[] = [];
    await memory.bus.subscribe({
      subject: memoryRetained.subject,
      durable: "test",
      handler: async (event) => void events.push(event.payload),
    });
    await memory.service.start();
    await memory.client.retain(
      ctx(),
      retainOf([item("Ann likes tea.", { documentId: "d", tags: ["x"] }), item("Ben likes rum.")]),
    );
    await vi.waitFor(() => expect(events).toHaveLength(1));
    expect(events[0]).toMatchObject({
      bankId: "b",
      commitSeq: 1,
      items: [
        { documentId: "d", unitCount: 1, tags: ["x"] },
        { documentId: null, unitCount: 1 },
      ],
    });
  });

  test("a longer call is split into commits, and neighbours are still known across them", async () => {
    await using memory = await start();
    const long = Array.from({ length: 6 }, (_, i) =>
      item(`${`Box ${i} holds ${"many small things ".repeat(200)}`}. The lid of box ${i} is green.`),
    );
    await memory.client.retain(ctx(), retainOf(long));
    expect(await memory.store.seq("uid-b")).toBeGreaterThan(0);
    const { results } = await memory.client.recall(ctx(), recallOf("What colour is the lid of box 4?"));
    expect(results[0]?.text).toBe("The lid of box 4 is green.");
  });
});

describe("recall", () => {
  test("sees a retain that was answered just before, an upsert and a deletion", async () => {
    await using memory = await start();
    const answers = async () =>
      (await memory.client.recall(ctx(), recallOf("Where is the spare key?"))).results.map((hit) => hit.text);
    expect(await answers()).toEqual([]);
    await memory.client.retain(ctx(), retainOf([item("The spare key is in the shed.", { documentId: "key" })]));
    expect(await answers()).toEqual(["The spare key is in the shed."]);
    await memory.client.retain(ctx(), retainOf([item("The spare key is under the pot.", { documentId: "key" })]));
    expect(await answers()).toEqual(["The spare key is under the pot."]);
    await memory.client.deleteDocument(ctx(), { bankId: "b", documentId: "key" });
    expect(await answers()).toEqual([]);
    expect(await memory.vectors.count("uid-b")).toBe(0);
  });

  test("an edited memory is found by its new words, an invalidated one not at all until it is restored", async () => {
    await using memory = await start();
    await memory.client.retain(ctx(), retainOf([item("The meeting is in Cork."), item("Unrelated weather note.")]));
    const { items } = await memory.store.listUnits("uid-b", everything);
    const memoryId = items.find((unit) => unit.text.includes("Cork"))!.unitId;
    const update = (members: object) =>
      memory.client.updateMemory(ctx(), { bankId: "b", memoryId, exactEntities: false, ...members });
    const found = async (query: string) =>
      (await memory.client.recall(ctx(), recallOf(query))).results.some((hit) => hit.id === memoryId);
    const edited = await update({ text: "The meeting is in Gdansk." });
    expect(edited).toMatchObject({ text: "The meeting is in Gdansk.", entities: [{ name: "Gdansk", kind: "LOCATION" }] });
    expect((await memory.client.recall(ctx(), recallOf("Gdansk meeting"))).results[0]?.id).toBe(memoryId);
    await update({ state: "invalidated", reason: "cancelled" });
    expect(await found("Gdansk meeting")).toBe(false);
    await update({ state: "valid" });
    expect(await found("Gdansk meeting")).toBe(true);
    await expectTrueCounts(memory.store, "uid-b");
  });
});

describe("the end of a bank", () => {
  test("fenced at once, purged to the last vector and job", async () => {
    await using memory = await start();
    await memory.client.retain(ctx(), retainOf(conversation));
    await memory.client.retain(ctx(), retainOf(conversation, "b", true));
    expect((await memory.internal.fence(ctx(), { bankUid: "uid-b" })).hiddenCount).toBeGreaterThan(3);
    expect((await memory.client.recall(ctx(), recallOf("Who moved to Porto?"))).results).toEqual([]);
    for (let calls = 0; !(await memory.internal.purge(ctx(), { bankUid: "uid-b" })).done; calls++) expect(calls).toBeLessThan(50);
    expect(await memory.vectors.count("uid-b")).toBe(0);
    expect((await memory.jobs.list({ groupKey: "uid-b", limit: 10, offset: 0 })).total).toBe(0);
  });
});
