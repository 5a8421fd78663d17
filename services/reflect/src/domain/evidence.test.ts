import { expect, test } from "vitest";
import { contentWords, namesIn } from "./content-words.ts";
import { applicableDirectives } from "./directives.ts";
import { judgeEvidence } from "./evidence.ts";
import { matchesGlob } from "./glob.ts";
import { nextTickUs } from "./schedule.ts";
import { matchesTags, type TagFilter, tagsMatches } from "./tags.ts";
import { defaultTrigger, mayBeTouchedBy, scopeOf } from "./trigger.ts";

const memory = (text: string, semantic?: number, parts: object = {}) => ({
  id: text,
  text,
  context: "",
  entities: [],
  sourceIds: [] as string[],
  semantic,
  ...parts,
});
const holds = (query: string, ...candidates: ReturnType<typeof memory>[]) => judgeEvidence(query, candidates).holdsAnswer;

test("words meet whatever their endings, names are told from the beginning of a sentence", () => {
  expect(contentWords("Which hobbies does she have?")).toEqual(contentWords("Her hobby!"));
  for (const [a, b] of [
    ["moved", "moving"],
    ["move", "moves"],
    ["running", "run"],
    ["boxes", "box"],
  ]) {
    expect(contentWords(a!)).toEqual(contentWords(b!));
  }
  expect(contentWords("東京に住んでいます")).not.toEqual([]);
  expect(namesIn("Where does Maria's friend live? In Lisbon, since 2024")).toEqual(
    expect.arrayContaining(["maria", "lisbon", "2024"]),
  );
  expect(namesIn("Where do we live?")).toEqual([]);
});

test("an answer is held when a memory says enough of what is asked, in words or by meaning", () => {
  expect(holds("Where does Maria live?", memory("Maria lives in Porto."))).toBe(true);
  expect(holds("Where does Maria live?", memory("Maria moved to Porto.", 0.65))).toBe(true);
  expect(holds("What is the capital of Mongolia?", memory("Maria lives in Porto.", 0.2))).toBe(false);
  expect(holds("Where does Maria live?")).toBe(false);
});

test("a question and a memory meet in words of one meaning", () => {
  for (const [query, text] of [
    ["What does Alice like?", "Alice loves Python."],
    ["Which music does Tom dislike?", "Tom hates techno music."],
    ["Where does Maria live?", "Maria moved to Porto."],
    ["Where does Ben work?", "Ben joined Globex."],
    ["What is the name of Ada's cat?", "Ada has a cat called Biscuit."],
  ]) {
    expect(holds(query!, memory(text!, 0)), query).toBe(true);
  }
  expect(holds("What does Alice like?", memory("Alice hates Python.", 0))).toBe(false);
  expect(holds("Where does Alice work?", memory("Alice lives in Porto.", 0))).toBe(false);
});

test("what others do is no answer about the one who is named", () => {
  expect(holds("Where does Tom live?", memory("Alice lives in Berlin.", 0.1), memory("Tom plays chess.", 0.1))).toBe(false);
});

test("an observation fits a question when one of its sources does", () => {
  const old = memory("I live in Berlin.");
  const { isRelated } = judgeEvidence("Where do I live?", [old, memory("Tom likes tea.", 0.1)]);
  const now = memory("I moved to Porto.", 0.2, { sourceIds: [old.id] });
  expect(isRelated(now)).toBe(true);
  expect(isRelated({ ...now, sourceIds: [] })).toBe(false);
});

test("a question about somebody who never occurs is not answered by others", () => {
  expect(holds("Where does Zoltan live?", memory("Maria lives in Porto.", 0.6))).toBe(false);
  expect(holds("Does Zoltan know Maria?", memory("Zoltan knows Maria."))).toBe(true);
});

test("a question for nothing in particular is answered by whatever there is", () => {
  expect(holds("What do you know about me?", memory("Anything."))).toBe(true);
});

test("patterns are literal but for the star", () => {
  const cases: [string, string, boolean][] = [
    ["user:a", "user:*", true],
    ["user:a", "USER:A", true],
    ["a.b", "a?b", false],
    ["ab", "a*b*", true],
    ["aXbXc", "a*b*c", true],
    ["aXc", "a*b*c", false],
    ["aa", "a*a*a", false],
    ["", "*", true],
    ["x", "", false],
  ];
  for (const [text, pattern, expected] of cases) expect(matchesGlob(text, pattern), `${text} ${pattern}`).toBe(expected);
});

test("schedules are five fields in UTC", () => {
  const at = (text: string) => Date.parse(text) * 1_000;
  expect(nextTickUs("30 8 * * 1", at("2026-01-01T00:00:00Z"))).toBe(at("2026-01-05T08:30:00Z"));
  expect(nextTickUs("0 0 1 1 *", at("2026-01-01T00:00:00Z"))).toBe(at("2027-01-01T00:00:00Z"));
  for (const wrong of ["", "* * * *", "* * * * * *", "61 * * * *", "every day at eight o'clock", "a b c d e"]) {
    expect(nextTickUs(wrong, 0), wrong).toBeUndefined();
  }
});

test("tags match in five ways", () => {
  const verdicts = (own: string[], tags: string[]) => tagsMatches.map((match) => matchesTags(own, { tags, match, groups: [] }));
  //                                          any   all  any_strict all_strict exact
  expect(verdicts(["a", "b"], ["a"])).toEqual([true, true, true, true, false]);
  expect(verdicts(["a"], ["a", "b"])).toEqual([true, false, true, false, false]);
  expect(verdicts([], ["a"])).toEqual([true, true, false, false, false]);
  expect(verdicts(["a"], [])).toEqual([true, true, true, true, false]);
  expect(verdicts(["A"], ["a"])).toEqual([false, false, false, false, false]);
});

test("directives with tags apply only where the request's tags match", () => {
  const rules = [{ tags: [] }, { tags: ["a"] }, { tags: ["b"] }];
  const applied = (filter: Partial<TagFilter>, all = false) =>
    applicableDirectives(rules, { tags: [], match: "any", groups: [], ...filter }, all).map(({ tags }) => tags.join());
  expect(applied({})).toEqual([""]);
  expect(applied({ tags: ["a"], match: "all_strict" })).toEqual(["", "a"]);
  expect(applied({ groups: [{ not: { tags: ["a"], match: "any_strict" } }] })).toEqual(["", "b"]);
  expect(applied({}, true)).toEqual(["", "a", "b"]);
});

test("the scope of a model is its tags, or its groups instead; consolidation touches it accordingly", () => {
  const model = (tags: string[], parts: object = {}) => ({ tags, trigger: { ...defaultTrigger, ...parts } });
  const groups = [{ tags: ["x"], match: "any" as const }];
  expect(scopeOf(model(["a"]))).toEqual({ tags: ["a"], match: "all_strict", groups: [] });
  expect(scopeOf(model([]))).toEqual({ tags: [], match: "any", groups: [] });
  expect(scopeOf(model(["a"], { tagGroups: groups }))).toEqual({ tags: [], match: "any", groups });
  expect(mayBeTouchedBy(model(["a"]), [["b"], ["a", "c"]])).toBe(true);
  expect(mayBeTouchedBy(model(["a"]), [["b"], []])).toBe(false);
  for (const reaching of [model([]), model(["a"], { tagsMatch: "any" }), model(["a"], { tagGroups: groups })]) {
    expect(mayBeTouchedBy(reaching, [["b"]])).toBe(true);
  }
});
