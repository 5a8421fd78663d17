import { describe, expect, test } from "vitest";
import { endsWithQuestion, isEffect, isFiller, isFirstPerson, mentionsTime, statesPreference } from "./fact-words.ts";

describe("statesPreference", () => {
  test.each([
    "I love hiking",
    "We really enjoy it",
    "Maria prefers tea",
    "I'd love to go",
    "He also likes chess",
    "I don't like rain",
    "I'm a big fan of jazz",
    "My favorite book is Dune",
    "I usually run alone",
    "She is always early",
    "I swim every morning",
    "I'm not really into games",
    "I can't stand noise",
  ])("yes: %j", (sentence) => expect(statesPreference(sentence)).toBe(true));

  test.each([
    "Sounds like fun",
    "It looks like rain",
    "I had things like salads",
    "Your love for kids shows",
    "I wanted to tell you",
    "I want to say thanks",
    "I'm looking into it",
    "I'll never forget it",
    "The key rotates",
  ])("no: %j", (sentence) => expect(statesPreference(sentence)).toBe(false));
});

describe("isFiller", () => {
  const isPerson = (name: string): boolean => name === "Maria";

  test.each(["Wow!", "Thanks, Maria!", "Hey Maria!", "That's so cool, Maria!", "OK 🙂", "Good morning", "Yeah, definitely."])(
    "yes: %j",
    (sentence) => expect(isFiller(sentence, isPerson)).toBe(true),
  );

  test.each([
    "Yes.",
    "No!",
    "Thanks, Tom!",
    "Cool?",
    "How are you?",
    "I am.",
    "Great news",
    "Wow, 5!",
    "...",
    "我喜欢",
    "So good to see that good good good good thing",
  ])("no: %j", (sentence) => expect(isFiller(sentence, isPerson)).toBe(false));
});

test.each([
  ["I ran", true],
  ["It's mine", true],
  ["Give us time", true],
  ["The US team", false],
  ["It is here", false],
])("isFirstPerson(%j) is %j", (sentence, expected) => expect(isFirstPerson(sentence)).toBe(expected));

test.each([
  ["So I left.", true],
  ["That's why we won.", true],
  ["As a result, it broke.", true],
  ["So cool!", false],
  ["So what?", false],
  ["So, the plan?", false],
])("isEffect(%j) is %j", (sentence, expected) => expect(isEffect(sentence)).toBe(expected));

test.each([
  ["Is it?", true],
  ['He asked "why?"', true],
  ["Really?! 🙂", true],
  ["是吗？", true],
  ["Why? Because.", false],
])("endsWithQuestion(%j) is %j", (sentence, expected) => expect(endsWithQuestion(sentence)).toBe(expected));

test.each([
  ["I recently moved", true],
  ["for two years", true],
  ["since we met", true],
  ["on Fridays", true],
  ["I may march", false],
  ["It is red", false],
])("mentionsTime(%j) is %j", (sentence, expected) => expect(mentionsTime(sentence)).toBe(expected));
