import { AppError } from "@memory-bank/errors";
import { createInProcessBus } from "@memory-bank/events";
import { createClock } from "@memory-bank/lifecycle";
import { openEmbedder } from "@memory-bank/models";
import { silentLogger } from "@memory-bank/telemetry";
import { describe, expect, test, vi } from "vitest";
import { consolidationJob } from "../../consolidation-job.ts";
import { consolidationCompleted } from "../../events.ts";
import { createKeyedLock } from "../../keyed-lock.ts";
import { createRecallIndexes } from "../../recall-indexes.ts";
import { openMemoryStore } from "../../store/open-memory-store.ts";
import { expectTrueCounts } from "../../store/recount.ts";
import { openVectorIndex } from "../../vector/open-vector-index.ts";
import { retainBatch } from "../retain/retain.ts";
import type { RetainItem } from "../retain/retain-batch.ts";
import { noUsage } from "../token-usage.ts";
import type { BankRef, ObservationScopes } from "../unit.ts";
import { type ConsolidationDeps, consolidateBank } from "./consolidate-bank.ts";
import type { Consolidator } from "./consolidator.ts";
import { createLocalConsolidator } from "./local/local-consolidator.ts";

const settings = {
  llm_provider: "local",
  retain_extraction_mode: "concise",
  retain_chunk_size: 3000,
  store_document_text: true,
  retain_dedup_threshold: 0.95,
  semantic_link_min_similarity: 0.7,
  enable_observations: true,
  enable_auto_consolidation: false,
};
const dayUs = 86_400_000_000;
const leaseMs = 30_000;

