import { AppError } from "@memory-bank/errors";
import type OpenAI from "openai";
import type { Embedder } from "./embedder.ts";
import { createPriorityLimit } from "./priority-limit.ts";
import { cutToTokens } from "./tokens.ts";
import { hasFeature, toUnitLength } from "./unit-vector.ts";

export interface OpenaiEmbedderConfig {
  /** Of any service with OpenAI's interface, up to and with its version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  /** Asks the model for shorter vectors than its own. Default: the model's, found by asking once when it is unknown. */
  readonly dimensions?: number;
}

const KNOWN_DIMENSIONS: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
};
/** What the models of this interface accept in one text; the rest of a longer text is left out. */
const TEXT_TOKENS_MAX = 8191;
/** A text with fewer characters cannot exceed it, so its tokens need not be counted: a UTF-16 unit has 3 bytes at most. */
const TEXT_CHARS_SAFE = Math.floor(TEXT_TOKENS_MAX / 3);
/** Texts and characters in one request: well below the interface's 2048 texts and 300 000 tokens, and below 2 MB of JSON. */
const BATCH_TEXTS_MAX = 128;
const BATCH_CHARS_MAX = 200_000;
/** Requests at a time; more only meet the rate limit sooner. */
const REQUESTS_MAX = 4;
/** One attempt, and one request with all its attempts and the waits between them. */
const ATTEMPT_TIMEOUT_MS = 30_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** The client waits 0.5 s, 1 s, 2 s... less up to a quarter by chance, or as long as the service asks for. */
const RETRIES_MAX = 4;

/** Embeddings of any service with OpenAI's interface. Throws `unavailable` when the dimensions have to be asked for and nobody answers. */
export async function openOpenaiEmbedder(config: OpenaiEmbedderConfig): Promise<Embedder> {
  // Loaded here because it takes 0.2 s that the other embedders need not pay.
  const { default: OpenAi, APIUserAbortError, APIError } = await import("openai");
  const client = new OpenAi({
    apiKey: config.apiKey,
    baseURL: config.baseUrl,
    organization: null,
    project: null,
    maxRetries: RETRIES_MAX,
    timeout: ATTEMPT_TIMEOUT_MS,
    logLevel: "off",
  });
  const limit = createPriorityLimit(REQUESTS_MAX);
  const closing = new AbortController();

  const request = async (texts: string[], signal: AbortSignal | undefined): Promise<Float32Array[]> => {
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const signals = [timeout, closing.signal, ...(signal ? [signal] : [])];
    try {
      const body: OpenAI.EmbeddingCreateParams = { model: config.model, input: texts, encoding_format: "float" };
      if (config.dimensions !== undefined) body.dimensions = config.dimensions;
      const { data } = await client.embeddings.create(body, { signal: AbortSignal.any(signals) });
      return inOrder(data, texts.length);
    } catch (error) {
      if (signal?.aborted) throw cancelled();
      if (error instanceof APIUserAbortError)
        throw unavailable(closing.signal.aborted ? "is closed" : "did not answer in time", error);
      if (!(error instanceof APIError)) throw error;
      if (isRefusal(error.status)) throw refused(error.status, error);
      throw unavailable(error.status === undefined ? "could not be reached" : `answered ${error.status}`, error);
    }
  };

  const dimensions = config.dimensions ?? KNOWN_DIMENSIONS[config.model] ?? (await request(["dimensions"], undefined))[0]!.length;

  return {
    id: `openai/${config.model}/${dimensions}`,
    provider: "openai",
    model: config.model,
    dimensions,

    async embed(texts, { signal, purpose = "document" } = {}) {
      if (signal?.aborted) throw cancelled();
      // The interface refuses empty texts.
      const wanted = [...new Set(texts)].filter(hasFeature);
      const answers = await Promise.all(
        batchesOf(wanted).map((batch) => limit.run(() => request(batch, signal), { urgent: purpose === "query", signal })),
      );
      const vectors = new Map<string, Float32Array>();
      answers.flat().forEach((vector, i) => {
        if (vector.length !== dimensions) throw wrongLength(config.model, dimensions, vector.length);
        vectors.set(wanted[i]!, toUnitLength(vector));
      });
      return texts.map((text) => vectors.get(text)?.slice() ?? new Float32Array(dimensions));
    },

    async [Symbol.asyncDispose]() {
      closing.abort();
    },
  };
}

function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let chars = 0;
  for (const text of texts) {
    const cut = text.length > TEXT_CHARS_SAFE ? cutToTokens(text, TEXT_TOKENS_MAX) : text;
    const batch = batches.at(-1);
    if (batch && batch.length < BATCH_TEXTS_MAX && chars + cut.length <= BATCH_CHARS_MAX) {
      batch.push(cut);
      chars += cut.length;
    } else {
      batches.push([cut]);
      chars = cut.length;
    }
  }
  return batches;
}

/** Answers carry their place; some services send them in another order. */
function inOrder(data: readonly OpenAI.Embedding[], count: number): Float32Array[] {
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  data.forEach(({ index, embedding }, i) => {
    vectors[index ?? i] = Float32Array.from(embedding);
  });
  const complete = vectors.filter((vector) => vector !== undefined);
  if (complete.length !== count || data.length !== count)
    throw unavailable(`sent ${data.length} vectors for ${count} texts`, undefined);
  return complete;
}

/** Statuses that a repeated request would meet again: wrong key, unknown model, bad address. */
const isRefusal = (status: number | undefined): status is number =>
  status !== undefined && status >= 400 && status < 500 && ![408, 409, 429].includes(status);

const cancelled = (): AppError => new AppError("cancelled", "EMBEDDING_CANCELLED", "The embedding was cancelled");
const unavailable = (what: string, cause: unknown): AppError =>
  new AppError("unavailable", "EMBEDDINGS_UNAVAILABLE", `The embeddings service ${what}`, { cause });
const refused = (status: number, cause: unknown): AppError =>
  new AppError("failed_precondition", "EMBEDDINGS_REFUSED", `The embeddings service refused the request with status ${status}`, {
    cause,
  });
const wrongLength = (model: string, expected: number, got: number): AppError =>
  new AppError(
    "failed_precondition",
    "EMBEDDINGS_DIMENSIONS",
    `Model '${model}' sent vectors of ${got} numbers instead of ${expected}`,
  );
