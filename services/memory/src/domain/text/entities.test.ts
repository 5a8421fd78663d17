import { describe, expect, test } from "vitest";
import { type EntityHints, findEntities } from "./entities.ts";
import { randomText, seededRandom } from "./random-text.ts";

const nobody: EntityHints = { people: new Set(), names: new Set() };
const found = (sentence: string, hints = nobody) => findEntities(sentence, hints).map(({ name, kind }) => `${name} (${kind})`);

describe("findEntities", () => {
  test.each([
    ["Maria runs the Lisbon office of Northwind.", ["Maria (PERSON)", "Lisbon (LOCATION)", "Northwind (ORGANIZATION)"]],
    ["Bob works at Microsoft with Priya.", ["Bob (PERSON)", "Microsoft (ORGANIZATION)", "Priya (PERSON)"]],
    [
      "Dr. Ana Lee joined Acme Robotics Inc. in Porto.",
      ["Ana Lee (PERSON)", "Acme Robotics Inc (ORGANIZATION)", "Porto (LOCATION)"],
    ],
    ["I met J.K. Rowling and George R. R. Martin.", ["J.K. Rowling (PERSON)", "George R. R. Martin (PERSON)"]],
    ["Vincent van Gogh painted it.", ["Vincent van Gogh (PERSON)"]],
    ["We saw the Grand Canyon and the Museum of Modern Art.", ["Grand Canyon (LOCATION)", "Museum of Modern Art (LOCATION)"]],
    ["They moved to Zermatt from New York City.", ["Zermatt (LOCATION)", "New York City (LOCATION)"]],
    ["She studies at the University of Oslo.", ["University of Oslo (ORGANIZATION)"]],
    ["O'Brien & Sons opened.", ["O'Brien & Sons (ORGANIZATION)"]],
    ["We danced at the Glastonbury Festival on Christmas.", ["Glastonbury Festival (EVENT)", "Christmas (EVENT)"]],
    ['I read "Charlotte\'s Web" twice.', ["Charlotte's Web (PRODUCT)"]],
    ["I play Cyberpunk 2077 and use PagerDuty.", ["Cyberpunk 2077 (PRODUCT)", "PagerDuty (OTHER)"]],
    ["Our dog Bello barks.", ["Bello (OTHER)"]],
    ["I learn Spanish and support LGBTQ rights.", ["Spanish (CONCEPT)", "LGBTQ (CONCEPT)"]],
    ["Maria's brother Zubin called.", ["Maria (PERSON)", "Zubin (PERSON)"]],
    ["Zorina, Maria and Maria met.", ["Maria (PERSON)"]],
    ["Hey Zora!", ["Zora (PERSON)"]],
    ["That is great, Zora!", ["Zora (PERSON)"]],
    ["Ich wohne mit meiner Frau Anna in Berlin und der Hund ist im Garten.", ["Anna (PERSON)", "Berlin (LOCATION)"]],
    ["Vivo en Madrid con Carlos.", ["Madrid (LOCATION)", "Carlos (PERSON)"]],
    ["Grace moved in May.", ["Grace (PERSON)"]],
  ])("%j", (sentence, entities) => {
    expect(found(sentence)).toEqual(entities);
  });

  test.each([
    "I think I'm fine, thanks!",
    "Hey! Thanks. Wow, OK then.",
    "On Monday in June we swim, in May we rest.",
    "Painting is fun. Nature heals. Exams are hard.",
    "Will you hope for rain?",
    "Haven't you seen it?",
    "Mom and Dad came.",
    "THE DEPLOY KEY ROTATES EVERY 90 DAYS",
    '"That" was all.',
    "我住在北京。",
    "أعيش في القاهرة",
    "June 5, 2023 and 10 May",
    "",
  ])("no junk in %j", (sentence) => {
    expect(found(sentence)).toEqual([]);
  });

  test("a participant is a person, also by a short form and where a word list says otherwise", () => {
    const hints = { people: new Set(["melanie", "paris"]), names: new Set<string>() };
    const entities = findEntities("Mel met Paris in Rome.", hints);
    expect(entities.map(({ name, kind, isParticipant }) => [name, kind, isParticipant])).toEqual([
      ["Mel", "PERSON", true],
      ["Paris", "PERSON", true],
      ["Rome", "LOCATION", false],
    ]);
  });

  test("a name found before counts where its capital alone shows nothing", () => {
    expect(found("Quartz, of course.")).toEqual([]);
    expect(found("Quartz, of course.", { people: new Set(), names: new Set(["quartz"]) })).toEqual(["Quartz (OTHER)"]);
  });

  test("any text gives names that stand where they say", () => {
    const seed = 1_250;
    const random = seededRandom(seed);
    for (let i = 0; i < 500; i++) {
      const text = randomText(random);
      for (const { name, start } of findEntities(text, nobody)) {
        expect(text.slice(start).replace(/\s+/g, " ").startsWith(name), `seed ${seed}: ${JSON.stringify(text)}`).toBe(true);
      }
    }
  });
});
