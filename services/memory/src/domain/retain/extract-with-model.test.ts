import { AppError } from "@memory-bank/errors";
import type { Completion, CompletionRequest } from "@memory-bank/models";
import { expect, test } from "vitest";
import { extractWithModel, type ModelExtractionInput } from "./extract-with-model.ts";

const usage = { input: 100, output: 20, cached: 10, reasoning: 5 };
const guidance = { mode: "concise", mission: undefined, customInstructions: undefined, labels: [], narrator: undefined } as const;
const timestampUs = Date.UTC(2026, 0, 5, 9) * 1000;

/** A model that answers with what `answer` makes of the text that it is given. */
function scripted(answer: (text: string) => unknown, asked: CompletionRequest[] = []) {
  return {
    kind: "openai" as const,
    model: "scripted",
    complete: async (request: CompletionRequest): Promise<Completion> => {
      asked.push(request);
      const block = /<text>\n([\s\S]*)\n<\/text>/.exec(request.messages.at(-1)!.content)!;
      const json = answer(JSON.parse(block[1]!) as string);
      if (json instanceof Error) throw json;
      return json === "cut off"
        ? { kind: "text", text: '{"facts": [', usage, finishReason: "length" }
        : { kind: "json", json, usage, finishReason: "stop" };
    },
  };
}

const extract = (model: ReturnType<typeof scripted>, members: Partial<ModelExtractionInput> = {}) =>
  extractWithModel(
    model,
    {
      content: "Ann: Yesterday I sold the flat in Graz, because I moved to Porto.",
      context: "chat",
      timestampUs,
      chunkSize: 3000,
      structuredChunkSize: 3000,
      keepsFreeEntities: true,
      guidance,
      ...members,
    },
    new AbortController().signal,
  );

test("the prompt of the concise mode", async () => {
  const asked: CompletionRequest[] = [];
  const labels = [{ key: "topic", type: "value" as const, values: ["home", "work"] }];
  await extract(
    scripted(() => ({ facts: [] }), asked),
    { guidance: { ...guidance, mission: "Housing.", narrator: "Maya", labels } },
  );
  await expect(asked[0]!.messages.map(({ role, content }) => `${role}:\n${content}`).join("\n\n")).toMatchFileSnapshot(
    "./expected/extraction-prompt.txt",
  );
});

test("facts are stored as what, when, who and why, dated, classed and linked to their causes", async () => {
  const { facts, usage: spent } = await extract(
    scripted(() => ({
      facts: [
        { what: "Ann moved to Porto", when: "N/A", who: "Ann", why: "", kind: "conversation", class: "world", caused_by: [0, 1] },
        {
          what: "Ann sold the flat in Graz",
          when: "January 4, 2026",
          who: "",
          why: "she moved",
          kind: "event",
          class: "world",
          occurred_start: "2026-01-04",
          occurred_end: "",
          entities: [{ name: " Graz ", kind: "location" }],
          caused_by: [0, 1, 7],
        },
        { what: "---", class: "world" },
        { what: "Ann likes trams", class: "preference" },
        { what: "Suggested a bank", class: "assistant" },
        { what: "Odd", class: "odd" },
      ],
    })),
  );
  expect(facts.map((fact) => [fact.text, fact.type, fact.causedBy])).toEqual([
    ["Ann moved to Porto | Involving: Ann", "world", []],
    ["Ann sold the flat in Graz | When: January 4, 2026 | she moved", "world", [0]],
    ["Ann likes trams", "preference", []],
    ["Suggested a bank", "experience", []],
    ["Odd", "fact", []],
  ]);
  const sale = facts[1]!;
  expect(sale).toMatchObject({
    occurredStartUs: Date.UTC(2026, 0, 4) * 1000,
    occurredEndUs: Date.UTC(2026, 0, 4) * 1000,
    entities: [{ name: "Graz", kind: "LOCATION" }],
  });
  expect(sale.embeddedText).toBe(`${sale.text} (happened in January 2026) [Graz]`);
  expect(spent).toEqual(usage);
});

test("verbatim keeps the chunk and takes only what the model says of it", async () => {
  const model = scripted(() => ({
    facts: [{ what: "rewritten", class: "world", entities: [{ name: "Porto", kind: "LOCATION" }] }],
  }));
  const { facts } = await extract(model, { guidance: { ...guidance, mode: "verbatim" } });
  expect(facts).toHaveLength(1);
  expect(facts[0]).toMatchObject({
    text: "Ann: Yesterday I sold the flat in Graz, because I moved to Porto.",
    entities: [{ name: "Porto", kind: "LOCATION" }],
  });
});

test("custom instructions replace the guidance", async () => {
  const asked: CompletionRequest[] = [];
  await extract(
    scripted(() => ({ facts: [] }), asked),
    { guidance: { ...guidance, mode: "custom", customInstructions: "Only prices." } },
  );
  expect(asked[0]!.messages[0]!.content).toContain("Only prices.");
  expect(asked[0]!.messages[0]!.content).not.toContain("Few facts");
});

test("labels are kept in the spelling of the vocabulary, and alone when free entities are not wanted", async () => {
  const labels = [
    { key: "mood", type: "value" as const, values: ["Good", { value: "Bad" }] },
    { key: "team", type: "multi-values" as const, values: ["a", "b", "c"] },
    { key: "place", type: "map" as const, fields: [{ key: "city", type: "text" as const }] },
  ];
  const model = scripted(() => ({
    facts: [
      {
        what: "Ann is happy",
        entities: [{ name: "Ann", kind: "PERSON" }],
        labels: [
          { key: "mood", value: "good" },
          { key: "mood", value: "Bad" },
          { key: "team", value: "a" },
          { key: "team", value: "c" },
          { key: "team", value: "z" },
          { key: "place.city", value: "Porto" },
          { key: "weather", value: "sun" },
        ],
      },
    ],
  }));
  const { facts } = await extract(model, { guidance: { ...guidance, labels }, keepsFreeEntities: false });
  expect(facts[0]!.entities.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
    "LABEL mood:Good",
    "LABEL team:a",
    "LABEL team:c",
    "LABEL place.city:Porto",
  ]);
});

test("a text whose answer is cut off is read in halves, and all tokens count", async () => {
  const content = Array.from({ length: 40 }, (_, i) => `Ann bought lamp number ${i} in Porto.`).join(" ");
  const model = scripted((text) => (text.length > 800 ? "cut off" : { facts: [{ what: `Read ${text.length} characters` }] }));
  const { facts, usage: spent, chunks } = await extract(model, { content });
  expect(chunks).toHaveLength(1);
  expect(facts.length).toBeGreaterThan(1);
  expect(facts.every((fact) => fact.chunkIndex === 0)).toBe(true);
  expect(spent.input).toBeGreaterThan(facts.length * usage.input);
});

test.each([
  ["cut off however short", () => "cut off"],
  ["of another shape", () => ({ facts: "many" })],
  ["no object", () => null],
])("an answer that is %s fails the item", async (_, answer) => {
  await expect(extract(scripted(answer))).rejects.toMatchObject({ code: "unavailable", reason: "EXTRACTION_FAILED" });
});

test("an outage passes through", async () => {
  const down = new AppError("unavailable", "MODEL_DOWN", "down");
  await expect(extract(scripted(() => down))).rejects.toBe(down);
});
