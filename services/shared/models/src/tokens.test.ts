import { describe, expect, test } from "vitest";
import { countTokens, cutToTokens } from "./tokens.ts";

describe("countTokens", () => {
  test.each([
    ["", 0],
    ["hello world", 2],
    ["tiktoken is great!", 6],
    ["お誕生日おめでとう", 9],
    ["2 + 2 = 4", 7],
    ["🙂", 2],
  ])("counts %j as cl100k_base does", (text, tokens) => {
    expect(countTokens(text)).toBe(tokens);
  });

  test("control tokens spelt out are ordinary text", () => {
    expect(countTokens("<|endoftext|>")).toBe(7);
    expect(countTokens("<|im_start|>system<|im_end|>")).toBeGreaterThan(5);
  });

  test("long prose is counted exactly: its parts by themselves add up", () => {
    const sentence = " Caroline went to the support group on 7 May 2023, and it was powerful.";
    expect(countTokens(sentence.repeat(500))).toBe(500 * countTokens(sentence));
  });

  test("unbroken runs take time by their length, and count nearly as they should", () => {
    expect(countTokens("a".repeat(5000))).toBeLessThanOrEqual(625 + Math.ceil(5000 / 256));
    expect(countTokens("a".repeat(5000))).toBeGreaterThanOrEqual(625);
    // Each of these took between 7 s and a minute before long runs were parted.
    for (const run of ["a", " ", "漢字仮名交じり文", "-", "😀"])
      expect(countTokens(run.repeat(100_000 / run.length))).toBeGreaterThan(300);
  });
});

describe("cutToTokens", () => {
  test("keeps a text that fits", () => {
    expect(cutToTokens("hello world", 2)).toBe("hello world");
  });

  test("keeps nearly as much as fits, and whole characters", () => {
    const cut = cutToTokens("Caroline went to the support group. ".repeat(100), 100);
    expect(countTokens(cut)).toBeLessThanOrEqual(100);
    expect(countTokens(cut)).toBeGreaterThan(85);
    const emoji = cutToTokens("😀".repeat(100), 51);
    expect(emoji.isWellFormed()).toBe(true);
    expect(countTokens(emoji)).toBeLessThanOrEqual(51);
    expect(cutToTokens("😀", 0)).toBe("");
  });
});
