import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { AppError } from "@memory-bank/errors";
import type { Embedder } from "./embedder.ts";
import { createEncoderPool } from "./encoder-pool.ts";
import { ENCODER_DIMENSIONS, ENCODER_PIECES_MAX, readVocabulary } from "./encoder-weights.ts";
import { addLexicalFeatures } from "./lexical-embedder.ts";
import { createSentencePieces, type SplitText } from "./sentence-pieces.ts";
import { addScaled, hasFeature, toUnitLength } from "./unit-vector.ts";
import { createVectorCache } from "./vector-cache.ts";

export interface LocalEmbedderOptions {
  /** Threads that encode; each holds the model once (about 40 MB). Default: one per processor. */
  readonly workers?: number;
}

const MODEL = "universal-sentence-encoder-lite";
/** Raised whenever the same text would get another vector. */
const VERSION = 1;
/** A longer text is embedded by its beginning: about 30 windows of the encoder, far beyond any fact or chunk. */
const TEXT_CHARS_MAX = 16_384;
/** Query texts remembered: 2 KB each. Callers ask the same question for several arms, pages and retries. */
const CACHED_QUERIES_MAX = 1000;
/**
 * The encoder knows English only: it gives all Chinese sentences the same vector and Russian ones nearly so. From the
 * first surprise on the vector is therefore mixed with hashed words, beyond the second it consists of them alone. Less
 * than one English sentence in a thousand lies above the first; German and Spanish lie in the middle.
 */
const SURPRISE_ENGLISH = 3.3;
const SURPRISE_FOREIGN = 4.5;

/**
 * The embedder that needs no server: a small English sentence encoder in worker threads. It opens at once; the model loads
 * behind it and the first texts wait for that.
 */
export async function openLocalEmbedder(options: LocalEmbedderOptions = {}): Promise<Embedder> {
  const workers = options.workers ?? Math.max(1, availableParallelism());
  const pool = createEncoderPool({
    workers,
    // The process's own flags are not for it: `--import` would load telemetry into every thread, `--eval` would refuse a file.
    startWorker: () => new Worker(new URL("./local-embedder-worker.ts", import.meta.url), { execArgv: [] }),
  });
  const split = createSentencePieces(await readVocabulary());
  const cache = createVectorCache(CACHED_QUERIES_MAX);

  return {
    id: `local/${MODEL}/${VERSION}`,
    provider: "local",
    model: MODEL,
    dimensions: ENCODER_DIMENSIONS,

    async embed(texts, { signal, purpose = "document" } = {}) {
      if (signal?.aborted) throw new AppError("cancelled", "EMBEDDING_CANCELLED", "The embedding was cancelled");
      const isQuery = purpose === "query";
      const vectors = new Map<string, Float32Array>();
      const wanted: { text: string; pieces: SplitText; windows: number[][] }[] = [];
      for (const text of new Set(texts)) {
        const known = isQuery ? cache.get(text) : undefined;
        if (known) vectors.set(text, known);
        else {
          const pieces = split(text.slice(0, TEXT_CHARS_MAX));
          const isEncoded = hasFeature(text) && foreignShare(pieces) < 1;
          wanted.push({ text, pieces, windows: isEncoded ? cutIntoWindows(pieces.ids) : [] });
        }
      }
      const encoded = await pool.encode(
        wanted.flatMap((one) => one.windows),
        { urgent: isQuery, signal },
      );
      let next = 0;
      for (const { text, pieces, windows } of wanted) {
        const vector = combine(text, pieces, windows, encoded.slice(next, next + windows.length));
        next += windows.length;
        vectors.set(text, vector);
        if (isQuery) cache.set(text, vector);
      }
      return texts.map((text) => vectors.get(text)!.slice());
    },

    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

function foreignShare({ surprise }: SplitText): number {
  return Math.min(1, Math.max(0, (surprise - SURPRISE_ENGLISH) / (SURPRISE_FOREIGN - SURPRISE_ENGLISH)));
}

function cutIntoWindows(ids: readonly number[]): number[][] {
  const windows: number[][] = [];
  for (let start = 0; start < ids.length; start += ENCODER_PIECES_MAX) windows.push(ids.slice(start, start + ENCODER_PIECES_MAX));
  return windows;
}

/** The windows' vectors by their lengths, and hashed words as far as the text is foreign to the encoder. */
function combine(text: string, pieces: SplitText, windows: readonly number[][], encoded: readonly Float32Array[]): Float32Array {
  const meaning = new Float32Array(ENCODER_DIMENSIONS);
  encoded.forEach((vector, i) => {
    addScaled(meaning, vector, windows[i]!.length);
  });
  const foreign = foreignShare(pieces);
  if (foreign === 0) return toUnitLength(meaning);
  const words = new Float32Array(ENCODER_DIMENSIONS);
  addLexicalFeatures(words, text);
  addScaled(toUnitLength(words), toUnitLength(meaning), (1 - foreign) / foreign);
  return toUnitLength(words);
}
