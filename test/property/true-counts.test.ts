import type { CallContext } from "@memory-bank/context";
import { createInProcessBus } from "@memory-bank/events";
import { createClock } from "@memory-bank/lifecycle";
import { createMemoryService, openMemoryStore, openVectorIndex } from "@memory-bank/memory";
import { openEmbedder } from "@memory-bank/models";
import { MemoryInternalServiceService, MemoryServiceService, type RetainItem } from "@memory-bank/proto/memory/v1/memory";
import { createInProcessMesh, type Rpc } from "@memory-bank/rpc";
import { silentLogger } from "@memory-bank/telemetry";
import { expect, test } from "vitest";
import { expectTrueCounts } from "../../services/memory/src/store/recount.ts";
import { eventually } from "../support/api.ts";
import { isFullSize, type Random, seededRandom } from "../support/random.ts";

/** Whatever is done to a bank, in whatever order: its counts are those of a plain recount of what it holds. */

const histories = isFullSize ? 2_000 : 60;
const stepsPerHistory = 12;
/** Per history, generously: most take a tenth of it. */
const historyMsMax = 3_000;

const config = {
  llm_provider: "local",
  retain_extraction_mode: "concise",
  retain_chunk_size: 3000,
  store_document_text: true,
  retain_dedup_threshold: 0.95,
  semantic_link_min_similarity: 0.7,
  enable_observations: true,
  enable_auto_consolidation: false,
  consolidation_max_memories_per_round: 100,
  max_observations_per_scope: -1,
};

