import { describe, expect, test } from "vitest";
import { randomText, seededRandom } from "../text/random-text.ts";
import { type ExtractionInput, extractFacts, extractionSteps } from "./extract.ts";

/** Wednesday. */
const timestampUs = Date.UTC(2026, 1, 11, 8, 45) * 1000;

const extract = (content: string, other: Partial<ExtractionInput> = {}) =>
  extractFacts({ content, context: "", timestampUs, mode: "concise", chunkSize: 3000, structuredChunkSize: 3000, ...other });
const facts = (content: string, other: Partial<ExtractionInput> = {}) => extract(content, other).facts;
const texts = (content: string, other: Partial<ExtractionInput> = {}) => facts(content, other).map((fact) => fact.text);
const day = (us: number | undefined) =>
  us === undefined ? undefined : new Date(Math.floor(us / 1000)).toISOString().slice(0, 10);

describe("sentences become facts", () => {
  test("a note gives one fact per sentence, in the source's own words", () => {
    const [first, second] = facts("Maria runs the Lisbon office of Northwind. The deploy key rotates every 90 days.");
    expect(first).toMatchObject({
      text: "Maria runs the Lisbon office of Northwind.",
      type: "world",
      subject: "Maria",
      entities: [
        { name: "Maria", kind: "PERSON" },
        { name: "Lisbon", kind: "LOCATION" },
        { name: "Northwind", kind: "ORGANIZATION" },
      ],
      intervals: [],
      flags: { endsWithQuestion: false, containsQuestion: false, hasTimeExpression: false, hasPlace: true, nameCount: 2 },
      chunkIndex: 0,
      passageIndex: 0,
      sentenceIndex: 0,
      causedBy: [],
    });
    expect(first).not.toHaveProperty("author");
    expect(second).toMatchObject({ text: "The deploy key rotates every 90 days.", entities: [], sentenceIndex: 1 });
  });

  test("a turn keeps its speaker's label in the text and not in what is embedded", () => {
    const [fact] = facts("Maria: I moved to Porto.");
    expect(fact).toMatchObject({ text: "Maria: I moved to Porto.", author: "Maria", embeddedText: "I moved to Porto." });
    expect(fact!.entities).toEqual([
      { name: "Maria", kind: "PERSON" },
      { name: "Porto", kind: "LOCATION" },
    ]);
    expect(fact).not.toHaveProperty("subject");
  });

  test("only the first person makes the speaker an entity", () => {
    expect(facts("Maria: The bridge is old.")[0]!.entities).toEqual([]);
  });

  test("somebody else at the start is the subject, somebody addressed is not", () => {
    expect(facts("Maria: Tom lives here.")[0]!.subject).toBe("Tom");
    expect(facts("Maria: Tom, this house is old.")[0]).not.toHaveProperty("subject");
  });

  test("participants do not count as names", () => {
    expect(facts("Maria: Tom met Zubin.", { context: "talk between Maria and Tom" })[0]!.flags.nameCount).toBe(1);
  });

  test("types: preference, experience of the agent, world", () => {
    const content = "User: I like tea. The sky is blue. Do you like tea?\nAssistant: I like it too.";
    expect(facts(content).map((fact) => fact.type)).toEqual(["preference", "world", "world", "experience"]);
  });

  test("a caption is a sentence of its own in its turn, embedded without its brackets", () => {
    const [said, caption] = facts("Maria: Look at my dog. [shares a photo: a dog on grass]");
    expect([said!.passageIndex, caption!.passageIndex, caption!.sentenceIndex]).toEqual([0, 0, 1]);
    expect(caption).toMatchObject({ text: "Maria: [shares a photo: a dog on grass]", embeddedText: "a dog on grass" });
  });

  test("an effect points at the fact before it in the same passage", () => {
    const content = "It rained. So we stayed in.\n\nSo I left. Therefore it ended.";
    expect(facts(content).map((fact) => fact.causedBy)).toEqual([[], [0], [], [2]]);
  });
});

describe("times", () => {
  test("an event is dated and its date embedded, every expression gives an interval", () => {
    const [fact] = facts("Maria: We met in 2019, and I moved last week.");
    expect([day(fact!.occurredStartUs), day(fact!.occurredEndUs)]).toEqual(["2026-02-02", "2026-02-08"]);
    expect(fact!.intervals).toHaveLength(2);
    expect(fact!.flags.hasTimeExpression).toBe(true);
    expect(fact!.embeddedText).toBe("We met in 2019, and I moved last week. (happened in February 2026)");
  });

  test.each([
    ["It happened in 2019.", "(happened in 2019)"],
    ["It happened in Q2 2023.", "(happened from April 2023 to June 2023)"],
    ["It happened on 5 June 2023.", "(happened in June 2023)"],
  ])("date phrase: %j", (content, phrase) => {
    expect(facts(content)[0]!.embeddedText.endsWith(phrase)).toBe(true);
  });

  test("questions and preferences have intervals and no date, a liking of the past is an event", () => {
    const [asked, liked, went] = facts("Did you go last week? I love summer 2022 music. I loved the concert last night.");
    expect([asked!.occurredStartUs, liked!.occurredStartUs]).toEqual([undefined, undefined]);
    expect(asked!.intervals).toHaveLength(1);
    expect(went).toMatchObject({ type: "world" });
    expect(day(went!.occurredStartUs)).toBe("2026-02-10");
  });

  test("without a time of the item only dates with a year count", () => {
    const [fact] = facts("We met yesterday, on 3 May, and on 3 May 2021 in 2024.", { timestampUs: undefined });
    expect(fact!.intervals.map(({ startUs }) => day(startUs))).toEqual(["2021-05-03", "2024-01-01"]);
  });
});

