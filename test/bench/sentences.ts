import { randomFrom } from "../support/random.ts";

const people = ["Ann", "Bohumil", "Carla", "Dmitri", "Esther", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Kemal", "Lucia"];
const deeds = [
  "repaired",
  "sold",
  "borrowed",
  "photographed",
  "inherited",
  "misplaced",
  "restored",
  "auctioned",
  "catalogued",
  "shipped",
  "painted",
  "insured",
];
const things = [
  "bicycle",
  "harpsichord",
  "telescope",
  "rowing boat",
  "weather station",
  "beehive",
  "typewriter",
  "greenhouse",
  "map of the harbour",
  "wine press",
  "sundial",
  "generator",
  "loom",
  "kayak",
  "bookcase",
  "stove",
];
const places = ["Lisbon", "Ghent", "Tromso", "Cork", "Ravenna", "Gdansk", "Leiden", "Graz", "Malmo", "Porto", "Basel", "Split"];
const reasons = [
  "before the storm season",
  "for the village museum",
  "after a long argument",
  "with help from the neighbours",
  "because the insurance asked for it",
  "while the roof was open",
  "to pay for the new engine",
  "during the strike",
  "without telling anybody",
  "on the advice of a surveyor",
];
const topics = [
  "ledger",
  "permit",
  "invoice",
  "lease",
  "recipe",
  "timetable",
  "survey",
  "contract",
  "password policy",
  "backup plan",
  "menu",
  "itinerary",
];

/** One-sentence memories with enough variety that few are alike, always the same for the same count. */
export function benchSentences(count: number): string[] {
  const random = randomFrom(20_261_121);
  const { pick, int } = random;
  return Array.from({ length: count }, (_, i) =>
    i % 3 === 0
      ? `${pick(people)} ${pick(deeds)} the ${pick(things)} in ${pick(places)} ${pick(reasons)}.`
      : i % 3 === 1
        ? `The ${pick(topics)} for ${pick(places)} lists ${int(2, 90_000)} items and was checked by ${pick(people)}.`
        : `${pick(people)} would rather keep the ${pick(things)} than the ${pick(things)} that ${pick(people)} ${pick(deeds)}.`,
  );
}

export function benchQuestions(count: number): string[] {
  const { pick } = randomFrom(7);
  return Array.from({ length: count }, () => `What did ${pick(people)} do with the ${pick(things)} in ${pick(places)}?`);
}
