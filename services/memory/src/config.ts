import { bool, int, oneOf, secret, string } from "@memory-bank/config";
import type { EmbedderConfig } from "@memory-bank/models";

const MIB = 1024 * 1024;

/** Settings of the memory service, whichever root starts it. */
export const memoryConfig = {
  retainConcurrency: int("MEMORY_RETAIN_CONCURRENCY", {
    description: "Asynchronous retains worked on at once",
    default: 2,
    min: 1,
    max: 64,
  }),
  recallIndexBytesMax: int("MEMORY_RECALL_INDEX_BYTES_MAX", {
    description: "Memory for the recall indexes of the banks in use, by estimate",
    default: 1024 * MIB,
    min: 16 * MIB,
    max: Number.MAX_SAFE_INTEGER,
  }),
};

/** Which encoder turns text into vectors. */
export const embeddingsConfig = {
  provider: oneOf("EMBEDDINGS_PROVIDER", {
    description: "Encoder: the packaged one, hashed words, or an OpenAI-compatible server",
    values: ["local", "lexical", "openai"],
    default: "local",
  }),
  reembeds: bool("MEMORY_EMBEDDINGS_REEMBED", {
    description: "Vectors of another embedder are discarded and made anew, bank by bank, instead of refusing to start",
    default: false,
  }),
  model: string("EMBEDDINGS_MODEL", { description: "Name of the embedding model", optional: true }),
  openaiApiKey: secret("OPENAI_API_KEY", { description: "Key of the OpenAI-compatible server", optional: true }),
  openaiBaseUrl: string("OPENAI_BASE_URL", { description: "Address of the OpenAI-compatible server", optional: true }),
};

const openaiDefaultUrl = "https://api.openai.com/v1";

interface Embeddings {
  readonly provider: "local" | "lexical" | "openai";
  readonly model: string | undefined;
  readonly openaiApiKey: string | undefined;
  readonly openaiBaseUrl: string | undefined;
}

/** What happens at the start to vectors that another embedder made. */
export const otherEmbedderOf = ({ reembeds }: { readonly reembeds: boolean }): "discard" | "refuse" =>
  reembeds ? "discard" : "refuse";

/** The embedder that the settings name. */
export function embedderConfigOf({ provider, model, openaiApiKey, openaiBaseUrl }: Embeddings): EmbedderConfig {
  if (provider !== "openai") return { kind: provider };
  return {
    kind: "openai",
    model: model ?? "text-embedding-3-small",
    apiKey: openaiApiKey ?? "",
    baseUrl: openaiBaseUrl ?? openaiDefaultUrl,
  };
}
