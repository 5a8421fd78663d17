import { describe, expect, test } from "vitest";
import { claimsOf } from "./english-claims.ts";

const topicsOf = (sentence: string): string[] =>
  claimsOf(sentence, "ann").map(({ topic, value, holds }) => `${holds ? "" : "not "}${topic}=${value.join(" ")}`);

describe("what a sentence claims", () => {
  test.each([
    ["I live in Porto.", "ann|residence=porto"],
    ["Since April, I live in Porto.", "ann|residence=porto"],
    ["I moved from Graz to Porto last year.", "ann|residence=porto"],
    ["Ben Adams lives in Rome now.", "ben adams|residence=rome"],
    ["My sister moved to Milan.", "ann sister|residence=milan"],
    ["I joined Fjord Systems.", "ann|employer=fjord system"],
    ["My favourite color is green now.", "ann|color favorit=green"],
    ["Green is my favorite color.", "ann|color favorit=green"],
    ["The deadline for Apollo was moved to June 15.", "the|apollo deadlin=june 15"],
    ["Ben's new extension is 4222.", "ben|extens=4222"],
    ["I'm no longer vegan.", "not ann|diet=vegan"],
    ["I can't stand jazz.", "not ann|like|jazz=jazz"],
    ["I love jazz.", "ann|like|jazz=jazz"],
    ["I stopped drinking coffee.", "not ann|use|coffe=coffe"],
    ["I'm not allergic to nuts anymore.", "not ann|allergic|nut=nut"],
    ["The store is closed on Sundays.", "the store|closed/open|sunday=closed"],
  ])("%s", (sentence, expected) => {
    expect(topicsOf(sentence)).toContain(expected);
  });

  test("a change of mind in a second clause is found", () => {
    expect(topicsOf("I changed my mind, I prefer window seats.")).toContain("ann|prefer|seat=window seat");
    expect(topicsOf("I stopped drinking coffee and switched to tea.")).toEqual(
      expect.arrayContaining(["not ann|use|coffe=coffe", "ann|prefer|drink=tea"]),
    );
  });

  test.each([
    "Did you move to Rome?",
    "I want to move to Rome.",
    "I would love to live in Rome.",
    "I might join Acme.",
    "If I lived in Rome, I would be happy.",
    "I lived in Rome as a child.",
    "Ben said Ann lives in Rome.",
    "I was in Rome.",
    "",
    "🙂",
    "((((",
  ])("no claim of the present: %s", (sentence) => {
    expect(
      claimsOf(sentence, "ann").filter((claim) => claim.topic.endsWith("residence") || claim.topic.endsWith("employer")),
    ).toEqual([]);
  });

  test("reading stays fast on hostile text", () => {
    const started = performance.now();
    for (const text of ["I am not ".repeat(70), "a ".repeat(300), `My ${"very ".repeat(120)}x`, "and ".repeat(150)])
      claimsOf(text, "ann");
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
