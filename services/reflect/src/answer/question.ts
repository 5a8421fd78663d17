import type { JsonObject } from "@memory-bank/jobs";
import type { TagFilter } from "../domain/tags.ts";
import type { ReflectBank } from "../reflect-deps.ts";

export type BudgetLevel = "low" | "mid" | "high";

/** A question with everything that decides what may be read for it. */
export interface Question {
  readonly bank: ReflectBank;
  readonly query: string;
  /** The question alone, where `query` adds what the caller said around it: that helps a search, and hides what is asked. */
  readonly asked: string;
  readonly budget: BudgetLevel;
  /** Bound of the answer. */
  readonly maxTokens: number;
  readonly tags: TagFilter;
  /** Empty: all. */
  readonly factTypes: readonly string[];
  readonly appliesAllDirectives: boolean;
  /** Mental models that are not read; `all` reads none. */
  readonly hiddenModels: "all" | ReadonlySet<string>;
  readonly recall: RecallBounds;
  readonly responseSchema: JsonObject | undefined;
  /** Memories committed later are not read; 0 reads all. */
  readonly maxCommitSeq: number;
}

export interface RecallBounds {
  readonly maxTokens: number;
  /** 0: without the text around memories. */
  readonly chunksMaxTokens: number;
}

const RECALL_TOKENS = 2_048; // the defaults of the bank's configuration, for a bank service that does not say
const CHUNK_TOKENS = 1_000;

/** How much a search brings: what the caller says, else what the bank is configured to. */
export function recallBounds(
  config: Readonly<Record<string, unknown>>,
  given: {
    readonly includeChunks?: boolean | null;
    readonly maxTokens?: number | null;
    readonly chunksMaxTokens?: number | null;
  } = {},
): RecallBounds {
  const number = (key: string, fallback: number) => (typeof config[key] === "number" ? config[key] : fallback);
  const includesChunks = given.includeChunks ?? config["recall_include_chunks"] !== false;
  return {
    maxTokens: given.maxTokens ?? number("recall_max_tokens", RECALL_TOKENS),
    chunksMaxTokens: includesChunks ? (given.chunksMaxTokens ?? number("recall_chunks_max_tokens", CHUNK_TOKENS)) : 0,
  };
}
