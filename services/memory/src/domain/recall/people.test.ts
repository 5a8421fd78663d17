import { describe, expect, test } from "vitest";
import { createPeople } from "./people.ts";

function people(...authors: string[]) {
  const bank = createPeople();
  for (const author of authors) bank.retain(author, "author");
  return bank;
}

const keysIn = (bank: ReturnType<typeof people>, text: string): (readonly string[])[] =>
  bank.findNamed(text).map(({ keys }) => keys);

describe("findNamed", () => {
  const bank = people("Melanie", "Caroline Smith", "Will", "Zoë", "李明", "user");
  test.each([
    ["What did Melanie paint?", [["melanie"]]],
    ["melanie's kids", [["melanie"]]],
    ["When did Caroline move?", [["caroline smith"]]],
    ["Caroline Smith and Mel", [["caroline smith"], ["melanie"]]],
    ["What does Will like?", [["will"]]],
    ["Will it rain?", []],
    ["will this will do?", []],
    ["Where was Zoe?", [["zoë"]]],
    ["李明去了哪里？", [["李明"]]],
    ["What does the user eat?", [["user"]]],
    ["Where is the melody?", []],
    ["", []],
  ])("%s", (text, keys) => {
    expect(keysIn(bank, text)).toEqual(keys);
  });

  test("a first name that several bear stands for all of them", () => {
    expect(keysIn(people("John Ray", "John Fox"), "What did John say?")).toEqual([["john fox", "john ray"]]);
    expect(keysIn(people("John Ray", "John Fox"), "What did John Fox say?")).toEqual([["john fox"]]);
  });

  test("a short form that fits two people is nobody's", () => {
    expect(keysIn(people("Melanie", "Melissa"), "What did Mel say?")).toEqual([]);
  });

  test("tells authors from people who are only talked about", () => {
    const bank = people("Ann");
    const slot = bank.retain("Bob", "subject");
    expect(bank.findNamed("Ann and Bob").map(({ isAuthor }) => isAuthor)).toEqual([true, false]);
    bank.release(slot, "subject");
    expect(bank.findNamed("Ann and Bob")).toHaveLength(1);
    expect(bank.count).toBe(1);
  });
});
