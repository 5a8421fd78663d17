import { describe, expect, test } from "vitest";
import { planRecall, tracePlan } from "./plan.ts";
import { understandQuery } from "./query.ts";
import { conversation, DAY_US, idsOf, NOON, recall, record } from "./recall-fixture.ts";
import { createRecallIndex } from "./recall-index.ts";

describe("order", () => {
  test("a small conversation: each question finds its turn first", () => {
    const index = createRecallIndex([
      ...conversation("first", [
        "Tom: Hey Maria! How was your weekend?",
        "Maria: We hiked around the lake with the kids.",
        "Tom: Did you see any birds?",
        "Maria: Two herons and an owl!",
        "Tom: I spent it repairing my old motorbike.",
      ]),
      ...conversation("second", [
        "Maria: I finally signed up for pottery class.",
        "Tom: Great! My sister gave me a guitar for my birthday.",
        "Maria: What will you play first?",
        "Tom: Probably some Neil Young.",
      ]),
    ]);
    const first = (question: string): string | undefined => idsOf(recall(index, question))[0];
    expect(first("What did Tom repair?")).toBe("first.4");
    expect(first("Which birds did Maria see?")).toBe("first.3");
    expect(first("Who did Maria hike with?")).toBe("first.1");
    expect(first("What did Tom get for his birthday?")).toBe("second.1");
    expect(first("What class did Maria sign up for?")).toBe("second.0");
    expect(first("What will Tom play first?")).toBe("second.3");
  });

  test("plain notes", () => {
    const index = createRecallIndex([
      record("key", "The deploy key rotates every 90 days.", { sessionId: "batch", passage: 0 }),
      record("lunch", "Lunch is at noon.", { sessionId: "batch", passage: 1 }),
      record("ops", "Ops keeps a calendar for key rotation.", { sessionId: "other" }),
      record("cat", "The office cat is called Minka."),
    ]);
    expect(idsOf(recall(index, "How often does the deploy key rotate?")).slice(0, 2)).toEqual(["key", "ops"]);
    expect(idsOf(recall(index, "What is the cat called?"))).toEqual(["cat"]);
  });

  test.each([
    ["Wann wird der Schlüssel gewechselt?", "Der Schlüssel wird alle 90 Tage gewechselt.", "Mittag ist um zwölf."],
    ["猫はどこで寝ますか", "猫は台所で寝ます。", "会議は月曜日です。"],
    ["小明住在哪里？", "小明住在上海。", "会议在星期一。"],
    ["¿Dónde está la llave?", "La llave está debajo del felpudo.", "El almuerzo es a las doce."],
    ["rocket 🚀", "Launch day 🚀 for the rocket!", "Nothing to see 🙂"],
  ])("%s", (question, answer, other) => {
    expect(idsOf(recall(createRecallIndex([record("other", other), record("answer", answer)]), question))[0]).toBe("answer");
  });

  test("a bank of one unit, and an empty one", () => {
    expect(
      idsOf(
        recall(createRecallIndex([record("only", "Keys are in the safe.")]), "Where are the keys?", { cosines: { only: 0.4 } }),
      ),
    ).toEqual(["only"]);
    expect(recall(createRecallIndex(), "Where are the keys?")).toEqual([]);
    expect(recall(createRecallIndex([record("only", "Keys are in the safe.")]), "unrelated")).toEqual([]);
  });

  test("equal scores: told later first, then by unit id", () => {
    const same = "The gate is open.";
    const index = createRecallIndex([record("b", same), record("a", same), record("late", same, { mentionedAtUs: NOON + 1000 })]);
    expect(idsOf(recall(index, "gate"))).toEqual(["late", "a", "b"]);
  });

  test("the same call gives the same answer", () => {
    const index = createRecallIndex(conversation("s", ["Tom: the gate is open", "Maria: the gate is shut", "Tom: which gate?"]));
    const once = recall(index, "Which gate is open?", { cosines: { "s.0": 0.3, "s.1": 0.3, "s.2": 0.2 } });
    expect(recall(index, "Which gate is open?", { cosines: { "s.0": 0.3, "s.1": 0.3, "s.2": 0.2 } })).toEqual(once);
  });

  test("of one passage the sentence that fits comes first, ahead of where it stands", () => {
    const sentences = ["It rained.", "The canoe sank in the bay.", "We laughed."];
    const index = createRecallIndex(
      sentences.map((text, sentenceIndex) => record(`${sentenceIndex}`, text, { sessionId: "s", sentenceIndex })),
    );
    expect(idsOf(recall(index, "canoe bay"))[0]).toBe("1");
    expect(recall(index, "canoe bay")).toHaveLength(3);
  });

  test("without reranking the arms' places decide", () => {
    const index = createRecallIndex([record("both", "a canoe"), record("word", "canoe canoe canoe"), record("near", "a boat")]);
    const hits = recall(index, "canoe", { cosines: { both: 0.9, near: 0.8 }, options: { isRerankingEnabled: false } });
    expect(hits[0]!.record.unitId).toBe("both");
    expect(hits[0]!.terms.map(({ name }) => name)).toEqual(["semantic", "keyword"]);
    expect(hits.map((hit) => hit.score)).toEqual(hits.map((hit) => hit.terms.reduce((sum, { value }) => sum + value, 0)));
  });

  test("an observation of many proofs comes before one of few", () => {
    const parts = { type: "observation" } as const;
    const index = createRecallIndex([
      record("few", "Maria likes boats.", { ...parts, proofCount: 2 }),
      record("many", "Maria likes boats.", { ...parts, proofCount: 9 }),
    ]);
    expect(idsOf(recall(index, "boats"))).toEqual(["many", "few"]);
  });
});

