import { describe, expect, test } from "vitest";
import { readAims } from "./english-questions.ts";
import { understandQuery } from "./query.ts";
import { conversation, DAY_US, NOON, record } from "./recall-fixture.ts";
import { createRecallIndex } from "./recall-index.ts";

const chat = createRecallIndex(conversation("s", ["Maria: I moved to Porto.", "Tom: I sold my boat."]));

function understand(text: string, index = chat) {
  return understandQuery(text, NOON, index.view);
}

describe("understandQuery", () => {
  test.each([
    ["Where did Maria move?", "Where did I move?"],
    ["What is Maria's dog called?", "What is my dog called?"],
    ["What is Maria\u2019s dog called?", "What is my dog called?"],
    ["What do Maria and Tom share?", "What do Maria and Tom share?"],
    ["Who is Marian?", "Who is Marian?"],
    ["Where did Bob move?", "Where did Bob move?"],
  ])("%s is embedded as: %s", (text, embeddingText) => {
    expect(understand(text).embeddingText).toBe(embeddingText);
  });

  test("names and dates tell who and when, not what about", () => {
    const query = understand("What did Maria sell on 3 May 2023?");
    expect(query.terms).toEqual(["maria", "sell", "3", "may", "2023"]);
    expect([...query.topicTerms]).toEqual(["sell"]);
    expect(query.people).toEqual(["maria"]);
    expect(query.intervals).toEqual([{ startUs: Date.UTC(2023, 4, 3) * 1000, endUs: Date.UTC(2023, 4, 4) * 1000 - 1 }]);
  });

  test("a question of nothing but a name is about the name", () => {
    expect([...understand("Maria?").topicTerms]).toEqual(["maria"]);
  });

  test("of two named authors neither is the one asked about", () => {
    expect(understand("What do Maria and Tom share?").people).toEqual([]);
  });

  test("somebody only talked about is asked about when no author is named", () => {
    const notes = createRecallIndex([record("n", "Lena runs the office.", { subject: "Lena" })]);
    const query = understand("What does Lena run?", notes);
    expect(query.people).toEqual(["lena"]);
    expect([...query.topicTerms]).toEqual(["lena", "run"]);
    expect(query.embeddingText).toBe("What does Lena run?");
  });

  test.each([
    ["What is my dog called?", ["user"]],
    ["What did you recommend for dinner?", ["assistant"]],
    ["What is the dog called?", []],
  ])("in a chat with an assistant: %s", (text, people) => {
    const chat = createRecallIndex(conversation("s", ["user: My dog is Rex.", "assistant: I recommend soup."]));
    expect(understand(text, chat).people).toEqual(people);
  });

  test("a date without a year is looked for in every year that the bank tells of", () => {
    const years = createRecallIndex([record("a", "x", { mentionedAtUs: NOON - 365 * DAY_US }), record("b", "y")]);
    expect(
      understand("What happened on 7 May?", years).intervals.map(({ startUs }) => new Date(startUs / 1000).toISOString()),
    ).toEqual(["2022-05-07T00:00:00.000Z", "2023-05-07T00:00:00.000Z"]);
  });

  test("the caller's window replaces the time in the text", () => {
    const window = { startUs: 1, endUs: 2 };
    expect(understandQuery("What happened in March 2023?", NOON, chat.view, window).intervals).toEqual([window]);
  });

  test.each(["Wo wohnt Maria jetzt?", "她住在哪里？", "🙂", "%", "\ud83d", "What?", ""])(
    "%j is understood without its grammar",
    (text) => {
      const query = understand(text);
      expect(query.aims).toEqual({ time: false, name: false, place: false, list: false });
      expect(query.intervals).toEqual([]);
      expect(query.topicTerms.size <= query.terms.length).toBe(true);
    },
  );
});

describe("readAims", () => {
  test.each([
    ["When did she leave?", "time"],
    ["What year did he start?", "time"],
    ["Which book did she read?", "name"],
    ["What is the name of the cat?", "name"],
    ["Where does he work?", "place"],
    ["What country is she from?", "place"],
    ["What kinds of music does he make?", "list"],
    ["Which cities has Maria visited?", "list"],
    ["How many dogs are there?", "list"],
    ["What do they have in common?", "list"],
    ["What does Tom like to cook?", "list"],
  ] as const)("%s asks for %s", (question, aim) => {
    expect(readAims(question, false)[aim]).toBe(true);
  });

  test.each([
    ["How many books did she read?", "name"],
    ["When did the band play?", "name"],
    ["What class did he take?", "list"],
    ["What was the address?", "list"],
    ["Who called?", "time"],
  ] as const)("%s does not ask for %s", (question, aim) => {
    expect(readAims(question, false)[aim]).toBe(false);
  });

  test("a date asks for one event, never for a list", () => {
    expect(readAims("Which books did she read in May 2023?", true).list).toBe(false);
  });
});
