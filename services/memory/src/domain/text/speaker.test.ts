import { describe, expect, test } from "vitest";
import { randomText, seededRandom } from "./random-text.ts";
import { parseTurns } from "./speaker.ts";

const turns = (content: string, ...named: string[]) =>
  parseTurns(content, new Set(named)).map(({ speaker, speakerKind, text }) => [speaker, speakerKind, text.trim()]);

describe("parseTurns", () => {
  test.each<[string, (string | undefined)[][]]>([
    ["Maria: I moved.", [["Maria", "person", "I moved."]]],
    [
      "Maria: Hi!\nTom: Hello.\nHow are you?",
      [
        ["Maria", "person", "Hi!"],
        ["Tom", "person", "Hello.\nHow are you?"],
      ],
    ],
    [
      "User: I like tea.\nAssistant: Noted.",
      [
        ["User", "role", "I like tea."],
        ["Assistant", "agent", "Noted."],
      ],
    ],
    [
      "[10:32] Maria: hi\n**Tom** (10:33): ok\n- Ana Lee: yes",
      [
        ["Maria", "person", "hi"],
        ["Tom", "person", "ok"],
        ["Ana Lee", "person", "yes"],
      ],
    ],
    ["Zorblax: when do we go?", [["Zorblax", "person", "when do we go?"]]],
    ["マリア：寿司が好きです。", [["マリア", "person", "寿司が好きです。"]]],
    [
      "Before it.\nMaria: I moved.",
      [
        [undefined, "none", "Before it."],
        ["Maria", "person", "I moved."],
      ],
    ],
    ["Note: the key rotates.", [[undefined, "none", "Note: the key rotates."]]],
    ["Ingredients: flour, eggs", [[undefined, "none", "Ingredients: flour, eggs"]]],
    ["Next steps: call Tom", [[undefined, "none", "Next steps: call Tom"]]],
    ["See https://a.example: it works", [[undefined, "none", "See https://a.example: it works"]]],
    ["It was 10:30 then", [[undefined, "none", "It was 10:30 then"]]],
    ["We need one thing: time", [[undefined, "none", "We need one thing: time"]]],
    ["Budget: 5 EUR\nSize: 3", [[undefined, "none", "Budget: 5 EUR\nSize: 3"]]],
  ])("%j", (content, expected) => {
    expect(turns(content)).toEqual(expected);
  });

  test("a name of the context is a speaker whatever follows", () => {
    expect(turns("Quill: tea\nQuire: milk", "quill")).toEqual([["Quill", "person", "tea\nQuire: milk"]]);
  });

  test.each([
    [
      "role and content",
      [
        { role: "user", content: "a b" },
        { role: "assistant", content: "c" },
      ],
      [
        ["user", "role", "a b"],
        ["assistant", "agent", "c"],
      ],
    ],
    ["speaker and text", [{ speaker: "Ana", text: "a" }], [["Ana", "person", "a"]]],
    ["a name beside a role", [{ role: "assistant", name: "Robo", content: "a" }], [["Robo", "agent", "a"]]],
    [
      "text parts",
      [{ author: "Ana", content: [{ type: "text", text: "a" }, "b", { type: "image" }] }],
      [["Ana", "person", "a\nb"]],
    ],
    ["no speaker", [{ message: "a" }], [[undefined, "none", "a"]]],
  ])("JSON with %s", (_, value, expected) => {
    expect(turns(JSON.stringify(value))).toEqual(expected);
    expect(turns(value.map((line) => JSON.stringify(line)).join("\n"))).toEqual(expected);
    expect(turns(JSON.stringify({ messages: value }))).toEqual(expected);
  });

  test("turns of JSON stand where their object does", () => {
    const content = JSON.stringify([{ text: "a" }, { text: "b" }]);
    expect(parseTurns(content, new Set()).map(({ start }) => start)).toEqual([0, content.lastIndexOf("{")]);
  });

  test("JSON that is no talk stays as it is written, also between turns", () => {
    expect(turns('{"city":"Lisbon"}')).toEqual([[undefined, "none", '{"city":"Lisbon"}']]);
    expect(turns('[{"text":"a"},{"x":1}]')).toEqual([
      [undefined, "none", "a"],
      [undefined, "none", '{"x":1}]'],
    ]);
  });

  test("turns of prose are slices in order, whatever the text", () => {
    const seed = 555;
    const random = seededRandom(seed);
    for (let i = 0; i < 500; i++) {
      const text = randomText(random);
      let from = 0;
      for (const turn of parseTurns(text, new Set(["anna"]))) {
        const label = `seed ${seed}: ${JSON.stringify(text)}`;
        expect(text.startsWith(turn.text, turn.start), label).toBe(true);
        expect(turn.start, label).toBeGreaterThanOrEqual(from);
        from = turn.start + turn.text.length;
      }
    }
  });
});