async function startMemory() {
  const log = silentLogger;
  const nowUs = createClock();
  const bus = createInProcessBus({ log });
  const storage = await openMemoryStore({ kind: "sqlite", file: ":memory:" }, { bus, log, nowUs });
  const embedder = await openEmbedder({ kind: "lexical" });
  const { id: embedderId, dimensions } = embedder;
  const vectors = await openVectorIndex({ kind: "sqlite", file: ":memory:", embedderId, dimensions });
  const service = createMemoryService({
    ...storage,
    ...{ vectors, embedder, log, nowUs, newId: () => crypto.randomUUID() },
    bank: {
      // Every bank exists; the uid tells its id.
      resolveBank: async (_: CallContext, { bankId, bankUid }: { bankId: string; bankUid: string }) => {
        const id = bankId || bankUid;
        return {
          tenantId: "t",
          config,
          bank: { bankId: id, bankUid: id, name: id, mission: "", createdAtUs: 0, updatedAtUs: 0 },
        };
      },
    },
    owner: "test",
    recallIndexBytesMax: 1e8,
    retainConcurrency: 2,
  });
  const mesh = createInProcessMesh({ log });
  mesh.bind(service);
  await service.start();
  return {
    store: storage.store,
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

// Few words of each kind: facts must share entities, repeat each other and fall into each other's time windows.
const people = ["Maria", "Tom", "Anna Berg"];
const places = ["Lisbon", "Ghent", "Delft"];
const deeds = ["visited", "moved to", "likes", "works in"];
const tagSets = [[], ["a"], ["a", "user:maria"]];
const types = ["world", "preference", "experience", "observation"];
const days = 24 * 3_600 * 1_000_000;
const documentIds = ["d1", "d2", "d3"];

const sentence = (random: Random) => `${random.pick(people)} ${random.pick(deeds)} ${random.pick(places)}.`;
const text = (random: Random) => Array.from({ length: random.int(1, 3) }, () => sentence(random)).join(" ");
const someTags = (random: Random) => [...random.pick(tagSets)];

function item(random: Random, members: Partial<RetainItem> = {}): RetainItem {
  return {
    content: text(random),
    context: random.pick(["", "Staff call"]),
    metadata: {},
    tags: someTags(random),
    entities: random.next() < 0.2 ? [{ text: random.pick(people), type: "" }] : [],
    exactEntities: random.next() < 0.2,
    append: false,
    timeless: random.next() < 0.1,
    ...(random.next() < 0.7 && { timestampUs: 1_770_000_000_000_000 + random.int(0, 40) * (days / 8) }),
    ...(random.next() < 0.7 && { documentId: random.pick(documentIds) }),
    ...members,
  };
}

interface Bank {
  readonly bankId: string;
  readonly client: Rpc<typeof MemoryServiceService>;
  readonly random: Random;
}

async function anyUnit({ client, bankId, random }: Bank, state: "valid" | "invalidated", isRaw = true) {
  const { units } = await client.listMemories(ctx(), { bankId, consolidationState: "", state, limit: 1000, offset: 0 });
  const fitting = units.filter((unit) => !isRaw || unit.type !== "observation");
  return fitting.length === 0 ? undefined : random.pick(fitting);
}

const edit = { exactEntities: false };

/** What can be done to a bank. Each answers what it did, for the trail of a failure. */
const steps: Readonly<Record<string, (bank: Bank) => Promise<unknown>>> = {
  async retain({ client, bankId, random }) {
    const items = Array.from({ length: random.int(1, 4) }, () => item(random));
    await client.retain(ctx(), { bankId, async: false, items });
    return items.map(({ content, documentId, tags }) => [documentId, content, tags]);
  },
  async append({ client, bankId, random }) {
    const one = item(random, { documentId: random.pick(documentIds), append: true });
    await client.retain(ctx(), { bankId, async: false, items: [one] });
    return [one.documentId, one.content];
  },
  async retainTwiceAtOnce({ client, bankId, random }) {
    const documentId = random.pick(documentIds);
    const both = [item(random, { documentId }), item(random, { documentId })];
    await Promise.all(both.map((one) => client.retain(ctx(), { bankId, async: false, items: [one] })));
    return both.map(({ content }) => [documentId, content]);
  },
  async editText(bank) {
    const unit = await anyUnit(bank, "valid");
    const text = sentence(bank.random);
    if (unit) await bank.client.updateMemory(ctx(), { ...edit, bankId: bank.bankId, memoryId: unit.id, text });
    return [unit?.id, text];
  },
  async editMembers(bank) {
    const unit = await anyUnit(bank, "valid");
    const { random } = bank;
    const occurredStartUs = 1_770_000_000_000_000 + random.int(0, 10) * days;
    const changes = {
      factType: random.pick(types.slice(0, 3)),
      entities: { values: [random.pick(people), random.pick(places)] },
      ...(random.next() < 0.5 && { occurredStartUs, occurredEndUs: occurredStartUs + days }),
    };
    if (unit) await bank.client.updateMemory(ctx(), { ...edit, bankId: bank.bankId, memoryId: unit.id, ...changes });
    return [unit?.id, changes];
  },
  async invalidate(bank) {
    const unit = await anyUnit(bank, "valid");
    const change = { state: "invalidated", reason: "wrong" };
    if (unit) await bank.client.updateMemory(ctx(), { ...edit, bankId: bank.bankId, memoryId: unit.id, ...change });
    return unit?.id;
  },
  async restore(bank) {
    const unit = await anyUnit(bank, "invalidated");
    if (unit) await bank.client.updateMemory(ctx(), { ...edit, bankId: bank.bankId, memoryId: unit.id, state: "valid" });
    return unit?.id;
  },
  async retag({ client, bankId, random }) {
    const { documents } = await client.listDocuments(ctx(), { bankId, limit: 100, offset: 0 });
    if (documents.length === 0) return "nothing";
    const [documentId, values] = [random.pick(documents).id, someTags(random)];
    await client.updateDocument(ctx(), { bankId, documentId, tags: { values } });
    return [documentId, values];
  },
  async deleteDocument({ client, bankId, random }) {
    const { documents } = await client.listDocuments(ctx(), { bankId, limit: 100, offset: 0 });
    if (documents.length === 0) return "nothing";
    const documentId = random.pick(documents).id;
    await client.deleteDocument(ctx(), { bankId, documentId });
    return documentId;
  },
  async consolidate({ client, bankId }) {
    const { operationId } = await client.consolidate(ctx(), { bankId });
    await eventually("the consolidation ends", async () => {
      const { status } = await client.getOperation(ctx(), { bankId, operationId, includePayload: false });
      return ["completed", "failed", "cancelled"].includes(status);
    });
    return operationId;
  },
  async clearObservationsOfOne(bank) {
    const unit = await anyUnit(bank, "valid");
    if (unit) await bank.client.clearMemoryObservations(ctx(), { bankId: bank.bankId, memoryId: unit.id });
    return unit?.id;
  },
  async clearObservations({ client, bankId }) {
    await client.clearObservations(ctx(), { bankId });
  },
  async clear({ client, bankId, random }) {
    const type = random.pick([undefined, ...types]);
    await client.clearMemories(ctx(), { bankId, ...(type && { type }) });
    return type;
  },
};

/** How often each is done: what builds up, more often than what takes away. */
const weights: Readonly<Record<string, number>> = {
  retain: 6,
  append: 2,
  editText: 2,
  consolidate: 3,
  clear: 0.4,
  clearObservations: 0.5,
};

function pickStep(random: Random): string {
  const names = Object.keys(steps).flatMap((name) => Array<string>(Math.round((weights[name] ?? 1) * 10)).fill(name));
  return random.pick(names);
}

test(
  `counts are true over ${histories} random histories`,
  async () => {
    await using memory = await startMemory();
    const random = seededRandom("counts are true");
    const done = new Set<string>();
    const links = new Set<string>();
    let observations = 0;
    for (let history = 0; history < histories; history++) {
      const bank = { bankId: `bank-${history}`, client: memory.client, random };
      const trail: string[] = [];
      for (let step = 0; step < stepsPerHistory; step++) {
        const name = step === 0 ? "retain" : pickStep(random);
        try {
          trail.push(`${name} ${JSON.stringify(await steps[name]!(bank))}`);
          await expectTrueCounts(memory.store, bank.bankId);
        } catch (cause) {
          throw new Error(`history ${history} of seed ${random.seed}, at ${name}, after:\n${trail.join("\n")}\n${cause}`, {
            cause,
          });
        }
        done.add(name);
        if (name !== "consolidate") continue;
        observations += (await memory.store.stats(bank.bankId)).nodesByType.get("observation") ?? 0;
      }
      // The command that looks for damage finds none in what only the service has written.
      const { disagreements } = await memory.internal.verifyBanks(ctx(), { tenantId: "t", bankId: bank.bankId, repair: false });
      expect(disagreements, `history ${history} of seed ${random.seed}, after:\n${trail.join("\n")}`).toEqual([]);
      const stats = await memory.store.stats(bank.bankId);
      for (const byType of stats.links.values()) for (const type of byType.keys()) links.add(type);
    }
    // Histories that never get anywhere would prove nothing.
    expect(observations).toBeGreaterThan(histories / 5);
    expect([...links]).toEqual(expect.arrayContaining(["temporal", "semantic", "entity"]));
    expect([...done].sort()).toEqual(Object.keys(steps).sort());
  },
  histories * historyMsMax,
);
