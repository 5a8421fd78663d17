import { describe, expect, test } from "vitest";
import { randomText, seededRandom } from "../text/random-text.ts";
import { chunkText } from "./chunk.ts";

const sizes = (chunkSize: number, structuredChunkSize = chunkSize) => ({ chunkSize, structuredChunkSize });
const texts = (text: string, chunkSize: number, structuredChunkSize?: number) =>
  chunkText(text, sizes(chunkSize, structuredChunkSize)).map((chunk) => chunk.text);

describe("chunkText", () => {
  test("a text that fits is one chunk, JSON or not", () => {
    expect(texts("abc", 3)).toEqual(["abc"]);
    expect(texts('[{"a":1},{"b":2}]', 20, 5)).toEqual(['[{"a":1},{"b":2}]']);
    expect(texts("", 3)).toEqual([]);
  });

  test("characters are code points, so an emoji counts once and is never cut", () => {
    expect(texts("🙂🙂🙂", 3)).toEqual(["🙂🙂🙂"]);
    expect(texts("🙂🙂🙂", 2)).toEqual(["🙂🙂", "🙂"]);
  });

  test.each([
    ["blank lines before lines", "one two\n\nthree\nfour", 10, ["one two\n\n", "three\nfour"]],
    ["lines before sentences", "One. Two\nThree. Four", 12, ["One. Two\n", "Three. Four"]],
    ["full stops before exclamation marks", "A b! C d. E f! G", 10, ["A b! C d. ", "E f! G"]],
    ["exclamation before question marks", "A b? C! D e? F", 8, ["A b? C! ", "D e? F"]],
    ["question marks before semicolons", "a b; c? d e; f", 9, ["a b; c? ", "d e; f"]],
    ["semicolons before commas", "a, b; c, d", 7, ["a, b; ", "c, d"]],
    ["commas before spaces", "a b, c d", 6, ["a b, ", "c d"]],
    ["spaces before characters", "ab cd", 3, ["ab ", "cd"]],
    ["every character at last", "abcde", 2, ["ab", "cd", "e"]],
    ["only the part that is too long is cut finer", "aa\n\nbbbb bbbb\n\ncc", 6, ["aa\n\n", "bbbb ", "bbbb\n\n", "cc"]],
  ])("%s", (_, text, size, expected) => {
    expect(texts(text, size)).toEqual(expected);
  });

  test("whole objects of an array are packed up to the structured size", () => {
    const array = JSON.stringify([{ text: 'a "]{' }, { text: "b" }, { text: "c", more: [{ x: 1 }] }]);
    expect(texts(array, 5, 32)).toEqual(['[{"text":"a \\"]{"},{"text":"b"},', '{"text":"c","more":[{"x":1}]}]']);
  });

  test("whole lines of JSON lines are packed", () => {
    expect(texts('{"a":1}\n{"b":2}\n{"c":3}', 5, 16)).toEqual(['{"a":1}\n{"b":2}\n', '{"c":3}']);
  });

  test("a single object is one chunk up to the structured size, and split like prose beyond it", () => {
    const object = '{"a": "one two", "b": "three"}';
    expect(texts(object, 5, 30)).toEqual([object]);
    expect(texts(object, 5, 20)).toEqual(['{"a": "one two", ', '"b": "three"}']);
  });

  test("chunks joined are the text, start where they say, fit, and come out the same again", () => {
    const seed = 3_000;
    const random = seededRandom(seed);
    for (let i = 0; i < 500; i++) {
      const parts = Array.from({ length: 1 + Math.floor(random() * 4) }, () => randomText(random));
      const shape = Math.floor(random() * 3);
      const objects = parts.map((content) => ({ content: content.toWellFormed() }));
      const text =
        shape === 0
          ? parts.join("\n")
          : shape === 1
            ? JSON.stringify(objects, null, Math.floor(random() * 3))
            : objects.map((object) => JSON.stringify(object)).join("\n");
      const size = 1 + Math.floor(random() * 60);
      const structured = 1 + Math.floor(random() * 120);
      const label = `seed ${seed}, sizes ${size}/${structured}: ${JSON.stringify(text)}`;
      const chunks = chunkText(text, sizes(size, structured));
      expect(chunks.map((chunk) => chunk.text).join(""), label).toBe(text);
      for (const chunk of chunks) {
        expect(text.startsWith(chunk.text, chunk.start), label).toBe(true);
        expect(Array.from(chunk.text).length, label).toBeLessThanOrEqual(Math.max(size, structured));
      }
      expect(chunkText(text, sizes(size, structured)), label).toEqual(chunks);
    }
  });
});
