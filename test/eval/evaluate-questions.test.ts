import { expect, test } from "vitest";
import { evaluateConsolidation } from "./evaluate-consolidation.ts";
import { evaluateQuestions } from "./evaluate-questions.ts";
import { generatedQuestions, type QuestionCase } from "./question-cases.ts";

/** The whole of it is `pnpm eval`; this keeps its two halves running, and able to tell right from wrong. */
test("a handful of questions is answered, abstained from and cited as it should be", async () => {
  const { mistakes, ...figures } = await evaluateQuestions(generatedQuestions().slice(0, 1), "lexical");
  expect(mistakes).toEqual([]);
  expect(figures).toMatchObject({ questions: 13, abstentionPrecision: 1, abstentionRecall: 1, oneFact: 1, severalFacts: 1 });
  expect(figures).toMatchObject({ citationCorrectness: 1, replacements: 2, replacedBelow: 1 });
  expect(figures.citations).toBeGreaterThan(8);
});

test("wrong answers are counted and named", async () => {
  const wrong: QuestionCase = {
    notes: ["Ada lives in Oslo.", "Ada keeps bees."],
    questions: [
      { kind: "one fact", query: "Where does Ada live?", expected: ["Riga"] },
      { kind: "several facts", query: "Which motorcycle does Ada ride?", expected: ["Oslo"] },
      { kind: "not held", query: "Where does Ada live?", expected: [] },
    ],
    replaced: [{ query: "Where does Ada live?", earlier: 0, later: 1 }],
  };
  const figures = await evaluateQuestions([wrong], "lexical");
  expect(figures).toMatchObject({ abstentionPrecision: 0, abstentionRecall: 0, oneFact: 0, severalFacts: 0, replacedBelow: 0 });
  expect(figures.mistakes).toHaveLength(4);
});

test("a change of mind and two things that are not one are told apart", async () => {
  const cases = [
    {
      kind: "change of mind",
      notes: ["I prefer tea.", "I prefer coffee now."],
      outdated: [{ note: 0, by: [1] }],
      together: [[0, 1]],
    },
    { kind: "unrelated", notes: ["I have a dog.", "I have a cat."], outdated: [], together: [] },
  ] as const;
  expect(await evaluateConsolidation(cases, "lexical")).toMatchObject({
    supersedePrecision: 1,
    supersedeRecall: 1,
    mergeRecall: 1,
    mistakes: [],
  });
});
