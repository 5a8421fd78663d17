import type { Claim } from "@memory-bank/jobs";
import type { Embedder, LanguageModel, TokenUsage } from "@memory-bank/models";
import type { KeyedLock } from "../../keyed-lock.ts";
import type { MemoryStore } from "../../memory-store.ts";
import type { VectorIndex } from "../../vector-index.ts";
import type { BankRef, ObservationScopes } from "../unit.ts";

/** One text to remember, with its members resolved: the instant is chosen, tags are clean. */
export interface RetainItem {
  readonly content: string;
  readonly context: string;
  readonly documentId: string | undefined;
  /** Undefined: the item has no time at all. */
  readonly timestampUs: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly entities: readonly { readonly name: string; readonly kind: string }[];
  readonly exactEntities: boolean;
  readonly observationScopes: ObservationScopes | undefined;
  readonly strategy: string | undefined;
  readonly append: boolean;
}

export interface RetainDeps {
  readonly store: MemoryStore;
  readonly vectors: VectorIndex;
  readonly embedder: Embedder;
  readonly languageModel: LanguageModel;
  readonly lock: KeyedLock;
  readonly nowUs: () => number;
  readonly newId: () => string;
}

/** One part of a retain call that becomes visible as one commit. Its items name different documents. */
export interface RetainBatch {
  readonly bank: BankRef;
  /** The bank's resolved configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly items: readonly RetainItem[];
  /** Place of the first item in the call, so that neighbours are known across batches. */
  readonly firstItemIndex: number;
  /** Whose memory it is, where the bank has a name of its own. */
  readonly narrator: string | undefined;
  /** The retain call: its items are neighbours of one another. */
  readonly callId: string;
  readonly operationId: string;
  readonly signal: AbortSignal;
  /** The job that the commit finishes. */
  readonly claim?: Claim;
  readonly progress?: (stage: string, processed: number, total: number) => Promise<void>;
}

export interface RetainedBatch {
  readonly documentIds: readonly string[];
  readonly unitCount: number;
  /** Tokens that reading the items has cost. */
  readonly usage: TokenUsage;
}

/** Long work gives others a turn; `setImmediate` lets timers and sockets run first. */
export function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve) => setImmediate(resolve));
}