/** A bank over real parts in memory, whose rounds are run by hand. */
async function openBank() {
  const log = silentLogger;
  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const bus = createInProcessBus({ log });
  const storage = await openMemoryStore({ kind: "sqlite", file: ":memory:" }, { bus, log, nowUs });
  const embedder = await openEmbedder({ kind: "lexical" });
  const { id: embedderId, dimensions } = embedder;
  const vectors = await openVectorIndex({ kind: "sqlite", file: ":memory:", embedderId, dimensions });
  const { store, jobs, relay } = storage;
  const indexes = createRecallIndexes({ store, bytesMax: 1e9 });
  const consolidator = createLocalConsolidator();
  const deps: ConsolidationDeps = {
    ...storage,
    vectors,
    embedder,
    indexes,
    lock: createKeyedLock(),
    log,
    nowUs,
    newId,
    consolidator,
  };
  const bank: BankRef = { tenantId: "t", bankId: "b", bankUid: newId() };
  const events: unknown[] = [];
  await bus.subscribe({
    subject: consolidationCompleted.subject,
    durable: "test",
    handler: async ({ payload }) => void events.push(payload),
  });
  relay.start();
  let day = 0;
  const { bankUid } = bank;
  return {
    ...{ store, jobs, vectors, deps, bank },
    tell: (texts: readonly string[], members: Partial<RetainItem> = {}) =>
      retainBatch(
        { ...deps, languageModel: { kind: "local" } },
        {
          ...{
            bank,
            config: settings,
            narrator: undefined,
            firstItemIndex: 0,
            callId: newId(),
            operationId: newId(),
            signal: new AbortController().signal,
          },
          items: texts.map((content) => ({
            ...{ content, context: "", documentId: undefined, metadata: {}, tags: [], entities: [], exactEntities: false },
            ...{ observationScopes: undefined, strategy: undefined, append: false },
            timestampUs: Date.UTC(2026, 0, 1) * 1000 + dayUs * 3 * ++day,
            ...members,
          })),
        },
      ),
    /** Runs one round as a job of its own; answers the job as it is afterwards. */
    async round(
      options: { config?: object; scopes?: ObservationScopes; consolidator?: Consolidator; before?: () => Promise<unknown> } = {},
    ) {
      const [enqueued] = await jobs.enqueue([
        consolidationJob(bank, newId(), nowUs(), { isUrgent: true, scopes: options.scopes }),
      ]);
      const [claimed] = await jobs.claim({ kinds: ["consolidation"], limit: 1, owner: "test", leaseMs, nowUs: nowUs() });
      await options.before?.();
      const run = consolidateBank(
        { ...deps, consolidator: options.consolidator ?? consolidator },
        {
          bank,
          config: { ...settings, ...options.config },
          scopesOverride: options.scopes,
          claim: claimed!.claim,
          signal: new AbortController().signal,
          progress: (processed, total) => jobs.setProgress(claimed!.claim, { stage: "consolidating", processed, total }),
        },
      );
      await run;
      return await jobs.get(bankUid, enqueued!.job.id);
    },
    async observations() {
      const { items } = await store.listUnits(bankUid, { state: "valid", type: "observation", limit: 1_000, offset: 0 });
      return items.map(({ unitId, text, proofCount, tags }) => ({ unitId, text, proofCount, tags }));
    },
    async unit(part: string) {
      const { items } = await store.listUnits(bankUid, { state: "valid", limit: 1_000, offset: 0 });
      return items.find((unit) => unit.type !== "observation" && unit.text.includes(part))!;
    },
    checkCounts: () => expectTrueCounts(store, bankUid),
    async reports(count: number) {
      relay.nudge();
      await vi.waitFor(() => expect(events).toHaveLength(count));
      return events;
    },
    async [Symbol.asyncDispose]() {
      await vectors[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

/** Local rules, except that a text makes it fail in some way. */
const failingOn = (text: string, error: () => Error): Consolidator => {
  const local = createLocalConsolidator();
  return {
    ...local,
    propose: (input) => (input.facts.some((fact) => fact.text.includes(text)) ? Promise.reject(error()) : local.propose(input)),
  };
};

describe("a round", () => {
  test("restatements become one observation with proof, a change of mind supersedes, single facts stay as they are", async () => {
    await using bank = await openBank();
    await bank.tell(["Ann: I love hiking.", "Ann: I live in Graz.", "Ben has a canoe."]);
    await bank.tell(["Ann: I really enjoy hiking.", "Ann: I moved to Porto."]);
    const job = await bank.round();
    expect(job).toMatchObject({ status: "completed", result: { items_count: 5, observations_created: 2, memories_failed: 0 } });
    expect((await bank.observations()).map(({ text, proofCount }) => [text, proofCount]).sort()).toEqual([
      ["Ann: I love hiking.", 2],
      ["Ann: I moved to Porto.", 2],
    ]);
    const [old, current] = [await bank.unit("Graz"), await bank.unit("Porto")];
    expect(old.supersededBy).toContain(current.unitId);
    expect(current.supersededBy).toEqual([]);
    expect((await bank.store.stats(bank.bank.bankUid)).pendingConsolidation).toBe(0);
    expect(await bank.reports(1)).toMatchObject([{ status: "completed", observationsCreated: 2, tagSets: [[]], error: null }]);
    await bank.checkCounts();
  });

  test("another restatement is added as proof, another change rewrites the text and leaves a history", async () => {
    await using bank = await openBank();
    await bank.tell(["I live in Graz.", "I moved to Porto."]);
    await bank.round();
    const [before] = await bank.observations();
    await bank.tell(["I live in Faro now."]);
    expect(await bank.round()).toMatchObject({ result: { observations_created: 0, observations_updated: 1 } });
    const [after, ...others] = await bank.observations();
    expect(others).toEqual([]);
    expect(after).toMatchObject({ unitId: before!.unitId, text: "I live in Faro now.", proofCount: 3 });
    expect(await bank.store.history(bank.bank.bankUid, after!.unitId)).toMatchObject([{ previousText: "I moved to Porto." }]);
    expect(await bank.vectors.count(bank.bank.bankUid)).toBe(4);
    await bank.checkCounts();
  });

  test("running again over everything changes nothing", async () => {
    await using bank = await openBank();
    await bank.tell(["I live in Graz.", "I moved to Porto.", "I love jazz.", "I enjoy jazz."]);
    await bank.round();
    const before = await bank.observations();
    const { bankUid } = bank.bank;
    expect(await bank.round()).toMatchObject({ result: { items_count: 0 } });
    await bank.store.clearObservations(bank.bank, undefined, bank.deps.nowUs(), { events: [], jobs: [] });
    await bank.round();
    const strip = (list: Awaited<ReturnType<typeof bank.observations>>) =>
      list.map(({ text, proofCount }) => `${text} ${proofCount}`).sort();
    expect(strip(await bank.observations())).toEqual(strip(before));
    expect((await bank.store.stats(bankUid)).pendingConsolidation).toBe(0);
  });

  test("stops at its bound, and the same commit queues the next one", async () => {
    await using bank = await openBank();
    await bank.tell(["Ada sings.", "Ben dances.", "Cleo paints.", "Dan rows.", "Eve runs."]);
    const job = await bank.round({ config: { consolidation_max_memories_per_round: 3 } });
    expect(job).toMatchObject({ status: "completed", result: { items_count: 3 } });
    expect((await bank.store.stats(bank.bank.bankUid)).pendingConsolidation).toBe(2);
    expect((await bank.jobs.list({ groupKey: bank.bank.bankUid, status: "pending", limit: 10, offset: 0 })).total).toBe(1);
  });
});

describe("scopes", () => {
  test("facts of different tags never meet; per tag they do", async () => {
    await using bank = await openBank();
    await bank.tell(["I live in Graz."], { tags: ["a"] });
    await bank.tell(["I moved to Porto."], { tags: ["a", "b"] });
    await bank.round();
    expect(await bank.observations()).toEqual([]);
    expect((await bank.unit("Graz")).supersededBy).toEqual([]);

    await bank.store.clearObservations(bank.bank, undefined, bank.deps.nowUs(), { events: [], jobs: [] });
    await bank.round({ scopes: "per_tag" });
    expect(await bank.observations()).toMatchObject([{ text: "I moved to Porto.", tags: ["a"], proofCount: 2 }]);
    await bank.checkCounts();
  });

  test("at its limit a scope takes updates only", async () => {
    await using bank = await openBank();
    const config = { max_observations_per_scope: 1 };
    await bank.tell(["I live in Graz.", "I moved to Porto."]);
    await bank.round({ config });
    await bank.tell(["I love jazz.", "I enjoy jazz.", "I moved to Faro."]);
    expect(await bank.round({ config })).toMatchObject({ result: { observations_created: 0, observations_updated: 1 } });
    expect(await bank.observations()).toMatchObject([{ text: "I moved to Faro.", proofCount: 3 }]);
  });
});

describe("failures", () => {
  test("only the culprit is marked, after three tries, and recover makes it pending again", async () => {
    await using bank = await openBank();
    await bank.tell(["I love jazz.", "I enjoy jazz.", "poison", "Ben sings.", "Cleo dances."]);
    const consolidator = failingOn("poison", () => new Error("rubbish"));
    expect(await bank.round({ consolidator })).toMatchObject({
      status: "completed",
      result: { items_count: 5, memories_failed: 1 },
    });
    const { bankUid } = bank.bank;
    expect(await bank.store.stats(bankUid)).toMatchObject({ pendingConsolidation: 0, failedConsolidation: 1 });
    expect((await bank.unit("poison")).consolidationFailedAtUs).toBeGreaterThan(0);
    expect(await bank.observations()).toHaveLength(1);
    await bank.checkCounts();
    expect(await bank.store.recoverFailed(bank.bank, bank.deps.nowUs(), { events: [], jobs: [] })).toEqual({ retriedCount: 1 });
    await bank.round();
    expect(await bank.store.stats(bankUid)).toMatchObject({ pendingConsolidation: 0, failedConsolidation: 0 });
  });

  test("an outage marks nothing: the attempt fails, is reported, and what was written stays", async () => {
    await using bank = await openBank();
    await bank.tell(["I love jazz."], { tags: ["x"] });
    await bank.tell(["Ben sings."]);
    const consolidator = failingOn("Ben", () => new AppError("unavailable", "MODEL_DOWN", "The model is down"));
    await expect(bank.round({ consolidator, config: { consolidation_llm_parallelism: 1 } })).rejects.toMatchObject({
      reason: "MODEL_DOWN",
    });
    expect(await bank.store.stats(bank.bank.bankUid)).toMatchObject({ pendingConsolidation: 1, failedConsolidation: 0 });
    expect(await bank.reports(1)).toMatchObject([{ status: "failed", error: "The model is down" }]);
  });

  test("a round that lost its job writes no end of it, and repeating it makes nothing twice", async () => {
    await using bank = await openBank();
    await bank.tell(["I love jazz.", "I enjoy jazz."]);
    const { bankUid } = bank.bank;
    await expect(bank.round({ before: () => bank.jobs.cancelGroup(bankUid) })).rejects.toMatchObject({ reason: "LEASE_LOST" });
    expect(await bank.observations()).toEqual([]);
    expect(await bank.vectors.count(bankUid)).toBe(2);
    await bank.round();
    expect(await bank.observations()).toHaveLength(1);
    expect(await bank.reports(1)).toHaveLength(1);
  });

  test("a bank that is deleted meanwhile gets nothing", async () => {
    await using bank = await openBank();
    await bank.tell(["I love jazz.", "I enjoy jazz."]);
    const local = createLocalConsolidator();
    const consolidator: Consolidator = {
      ...local,
      async propose(input) {
        const proposal = await local.propose(input);
        await bank.store.fence(bank.bank.bankUid);
        return proposal;
      },
    };
    await expect(bank.round({ consolidator })).rejects.toBeInstanceOf(AppError);
    expect(await bank.vectors.count(bank.bank.bankUid)).toBe(2);
  });

  test("a decision that a deletion overtook is taken again without what is gone", async () => {
    await using bank = await openBank();
    await bank.tell(["I love jazz.", "Ben sings."], {});
    await bank.tell(["I enjoy jazz."], { documentId: "gone" });
    const local = createLocalConsolidator();
    let calls = 0;
    const consolidator: Consolidator = {
      ...local,
      async propose(input) {
        const proposal = await local.propose(input);
        if (++calls === 1) await bank.store.deleteDocument(bank.bank, "gone", bank.deps.nowUs(), { events: [], jobs: [] });
        return proposal;
      },
    };
    expect(await bank.round({ consolidator })).toMatchObject({
      status: "completed",
      result: { items_count: 2, observations_created: 0 },
    });
    expect(calls).toBe(2);
    expect(await bank.observations()).toEqual([]);
    expect((await bank.store.stats(bank.bank.bankUid)).pendingConsolidation).toBe(0);
  });

  test("ids that were not shown are ignored, and an empty proposal settles the facts", async () => {
    await using bank = await openBank();
    await bank.tell(["I love jazz."]);
    const consolidator: Consolidator = {
      propose: async ({ facts }) => ({
        deletes: ["nobody"],
        updates: [{ observationId: "nobody", text: "x", sourceIds: [facts[0]!.unitId] }],
        creates: [
          { text: "From nowhere", sourceIds: ["nobody"] },
          { text: "  ", sourceIds: [facts[0]!.unitId] },
        ],
        supersedes: [{ unitId: facts[0]!.unitId, byId: "nobody" }],
        usage: { ...noUsage, input: 7 },
      }),
      mergeTwins: async () => ({ text: undefined, usage: noUsage }),
    };
    expect(await bank.round({ consolidator })).toMatchObject({
      status: "completed",
      result: { observations_created: 0, total_tokens: 7 },
    });
    expect(await bank.observations()).toEqual([]);
  });
});
