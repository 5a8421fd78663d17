import { describe, expect, test } from "vitest";
import { cosine, describeEmbedder } from "./embedder.conformance.ts";
import { createLexicalEmbedder } from "./lexical-embedder.ts";

describeEmbedder("lexical", async () => createLexicalEmbedder());

describe("lexical embedder", () => {
  const embedder = createLexicalEmbedder();
  const similarity = async (a: string, b: string): Promise<number> => {
    const [va, vb] = await embedder.embed([a, b]);
    return cosine(va!, vb!);
  };

  test("folds case, accents and compatibility forms", async () => {
    expect(await similarity("CAFÉ in Łódź", "cafe\u0301 in łodz")).toBeGreaterThan(0.99);
    expect(await similarity("ﬁne １２", "fine 12")).toBeCloseTo(1, 5);
  });

  test("brings inflected forms nearer than other words", async () => {
    expect(await similarity("painting", "painted")).toBeGreaterThan((await similarity("painting", "sailing")) + 0.2);
  });

  test("finds words in scripts without spaces", async () => {
    const shared = await similarity("安娜住在柏林", "安娜在柏林工作");
    expect(shared).toBeGreaterThan((await similarity("安娜住在柏林", "明天会下雨")) + 0.3);
  });

  test("does not mistake vowel signs for accents", async () => {
    expect(await similarity("कि", "कु")).toBeLessThan(0.9);
  });
});
