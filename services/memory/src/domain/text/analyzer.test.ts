import { describe, expect, test } from "vitest";
import { analyze, analyzeWords, foldText } from "./analyzer.ts";
import { functionWords } from "./english/function-words.ts";
import { irregularForms } from "./english/irregular-forms.ts";
import { randomText, seededRandom } from "./random-text.ts";

describe("analyze", () => {
  test.each([
    ["inflected forms share a term", "She was painting paintings", ["paint", "paint"]],
    ["irregular forms reach their base", "went gone bought children", ["go", "go", "buy", "child"]],
    ["everyday groups are one term", "Grandma took a picture", ["grandmoth", "take", "photo"]],
    ["diacritics and case do not matter", "CAFÉ café Cafe", ["cafe", "cafe", "cafe"]],
    ["compatibility forms are folded", "ﬁve Ｔｏｋｙｏ ①", ["five", "tokyo", "1"]],
    ["contractions leave no rest", "I'll say Maria's don't they’re", ["say", "maria"]],
    ["a name that looks like the rest of a contraction stays", "Don met O'Brien", ["don", "meet", "o", "brien"]],
    ["numbers stay whole words", "room 42b in 2023", ["room", "42b", "2023"]],
    ["Hangul is recomposed", "서울에서 만나요", ["서울에서", "만나요"]],
    ["voiced kana are kept", "バス", ["バス"]],
    ["Cyrillic and Greek are folded", "Москва Ἀθῆναι", ["москва", "αθηναι"]],
    ["no words, no terms", " ... 🙂 — ", []],
  ])("%s", (_, text, tokens) => {
    expect(analyze(text)).toEqual(tokens);
  });

  test.each([
    ["我喜欢吃寿司", "寿司"],
    ["東京で会議があります", "会議"],
    ["ฉันชอบกินข้าว", "ข้าว"],
  ])("a word inside text without spaces is found: %s", (text, word) => {
    expect(analyze(text)).toContain(word);
    expect(analyze(word)).toEqual([word]);
  });

  test("a run of data is cut, not indexed whole", () => {
    expect(analyze("x".repeat(10_000))[0]!.length).toBeLessThanOrEqual(64);
  });

  test("any text is analysed, and its canonical form gives the same terms", () => {
    const seed = 20_260_211;
    const random = seededRandom(seed);
    for (let i = 0; i < 300; i++) {
      const text = randomText(random);
      expect(analyze(text), `seed ${seed}: ${JSON.stringify(text)}`).toEqual(analyze(text.normalize("NFC")));
    }
  });
});

test("analyzeWords keeps function words, order and case", () => {
  expect(analyzeWords("The Cat sat")).toEqual([
    { raw: "The", token: "the", isStop: true },
    { raw: "Cat", token: "cat", isStop: false },
    { raw: "sat", token: "sit", isStop: false },
  ]);
});

test.each([
  ["ACME  Robotics ", "Acme robotics"],
  ["Straße", "STRASSE"],
  ["ΟΔΥΣΣΕΥΣ", "Οδυσσευς"],
])("foldText: %j equals %j", (a, b) => {
  expect(foldText(a)).toBe(foldText(b));
});

test("foldText keeps accents apart", () => {
  expect(foldText("José")).not.toBe(foldText("Jose"));
});

test("no irregular form is itself a base, so one look-up is enough", () => {
  const bases = new Set(irregularForms.values());
  expect([...irregularForms.keys()].filter((form) => bases.has(form))).toEqual([]);
  expect([...irregularForms.keys()].filter((form) => functionWords.has(form))).toEqual([]);
});