test("a trace tells how many passages each arm brought", () => {
  const { view } = createRecallIndex([
    record("a", "a canoe"),
    record("b", "a boat", { entityIds: ["e"] }),
    record("c", "an oar", { entityIds: ["e"] }),
  ]);
  const plan = planRecall(
    view,
    understandQuery("canoe", NOON, view),
    {},
    {
      ...{ budget: 10, semanticHits: [{ unitId: "b", score: 0.6 }], meaningShare: 1, linksOf: () => [] },
      ...{ isTemporalEnabled: true, isGraphEnabled: true },
    },
  );
  expect(tracePlan(plan)).toMatchObject({ candidateCount: 3, arms: { semantic: 1, keyword: 1, graph: 1, temporal: 0 } });
});

describe("supersession", () => {
  const old = record("old", "Maria lives in Berlin, Berlin, Berlin.", { supersededBy: ["new"] });

  test("the past stands right behind the present, however well it fits", () => {
    const index = createRecallIndex([old, record("new", "She moved to a flat in Porto."), record("third", "Berlin is big.")]);
    const hits = recall(index, "Maria lives Berlin", { cosines: { new: 0.1, old: 0.9 } });
    expect(idsOf(hits).indexOf("old")).toBeGreaterThan(idsOf(hits).indexOf("new"));
    const oldHit = hits.find((hit) => hit.record.unitId === "old")!;
    expect(oldHit.terms.reduce((sum, { contribution }) => sum + contribution, 0)).toBeCloseTo(oldHit.score, 10);
  });

  test("what replaced a found fact is found with it", () => {
    const index = createRecallIndex([
      old,
      record("new", "Gone to Porto.", { supersededBy: ["newest"] }),
      record("newest", "Off again."),
    ]);
    expect(idsOf(recall(index, "Maria Berlin"))).toEqual(["newest", "new", "old"]);
  });

  test("a filtered successor does not hide the past; a cycle ends", () => {
    const index = createRecallIndex([old, record("new", "Now in Porto.", { tags: ["secret"], supersededBy: ["old"] })]);
    expect(idsOf(recall(index, "Berlin", { filter: { tagGroups: [{ not: { tags: ["secret"] } }] } }))).toEqual(["old"]);
    expect(idsOf(recall(index, "Berlin Porto")).sort()).toEqual(["new", "old"]);
  });
});

