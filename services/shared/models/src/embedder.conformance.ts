import { describe, expect, test } from "vitest";
import type { Embedder } from "./embedder.ts";

const texts = [
  "Alice moved to Berlin last spring.",
  "Bob collects old maps.",
  "",
  "   \n",
  "?!",
  "7",
  "安娜住在柏林，她是医生。",
  "Анна живёт в Берлине.",
  "🙂 🎉",
  "e\u0301 = é",
  `A long one: ${"and then they walked on through the rain ".repeat(25)}`,
];

// Each test opens an embedder of its own; one with a model takes half a second for that, and several when the machine is busy.
const TIMEOUT_MS = 30_000;

/** What every adapter of `Embedder` must hold. `open` gives a fresh one; each test disposes of its own. */
export function describeEmbedder(name: string, open: () => Promise<Embedder>): void {
  describe(`Embedder: ${name}`, { timeout: TIMEOUT_MS }, () => {
    test("answers one vector per text, in order, of unit length unless the text has nothing in it", async () => {
      await using embedder = await open();
      const vectors = await embedder.embed(texts);
      expect(vectors).toHaveLength(texts.length);
      vectors.forEach((vector, i) => {
        expect(vector).toHaveLength(embedder.dimensions);
        const hasContent = /[\p{L}\p{N}\p{S}]/u.test(texts[i]!);
        expect(lengthOf(vector), JSON.stringify(texts[i])).toBeCloseTo(hasContent ? 1 : 0, 5);
      });
      const again = await embedder.embed([...texts].reverse());
      expect(again.reverse()).toEqual(vectors);
    });

    test("gives the same text the same vector whatever it is batched with and whatever it is for", async () => {
      await using embedder = await open();
      const together = await embedder.embed([...texts, ...texts]);
      for (const [i, text] of texts.entries()) {
        const [alone] = await embedder.embed([text], { purpose: "query" });
        const [asDocument] = await embedder.embed([text], { purpose: "document" });
        expect(together[i]).toEqual(alone);
        expect(together[i + texts.length]).toEqual(alone);
        expect(asDocument).toEqual(alone);
      }
    });

    test("two embedders of the same kind give the same vectors", async () => {
      await using first = await open();
      await using second = await open();
      expect(second.id).toBe(first.id);
      expect(await second.embed(texts)).toEqual(await first.embed(texts));
    });

    test("hands out vectors that the caller may change", async () => {
      await using embedder = await open();
      const [vector] = await embedder.embed(["Bob collects old maps."], { purpose: "query" });
      const kept = vector!.slice();
      vector!.fill(9);
      const [first, second] = await embedder.embed(["Bob collects old maps.", "Bob collects old maps."], { purpose: "query" });
      first!.fill(9);
      expect(second).toEqual(kept);
    });

    test("keeps texts apart, in every script", async () => {
      await using embedder = await open();
      const pairs = [
        ["Alice moved to Berlin.", "The printer is out of paper."],
        ["安娜住在柏林", "明天会下雨"],
        ["Анна живёт в Берлине и работает врачом.", "Мой кот любит спать на диване."],
        ["안나는 베를린에 산다", "내일 비가 온다"],
        ["غدا ستمطر", "قطتي تحب النوم"],
      ];
      for (const [a, b] of pairs) {
        const [va, vb] = await embedder.embed([a!, b!]);
        expect(cosine(va!, vb!), `${a} / ${b}`).toBeLessThan(0.6);
      }
    });

    test("no texts give no vectors", async () => {
      await using embedder = await open();
      expect(await embedder.embed([])).toEqual([]);
    });

    test("an aborted call ends as cancelled and leaves the embedder usable", async () => {
      await using embedder = await open();
      const aborted = AbortSignal.abort();
      await expect(embedder.embed(["Bob"], { signal: aborted })).rejects.toMatchObject({ code: "cancelled" });
      expect(await embedder.embed(["Bob"])).toHaveLength(1);
    });
  });
}

function lengthOf(vector: Float32Array): number {
  return Math.sqrt(cosine(vector, vector));
}

/** Of vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}
