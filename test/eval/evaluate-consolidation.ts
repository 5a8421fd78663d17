import type { CallContext } from "@memory-bank/context";
import { createInProcessBus } from "@memory-bank/events";
import { createClock } from "@memory-bank/lifecycle";
import { createMemoryService, openMemoryStore, openVectorIndex } from "@memory-bank/memory";
import { openEmbedder } from "@memory-bank/models";
import { MemoryServiceService, type MemoryUnit, type RetainItem } from "@memory-bank/proto/memory/v1/memory";
import { createInProcessMesh, type Rpc } from "@memory-bank/rpc";
import { silentLogger } from "@memory-bank/telemetry";
import type { ConsolidationCase } from "./consolidation-cases.ts";
import type { Embeddings } from "./evaluate-questions.ts";

export interface ConsolidationFigures {
  readonly cases: number;
  /** Notes called outdated that are, and by what they may be; of all called so, and of all that are. */
  readonly supersedePrecision: number;
  readonly supersedeRecall: number;
  /** Groups of notes that ended up in one observation, of those that should. */
  readonly mergeRecall: number;
  readonly observations: number;
  /** Observations that say what another one of the bank says, as a share of all. */
  readonly duplicateRate: number;
  /** Words of observations that none of their sources holds. */
  readonly inventedWords: number;
  /** Observations changed by running again over everything, which should change nothing. */
  readonly unstable: number;
  /** One line per wrong answer. */
  readonly mistakes: readonly string[];
}

/** Notes are told this far apart: sooner the same words would be one fact already when they are retained. */
const restUs = 3 * 86_400_000_000;
const startUs = Date.UTC(2026, 0, 5, 9) * 1000;
const waitMs = 10_000;

/** Tells each case to a bank of its own, note by note or all at once, and compares what the bank then knows. */
export async function evaluateConsolidation(
  cases: readonly ConsolidationCase[],
  embeddings: Embeddings,
): Promise<ConsolidationFigures> {
  await using bank = await openBanks(embeddings);
  const sum = { right: 0, claimed: 0, wanted: 0, merged: 0, groups: 0, observations: 0, duplicates: 0, invented: 0, unstable: 0 };
  const mistakes: string[] = [];
  for (const [i, one] of cases.entries()) {
    const bankId = `case-${i}`;
    const outcome = await bank.tell(bankId, one.notes, i % 2 === 0);
    for (const { note, by } of outcome.superseded) {
      if (one.disputed?.includes(note)) continue;
      sum.claimed++;
      const wanted = one.outdated.find((outdated) => outdated.note === note);
      if (wanted && by.every((other) => wanted.by.includes(other))) sum.right++;
      else mistakes.push(`wrongly outdated: "${one.notes[note]}" by "${by.map((other) => one.notes[other]).join('" and "')}"`);
    }
    for (const { note } of one.outdated) {
      sum.wanted++;
      if (!outcome.superseded.some((found) => found.note === note))
        mistakes.push(`still held true: "${one.notes[note]}" (${one.notes.join(" / ")})`);
    }
    for (const group of one.together) {
      sum.groups++;
      if (outcome.observations.some(({ notes }) => group.every((note) => notes.has(note)))) sum.merged++;
      else mistakes.push(`not brought together: ${group.map((note) => `"${one.notes[note]}"`).join(", ")}`);
    }
    sum.observations += outcome.observations.length;
    sum.duplicates += countTwins(outcome.observations.map(({ text }) => text));
    for (const { text, notes } of outcome.observations)
      sum.invented += inventedWords(
        text,
        [...notes].map((note) => one.notes[note]!),
      );
    sum.unstable += outcome.changedOnRepeat;
    if (outcome.changedOnRepeat > 0) mistakes.push(`changed when run again: ${one.notes.join(" / ")}`);
  }
  return {
    cases: cases.length,
    supersedePrecision: sum.right / Math.max(1, sum.claimed),
    supersedeRecall: sum.right / Math.max(1, sum.wanted),
    mergeRecall: sum.merged / Math.max(1, sum.groups),
    observations: sum.observations,
    duplicateRate: sum.duplicates / Math.max(1, sum.observations),
    inventedWords: sum.invented,
    unstable: sum.unstable,
    mistakes,
  };
}

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function inventedWords(text: string, sources: readonly string[]): number {
  const known = new Set(sources.flatMap(words));
  return words(text).filter((word) => !known.has(word)).length;
}

function countTwins(texts: readonly string[]): number {
  return texts.length - new Set(texts.map((text) => words(text).sort().join(" "))).size;
}