describe("graph", () => {
  const bank = createRecallIndex([
    record("seed", "The Acme deal closed.", { entityIds: ["acme"] }),
    record("shares", "Invoices go out in June.", { entityIds: ["acme"] }),
    record("linked", "Champagne for all."),
    record("apart", "Trees are green."),
  ]);
  const sources = { linksOf: (unitId: string) => (unitId === "seed" ? [{ unitId: "linked", weight: 0.8 }] : []) };

  test("brings what shares entities or links with the nearest units", () => {
    expect(idsOf(recall(bank, "contract", { cosines: { seed: 0.8 }, sources })).sort()).toEqual(["linked", "seed", "shares"]);
    expect(idsOf(recall(bank, "contract", { cosines: { seed: 0.8 }, sources: { ...sources, isGraphEnabled: false } }))).toEqual([
      "seed",
    ]);
  });

  test("an entity of more than two hundred units connects nothing", () => {
    const crowd = Array.from({ length: 201 }, (_, i) => record(`u${i}`, `sentence ${i}`, { entityIds: ["speaker"] }));
    expect(idsOf(recall(createRecallIndex(crowd), "contract", { cosines: { u7: 0.8 } }))).toEqual(["u7"]);
  });
});

describe("filters and cuts", () => {
  const index = createRecallIndex([
    record("world", "The gate is open.", { tags: ["a"] }),
    record("preference", "Tom likes the gate.", { type: "preference" }),
    record("experience", "I painted the gate.", { type: "experience" }),
    record("observation", "The gate matters.", { type: "observation", sourceUnitIds: ["world", "preference"] }),
  ]);
  const found = (overrides: Parameters<typeof recall>[2]): string[] => idsOf(recall(index, "gate", overrides)).sort();

  test.each([
    [["world"], ["preference", "world"]],
    [["preference"], ["preference"]],
    [
      ["experience", "observation"],
      ["experience", "observation"],
    ],
    [["opinion"], []],
    [[], []],
  ])("types %j", (types, expected) => {
    expect(found({ filter: { types } })).toEqual(expected);
  });

  test("tags", () => {
    expect(found({ filter: { tags: ["a"], tagsMatch: "any_strict" } })).toEqual(["world"]);
    expect(found({ filter: { tagsMatch: "exact" } })).toEqual(["experience", "observation", "preference"]);
  });

  test("a semantic hit that the filter excludes stays out", () => {
    expect(found({ filter: { types: ["experience"] }, cosines: { world: 0.9 } })).toEqual(["experience"]);
  });

  test("tokens: zero answers nothing, and the first that does not fit ends the answer", () => {
    expect(found({ options: { maxTokens: 0 } })).toEqual([]);
    expect(found({ options: { maxTokens: 0, countTokens: () => 0 } })).toEqual([]);
    const ranked = idsOf(recall(index, "gate"));
    expect(idsOf(recall(index, "gate", { options: { maxTokens: 9, countTokens: () => 4 } }))).toEqual(ranked.slice(0, 2));
    const sizes: Record<string, number> = { [ranked[0]!]: 3, [ranked[1]!]: 100, [ranked[2]!]: 1, [ranked[3]!]: 1 };
    expect(idsOf(recall(index, "gate", { options: { maxTokens: 9, countTokens: ({ unitId }) => sizes[unitId]! } }))).toEqual(
      ranked.slice(0, 1),
    );
  });

  test("hitsMax keeps the best", () => {
    expect(idsOf(recall(index, "gate", { options: { hitsMax: 2 } }))).toEqual(idsOf(recall(index, "gate")).slice(0, 2));
  });

  test("thresholds: what has no vector passes no semantic one", () => {
    expect(found({ cosines: { world: 0.6, experience: 0.2 }, options: { minScores: { semantic: 0.3 } } })).toEqual(["world"]);
    expect(found({ options: { minScores: { keyword: 0.99 } } }).length).toBeGreaterThan(0);
    expect(found({ options: { minScores: { final: 2 } } })).toEqual([]);
  });

  test("prefersObservations drops what a returned observation is drawn from", () => {
    expect(found({ options: { prefersObservations: true } })).toEqual(["experience", "observation"]);
    expect(found({ filter: { types: ["world"] }, options: { prefersObservations: true } })).toEqual(["preference", "world"]);
  });

  test("a small budget still brings each arm's best", () => {
    const notes = Array.from({ length: 30 }, (_, i) => record(`n${i}`, "the gate is open", { mentionedAtUs: NOON - i * DAY_US }));
    const hits = recall(createRecallIndex(notes), "gate", { sources: { budget: 5 }, cosines: { n29: 0.9 } });
    expect(idsOf(hits).sort()).toEqual(["n0", "n1", "n2", "n29", "n3", "n4"]);
  });
});
