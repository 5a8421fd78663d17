import { describe, expect, test } from "vitest";
import { cosine, describeEmbedder } from "./embedder.conformance.ts";
import { openLocalEmbedder } from "./local-embedder.ts";

describeEmbedder("local", () => openLocalEmbedder({ workers: 1 }));

describe("local embedder", { timeout: 30_000 }, () => {
  test("brings texts of one meaning together", async () => {
    await using embedder = await openLocalEmbedder({ workers: 1 });
    const [a, b, c] = await embedder.embed(["How old are you?", "What is your age?", "The printer is out of paper."]);
    expect(cosine(a!, b!)).toBeGreaterThan(0.8);
    expect(cosine(a!, c!)).toBeLessThan(0.3);
  });

  test("reads a long text to its end", async () => {
    await using embedder = await openLocalEmbedder({ workers: 1 });
    const filler = "We talked about the weather and the garden for a while. ".repeat(12);
    const [plain, ending] = await embedder.embed([filler, `${filler} Then Alice bought a submarine and sailed to Antarctica.`]);
    expect(cosine(plain!, ending!)).toBeLessThan(0.9999);
  });

  test("finds the same foreign words again", async () => {
    await using embedder = await openLocalEmbedder({ workers: 1 });
    const [text, near, far] = await embedder.embed(["安娜住在柏林", "安娜在柏林工作", "明天会下雨"]);
    expect(cosine(text!, near!)).toBeGreaterThan(cosine(text!, far!) + 0.3);
  });

  test("texts of several threads come back in their order", async () => {
    await using embedder = await openLocalEmbedder({ workers: 2 });
    const texts = Array.from({ length: 60 }, (_, i) => `Person ${i} lives in house ${i * 7}.`);
    const together = await embedder.embed(texts);
    expect(together[59]).toEqual((await embedder.embed([texts[59]!]))[0]);
    expect(together[17]).toEqual((await embedder.embed([texts[17]!]))[0]);
  });

  test("use after disposal is refused", async () => {
    const embedder = await openLocalEmbedder({ workers: 1 });
    await embedder[Symbol.asyncDispose]();
    await expect(embedder.embed(["Bob"])).rejects.toMatchObject({ code: "unavailable", reason: "EMBEDDER_CLOSED" });
  });
});
