import type { CallContext } from "@memory-bank/context";
import { createInProcessBus } from "@memory-bank/events";
import { createClock } from "@memory-bank/lifecycle";
import { type Embedder, type LanguageModel, openEmbedder } from "@memory-bank/models";
import { Budget } from "@memory-bank/proto/common/v1/common";
import { MemoryInternalServiceService, MemoryServiceService, type RetainItem } from "@memory-bank/proto/memory/v1/memory";
import { createInProcessMesh } from "@memory-bank/rpc";
import { silentLogger } from "@memory-bank/telemetry";
import { createMemoryService } from "./service.ts";
import { openMemoryStore } from "./store/open-memory-store.ts";
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

export interface TestServiceOptions {
  /** Stands in for the lexical embedder. */
  readonly wrap?: (embedder: Embedder) => Embedder;
  /** Folder of the files; in memory unless given. */
  readonly folder?: string;
  /** Members of the banks' configuration that differ. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Stands beside the rules; a bank asks it when its `llm_provider` is `openai`. */
  readonly languageModel?: LanguageModel;
}

/** The memory service over real parts; a bank's uid is `uid-<bank id>`. Its jobs run once it is started. */
export async function startTestService(options: TestServiceOptions = {}) {
  const { wrap = (embedder) => embedder, folder, config: changes, languageModel } = options;
  const file = (name: string) => (folder === undefined ? ":memory:" : `${folder}/${name}.sqlite`);
  const log = silentLogger;
  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const bus = createInProcessBus({ log });
  const storage = await openMemoryStore({ kind: "sqlite", file: file("memory") }, { bus, log, nowUs });
  const embedder = wrap(await openEmbedder({ kind: "lexical" }));
  const { id: embedderId, dimensions } = embedder;
  const vectors = await openVectorIndex({
    kind: "sqlite",
    file: file("vectors"),
    otherEmbedder: "discard",
    ...{ embedderId, dimensions },
  });
  const bank = {
    resolveBank: async (_: CallContext, { bankId, bankUid }: { bankId: string; bankUid: string }) => {
      const id = bankId === "" ? bankUid.slice(4) : bankId;
      return {
        tenantId: "t",
        config: { ...config, ...changes },
        bank: { bankId: id, bankUid: `uid-${id}`, name: id, mission: "", createdAtUs: 0, updatedAtUs: 0 },
      };
    },
  };
  const service = createMemoryService({
    ...storage,
    ...{ vectors, embedder, bank, log, nowUs, newId },
    ...(languageModel ? { languageModel } : {}),
    owner: "test",
    recallIndexBytesMax: 1e9,
    retainConcurrency: 2,
    isAlone: true,
  });
  const mesh = createInProcessMesh({ log });
  mesh.bind(service);
  return {
    ...storage,
    ...{ vectors, bus, service, embedder, nowUs },
    client: mesh.client(MemoryServiceService),
    internal: mesh.client(MemoryInternalServiceService),
    async [Symbol.asyncDispose]() {
      await service.stop();
      await vectors[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

export const ctx = (): CallContext => ({
  requestId: "r",
  transport: "http",
  deadlineMs: Date.now() + 60_000,
  signal: new AbortController().signal,
  principal: { tenantId: "t", keyId: "k", role: "owner", capabilities: [], allowedBankIds: null },
});

export const item = (content: string, members: Partial<RetainItem> = {}): RetainItem => ({
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
export const retainOf = (items: RetainItem[], bankId = "b", async = false) => ({ bankId, items, async });
export const recallOf = (query: string, bankId = "b") => ({
  ...{ bankId, query, types: [], budget: Budget.UNSPECIFIED, maxTokens: 4096, preferObservations: false, trace: false },
  ...{ maxCommitSeq: 0, minCommitSeq: 0, forReflect: false },
});
export const everything = { state: "valid" as const, limit: 1_000, offset: 0 };

export const conversation = [
  item("Ann: I moved to Porto last week. I love the tram rides there!"),
  item("Ben: Did you sell the flat in Graz, Ann?"),
  item("Ann: Yes, because the new job at Fjord Systems starts in March."),
];
