import { describe, expect, test } from "vitest";
import { randomText, seededRandom } from "./random-text.ts";
import { splitSentences } from "./sentences.ts";

describe("splitSentences", () => {
  test.each<[string, string[]]>([
    ["I ran. She sat! Why? OK", ["I ran.", "She sat!", "Why?", "OK"]],
    ["Dr. Lee met Mr. Ode at 5 p.m. on Main St. near home.", ["Dr. Lee met Mr. Ode at 5 p.m. on Main St. near home."]],
    ["We left at 5 p.m. The bus came.", ["We left at 5 p.m.", "The bus came."]],
    ["It costs 3.50 in v1.2.3. Fine.", ["It costs 3.50 in v1.2.3.", "Fine."]],
    ["See example.com. It works.", ["See example.com.", "It works."]],
    ["J. K. Rowling wrote it. I take vitamin C. It helps.", ["J. K. Rowling wrote it.", "I take vitamin C.", "It helps."]],
    ["I met J.K. Rowling in the U.S.A. It rained.", ["I met J.K. Rowling in the U.S.A.", "It rained."]],
    ["Well... maybe. Hmm... Yes.", ["Well... maybe.", "Hmm...", "Yes."]],
    ['"Stop!" he said. "Why?" She left.', ['"Stop!" he said.', '"Why?"', "She left."]],
    ["Fruit, e.g. apples, etc. are here.", ["Fruit, e.g. apples, etc. are here."]],
    ["Did he say no. They left.", ["Did he say no.", "They left."]],
    ["Is it No. 5 or No. 6?", ["Is it No. 5 or No. 6?"]],
    ["1. First thing\n2. Second thing", ["1. First thing", "2. Second thing"]],
    ["Great! 😀 Next one. 🎉🎉", ["Great! 😀", "Next one.", "🎉🎉"]],
    ["Love it 😀 See you", ["Love it 😀", "See you"]],
    ["really?! ok then. bye", ["really?!", "ok then.", "bye"]],
    ["我喜欢寿司。你呢？好！「是。」他说", ["我喜欢寿司。", "你呢？", "好！", "「是。」", "他说"]],
    ["هل أنت هنا؟ نعم.", ["هل أنت هنا؟", "نعم."]],
    ["मैं ठीक हूँ। तुम?", ["मैं ठीक हूँ।", "तुम?"]],
    ["Title\n\nBody text", ["Title", "Body text"]],
    [
      "A long line that an editor wrapped somewhere in the middle of\nits sentence. Next.",
      ["A long line that an editor wrapped somewhere in the middle of\nits sentence.", "Next."],
    ],
    ["Look at this! [shares a photo: a dog. On grass]", ["Look at this!", "[shares a photo: a dog. On grass]"]],
    ["Look [shares a photo: a dog]", ["Look", "[shares a photo: a dog]"]],
    ["[shares a photo: a dog]", ["[shares a photo: a dog]"]],
    ["The [old] house", ["The [old] house"]],
    ["", []],
    [" \n\t ", []],
  ])("%j", (text, sentences) => {
    expect(splitSentences(text)).toEqual(sentences);
  });

  test("an endless sentence is cut at clauses, and between characters only where there is no space", () => {
    const clauses = splitSentences("one two three, ".repeat(100));
    expect(clauses.every((clause) => clause.length <= 600 && clause.endsWith("three,"))).toBe(true);
    const run = splitSentences("🙂".repeat(1000));
    expect(run.every((part) => part.isWellFormed() && part.length <= 600)).toBe(true);
  });

  test("sentences are substrings in order that hold everything but white space", () => {
    const seed = 7_041_776;
    const random = seededRandom(seed);
    for (let i = 0; i < 500; i++) {
      const text = randomText(random);
      const label = `seed ${seed}: ${JSON.stringify(text)}`;
      let from = 0;
      for (const sentence of splitSentences(text)) {
        expect(sentence, label).toBe(sentence.trim());
        const at = text.indexOf(sentence, from);
        expect(at, label).toBeGreaterThanOrEqual(from);
        expect(text.slice(from, at).trim(), label).toBe("");
        from = at + sentence.length;
      }
      expect(text.slice(from).trim(), label).toBe("");
    }
  });

  test.each(["[", " [a", "\n", ".", "A. ", "🙂", "! 🙂", '"', "。」"])(
    "time grows with the length of the text, not faster: %j",
    (piece) => {
      const started = performance.now();
      splitSentences(`${piece.repeat(50_000)}x`);
      expect(performance.now() - started).toBeLessThan(2_000); // about 50 ms; the square of the length would take minutes
    },
  );
});