describe("what is kept", () => {
  test("concise leaves bare politeness out, verbose keeps it", () => {
    const content = "Maria: Thanks, Tom!\nTom: Sure. The key is 4711. Yes.";
    expect(texts(content)).toEqual(["Tom: The key is 4711.", "Tom: Yes."]);
    expect(texts(content, { mode: "custom" })).toEqual(texts(content));
    expect(texts(content, { mode: "verbose" })).toEqual([
      "Maria: Thanks, Tom!",
      "Tom: Sure.",
      "Tom: The key is 4711.",
      "Tom: Yes.",
    ]);
  });

  test.each([
    ["Wow! Thanks a lot!", ["Thanks a lot!"]],
    ["Gina: ;)", ["Gina: ;)"]],
    ["Gina:", ["Gina:"]],
    ['{"role":"user","content":"🙂"}', ['{"role":"user","content":"🙂"}']],
    ["🙂 ... !", []],
    [" \n ", []],
    ["你好", ["你好"]],
  ])("an item with letters or digits is never lost: %j", (content, expected) => {
    expect(texts(content)).toEqual(expected);
  });

  test("verbatim: one fact per chunk, with what its sentences name", () => {
    const [first, second] = facts("Maria runs it. Tom left in 2019.\n\nAna stays?", { mode: "verbatim", chunkSize: 34 });
    expect(first).toMatchObject({ text: "Maria runs it. Tom left in 2019.\n\n", chunkIndex: 0, type: "world" });
    expect(first!.entities.map(({ name }) => name)).toEqual(["Maria", "Tom"]);
    expect(day(first!.occurredStartUs)).toBe("2019-01-01");
    expect(second).toMatchObject({ text: "Ana stays?", chunkIndex: 1, flags: { endsWithQuestion: true } });
  });

  test("verbatim: one speaker's text is read like his sentence", () => {
    const [fact] = facts("Maria: I love tea.", { mode: "verbatim" });
    expect(fact).toMatchObject({ text: "Maria: I love tea.", author: "Maria", type: "preference", embeddedText: "I love tea." });
  });

  test("chunks: one unread fact per chunk", () => {
    const [fact] = facts("Maria runs it in 2019.", { mode: "chunks" });
    expect(fact).toMatchObject({ text: "Maria runs it in 2019.", type: "fact", entities: [], intervals: [], chunkIndex: 0 });
  });
});

describe("places in the document", () => {
  test("long turns and paragraphs are parted evenly, each part a passage", () => {
    const paragraph = (count: number) => Array.from({ length: count }, (_, i) => `Fact ${i} holds.`).join(" ");
    const sizes = (content: string) =>
      Object.values(Object.groupBy(facts(content), (fact) => fact.passageIndex)).map((passage) => passage!.length);
    expect(sizes(paragraph(7))).toEqual([7]);
    expect(sizes(paragraph(11))).toEqual([4, 4, 3]);
    expect(sizes(`${paragraph(2)}\n\n${paragraph(1)}`)).toEqual([2, 1]);
  });

  test("a fact knows the chunk its sentence starts in, in prose and in JSON", () => {
    expect(facts("One is here. Two is here. Three is here.", { chunkSize: 26 }).map((fact) => fact.chunkIndex)).toEqual([
      0, 0, 1,
    ]);
    const json = JSON.stringify([{ text: "One is here." }, { text: "Two is here." }]);
    expect(facts(json, { chunkSize: 10, structuredChunkSize: 30 }).map((fact) => fact.chunkIndex)).toEqual([0, 1]);
  });

  test("a long text is read in steps", () => {
    const input = {
      content: "It holds. ".repeat(500),
      context: "",
      timestampUs,
      mode: "concise",
      chunkSize: 3000,
      structuredChunkSize: 3000,
    } as const;
    const steps = extractionSteps(input);
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses++;
    expect(pauses).toBe(10);
    expect(step.value).toEqual(extractFacts(input));
  });

  test("any text gives the same ordered facts twice, each within a chunk and none without letters or digits", () => {
    const seed = 20_260_211;
    const random = seededRandom(seed);
    const modes = ["concise", "verbose", "custom", "verbatim", "chunks"] as const;
    for (let i = 0; i < 400; i++) {
      const content = randomText(random);
      const other = {
        mode: modes[i % modes.length]!,
        chunkSize: 1 + Math.floor(random() * 60),
        timestampUs: i % 3 === 0 ? undefined : timestampUs,
      };
      const label = `seed ${seed}: ${JSON.stringify({ content, ...other })}`;
      const once = extract(content, other);
      expect(extract(content, other), label).toEqual(once);
      expect(once.facts.length > 0, label).toBe(/[\p{L}\p{N}]/u.test(content));
      let order = -1;
      for (const [index, fact] of once.facts.entries()) {
        expect(/[\p{L}\p{N}]/u.test(fact.text) && /[\p{L}\p{N}]/u.test(fact.embeddedText), label).toBe(true);
        expect(once.chunks[fact.chunkIndex], label).toBeDefined();
        expect(fact.passageIndex * 1_000 + fact.sentenceIndex, label).toBeGreaterThan(order);
        order = fact.passageIndex * 1_000 + fact.sentenceIndex;
        expect(
          fact.causedBy.every((cause) => cause < index),
          label,
        ).toBe(true);
      }
    }
  });
});
