import { describe, expect, test } from "vitest";
import { conversation, DAY_US, idsOf, NOON, recall, record, termOf } from "./recall-fixture.ts";
import { createRecallIndex } from "./recall-index.ts";

const day = (year: number, month: number, date: number): number => Date.UTC(year, month - 1, date, 12) * 1000;

describe("features", () => {
  test("turn: words of the passage, its author, day and entities; the best is 1", () => {
    const index = createRecallIndex([
      record("both", "The red canoe leaks."),
      record("one", "The red door is shut."),
      record("named", "It opened again.", { entityNames: ["Canoe Club"] }),
      record("none", "Nothing here."),
    ]);
    const hits = recall(index, "red canoe");
    expect(termOf(hits, "both", "turn")).toBe(1);
    expect(termOf(hits, "one", "turn")).toBeGreaterThan(0);
    expect(termOf(hits, "named", "turn")).toBeGreaterThan(0);
    expect(idsOf(hits)).not.toContain("none");
    expect(hits[0]!.keyword).toBe(1);
  });

  test("phrase: only words that are neighbours in both count", () => {
    const index = createRecallIndex([
      record("near", "We took the night train home."),
      record("far", "The train was late that night."),
    ]);
    const hits = recall(index, "night train");
    expect(termOf(hits, "near", "phrase")).toBe(1);
    expect(termOf(hits, "far", "phrase")).toBe(0);
  });

  test("window: up to four turns around in a conversation, two around a note", () => {
    const filler = ["Tom: ok", "Tom: well", "Tom: sure", "Tom: fine", "Tom: bye"];
    const turns = createRecallIndex(conversation("s", ["Maria: canoe", ...filler]));
    const notes = createRecallIndex(conversation("s", ["Maria: canoe", ...filler], { author: undefined }));
    expect(idsOf(recall(turns, "canoe")).sort()).toEqual(["s.0", "s.1", "s.2", "s.3", "s.4"]);
    expect(idsOf(recall(notes, "canoe")).sort()).toEqual(["s.0", "s.1", "s.2"]);
  });

  test("window and session never cross into another session", () => {
    const index = createRecallIndex([...conversation("a", ["Maria: canoe", "Tom: ok"]), ...conversation("b", ["Tom: well"])]);
    const hits = recall(index, "canoe");
    expect(termOf(hits, "a.1", "session")).toBe(1);
    expect(idsOf(hits)).not.toContain("b.0");
  });

  test("previousQuestion: an answer needs no word of the question", () => {
    const index = createRecallIndex(conversation("s", ["Tom: What is your canoe called?", "Maria: Sea Horse.", "Tom: Lovely."]));
    const hits = recall(index, "What is Maria's canoe called?");
    expect(hits[0]!.record.unitId).toBe("s.1");
    expect(termOf(hits, "s.1", "previousQuestion")).toBe(1);
    expect(termOf(hits, "s.2", "previousQuestion")).toBe(0);
  });

  test("context: the share of the topic that the context line holds", () => {
    const index = createRecallIndex([
      record("call", "We will ship on Monday.", { context: "staff call" }),
      record("other", "Staff are happy."),
    ]);
    const hits = recall(index, "staff call");
    expect(termOf(hits, "call", "context")).toBe(1);
    expect(termOf(hits, "other", "context")).toBe(0);
  });

  test("person: said by the author asked about, or about that person when nobody speaks", () => {
    const chat = createRecallIndex(conversation("s", ["Maria: I love boats.", "Tom: I love boats."]));
    expect(idsOf(recall(chat, "What does Tom love?"))).toEqual(["s.1", "s.0"]);
    expect(termOf(recall(chat, "What does Tom love?"), "s.1", "person")).toBe(1);
    const notes = createRecallIndex([
      record("a", "Lena runs it.", { subject: "Lena" }),
      record("b", "Paul runs it.", { subject: "Paul" }),
    ]);
    expect(termOf(recall(notes, "What does Paul run?"), "b", "person")).toBe(0.5);
    expect(termOf(recall(notes, "What does Paul run?"), "a", "person")).toBe(0);
  });

  test("endsWithQuestion: who asks does not tell", () => {
    const index = createRecallIndex([record("asks", "Is the canoe red?"), record("tells", "The canoe is red.")]);
    expect(idsOf(recall(index, "canoe red"))).toEqual(["tells", "asks"]);
  });

  test.each([
    ["timeAsked", "When was the canoe sold?", { hasTimeExpression: true }, 1],
    ["nameAsked", "Which book is about the canoe?", { nameCount: 1 }, 0.5],
    ["placeAsked", "Where is the canoe?", { hasPlace: true }, 1],
  ])("%s: %s", (feature, question, flags, value) => {
    const index = createRecallIndex([record("plain", "The canoe was sold."), record("fits", "The canoe was sold.", { flags })]);
    const hits = recall(index, question);
    expect(termOf(hits, "fits", feature)).toBe(value);
    expect(termOf(hits, "plain", feature)).toBe(0);
    expect(termOf(recall(index, "canoe sold"), "fits", feature)).toBe(0);
  });

  test("toldThen, aboutThen, toldAfter: when it was told and what time it tells of", () => {
    const may = { startUs: day(2022, 5, 1), endUs: day(2022, 5, 31) };
    const index = createRecallIndex([
      record("then", "Rain all day.", { mentionedAtUs: day(2022, 5, 8) }),
      record("about", "We were in Rome.", { mentionedAtUs: day(2023, 8, 8), intervals: [may] }),
      record("occurred", "The wedding.", { mentionedAtUs: day(2023, 5, 8), occurredStartUs: day(2022, 5, 9) }),
      record("after", "What a month.", { mentionedAtUs: day(2022, 6, 8) }),
      record("never", "Nothing.", { mentionedAtUs: day(2023, 8, 8) }),
      record("undated", "Who knows.", { mentionedAtUs: undefined }),
    ]);
    const hits = recall(index, "What happened in May 2022?");
    expect(termOf(hits, "then", "toldThen")).toBe(1);
    expect(termOf(hits, "about", "aboutThen")).toBeCloseTo(1, 1);
    expect(termOf(hits, "occurred", "aboutThen")).toBe(1);
    expect(idsOf(hits)).not.toContain("never");
    expect(idsOf(hits)).not.toContain("undated");
    expect(termOf(recall(index, "What happened in May 2022? What a month"), "after", "toldAfter")).toBeCloseTo(
      Math.exp(-7.5 / 15),
      1,
    );
    expect(
      recall(index, "What happened in May 2022?", { sources: { isTemporalEnabled: false } }).map((hit) => hit.record.unitId),
    ).not.toContain("about");
  });

  test("sentence and exchange: meaning alone finds what shares no word", () => {
    const index = createRecallIndex([
      record("near", "He adopted a puppy."),
      record("far", "Taxes are due."),
      record("unknown", "No vector."),
    ]);
    const hits = recall(index, "dog", { cosines: { near: 0.7, far: 0.1 } });
    expect(idsOf(hits)).toEqual(["near", "far"]);
    expect(hits.map((hit) => hit.semantic)).toEqual([0.7, 0.1]);
    expect(termOf(hits, "near", "sentence")).toBeCloseTo(1 / 3);
  });

  test("exchange: the cosine with two passages together is the sum of scores over the pair's length", () => {
    const turns = conversation("s", ["Tom: Any pets?", "Maria: Two.", "Tom: And plants?", "Maria: None."], { pairNorm: 1.25 });
    const cosines = { "s.0": 0.6, "s.1": 0.1, "s.2": 0.1, "s.3": 0.1 };
    const hits = recall(createRecallIndex(turns), "dog", { cosines });
    expect(termOf(hits, "s.1", "exchange")).toBeGreaterThan(termOf(hits, "s.3", "exchange"));
    expect(termOf(hits, "s.1", "sentence")).toBe(termOf(hits, "s.3", "sentence"));
  });

  test("contributions add up to the score", () => {
    const index = createRecallIndex(
      conversation("s", ["Tom: Which book do you read?", "Maria: Dune, since May.", "Tom: I sold my book yesterday."]),
    );
    for (const hit of recall(index, "Which book did Maria read in May 2023?", {
      cosines: { "s.0": 0.3, "s.1": 0.5, "s.2": 0.1 },
    })) {
      expect(hit.terms.reduce((sum, { contribution }) => sum + contribution, 0)).toBeCloseTo(hit.score, 10);
      expect(Math.abs(hit.score)).toBeLessThan(1.1);
    }
  });

  test("told days are searched as people write them", () => {
    const index = createRecallIndex([
      record("a", "Rain.", { mentionedAtUs: NOON }),
      record("b", "Rain.", { mentionedAtUs: NOON + 40 * DAY_US }),
    ]);
    expect(recall(index, "rain may")[0]?.record.unitId).toBe("a");
  });
});