interface Outcome {
  readonly superseded: readonly { readonly note: number; readonly by: readonly number[] }[];
  readonly observations: readonly { readonly text: string; readonly notes: ReadonlySet<number> }[];
  readonly changedOnRepeat: number;
}

/** The memory service over real parts in memory. */
async function openBanks(embeddings: Embeddings) {
  const log = silentLogger;
  const nowUs = createClock();
  const bus = createInProcessBus({ log });
  const storage = await openMemoryStore({ kind: "sqlite", file: ":memory:" }, { bus, log, nowUs });
  const embedder = await openEmbedder({ kind: embeddings });
  const { id: embedderId, dimensions } = embedder;
  const vectors = await openVectorIndex({ kind: "sqlite", file: ":memory:", embedderId, dimensions });
  const memory = createMemoryService({
    ...storage,
    ...{ vectors, embedder, log, nowUs, newId: () => crypto.randomUUID(), owner: "eval", isAlone: true },
    recallIndexBytesMax: 1e9,
    retainConcurrency: 1,
    bank: {
      resolveBank: async (_: CallContext, { bankId, bankUid }: { bankId: string; bankUid: string }) => {
        const id = bankId === "" ? bankUid : bankId;
        return {
          tenantId: "t",
          config,
          bank: { bankId: id, bankUid: id, name: id, mission: "", createdAtUs: 0, updatedAtUs: 0 },
        };
      },
    },
  });
  const mesh = createInProcessMesh({ log });
  mesh.bind(memory);
  await memory.start();
  const client = mesh.client(MemoryServiceService);
  const { store } = storage;
  return {
    async tell(bankId: string, notes: readonly string[], isOneByOne: boolean): Promise<Outcome> {
      for (const [day, note] of notes.entries()) {
        await client.retain(context(), { bankId, async: false, items: [itemOf(note, day)] });
        if (isOneByOne) await consolidate(client, bankId);
      }
      await consolidate(client, bankId);
      const { observations, superseded } = await outcomeOf();
      const before = JSON.stringify(observations.map(({ text, notes: sources }) => [text, [...sources].sort()]).sort());
      await client.clearObservations(context(), { bankId });
      await consolidate(client, bankId);
      const again = await outcomeOf();
      const after = JSON.stringify(again.observations.map(({ text, notes: sources }) => [text, [...sources].sort()]).sort());
      return { observations, superseded, changedOnRepeat: before === after ? 0 : 1 };

      async function outcomeOf() {
        const { units } = await client.listMemories(context(), {
          bankId,
          consolidationState: "",
          state: "valid",
          limit: 1_000,
          offset: 0,
        });
        const noteOf = new Map<string, number>();
        for (const unit of units.filter((one) => one.type !== "observation")) noteOf.set(unit.id, dayOf(unit));
        const full = await store.getUnits(bankId, [...noteOf.keys()]);
        return {
          observations: (
            await store.getUnits(
              bankId,
              units.filter((unit) => unit.type === "observation").map((unit) => unit.id),
            )
          ).map((unit) => ({
            text: unit.text,
            notes: new Set(unit.sourceUnitIds.map((id) => noteOf.get(id)!)),
          })),
          superseded: full.flatMap((unit) => {
            const by = unit.supersededBy.flatMap((id) => noteOf.get(id) ?? []);
            return by.length > 0 ? [{ note: noteOf.get(unit.unitId)!, by }] : [];
          }),
        };
      }
    },
    async [Symbol.asyncDispose]() {
      await memory.stop();
      await vectors[Symbol.asyncDispose]();
      await embedder[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

const dayOf = (unit: MemoryUnit): number => Math.floor((unit.mentionedAtUs! - startUs) / restUs);

async function consolidate(client: Rpc<typeof MemoryServiceService>, bankId: string): Promise<void> {
  const { operationId } = await client.consolidate(context(), { bankId });
  const deadline = Date.now() + waitMs;
  for (;;) {
    const { status, errorMessage } = await client.getOperation(context(), { bankId, operationId, includePayload: false });
    if (status === "completed") return;
    if (status === "failed" || Date.now() > deadline) throw new Error(`consolidation ${status}: ${errorMessage}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const itemOf = (content: string, day: number): RetainItem => ({
  content,
  context: "",
  metadata: {},
  tags: [],
  entities: [],
  exactEntities: false,
  append: false,
  timeless: false,
  timestampUs: startUs + day * restUs,
});

const context = (): CallContext => ({
  requestId: "eval",
  transport: "system",
  deadlineMs: Date.now() + 60_000,
  signal: new AbortController().signal,
  principal: { tenantId: "t", keyId: "eval", role: "owner", capabilities: [], allowedBankIds: null },
});

/** What a bank has by default, as far as retain and consolidation read it; consolidation runs when it is asked for. */
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
};
