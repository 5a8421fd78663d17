import { describe, expect, test } from "vitest";
import type { RankingRecord } from "../fact.ts";
import { seededRandom } from "../text/random-text.ts";
import { conversation, DAY_US, idsOf, NOON, recall, record } from "./recall-fixture.ts";
import { createRecallIndex, type RecallIndex } from "./recall-index.ts";

const words = "dog park lake Berlin guitar lesson soup concert yesterday train kids museum rain 猫 公園 Straße".split(" ");
const names = ["Maria", "Tom Berg", "Tom Hill", "李明"];

function randomRecord(random: () => number): RankingRecord {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const maybe = <T>(value: T): T | undefined => (random() < 0.5 ? value : undefined);
  const text = Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(words)).join(" ") + pick([".", "?"]);
  const author = maybe(pick(names));
  return record(`unit-${Math.floor(random() * 60)}`, author === undefined ? text : `${author}: ${text}`, {
    ...{ author, subject: maybe(pick(names)), context: pick(["", "staff call", "family chat"]) },
    ...{ sessionId: pick(["s1", "s2", "s3"]), passage: Math.floor(random() * 12), sentenceIndex: Math.floor(random() * 3) },
    ...{
      entityIds: random() < 0.3 ? [pick(["e1", "e2"])] : [],
      entityNames: random() < 0.3 ? [pick(["Lake Club", "Berlin"])] : [],
    },
    ...{
      tags: random() < 0.4 ? [pick(["a", "b"])] : [],
      type: pick(["world", "preference", "experience", "observation"] as const),
    },
    ...{
      mentionedAtUs: maybe(NOON + Math.floor(random() * 400) * DAY_US),
      supersededBy: random() < 0.1 ? [`unit-${Math.floor(random() * 60)}`] : [],
    },
    flags: { hasTimeExpression: random() < 0.3, hasPlace: random() < 0.3, nameCount: Math.floor(random() * 3) },
  });
}

const questions = [
  "When did Maria go to the lake?",
  "What does Tom play?",
  "kids museum rain in June 2023",
  "猫 公園",
  "Which guitar lessons has 李明 taken?",
];

function answers(index: RecallIndex): unknown {
  return questions.map((question) =>
    [{}, { tags: ["a"], types: ["world"] }].map((filter) =>
      recall(index, question, { filter }).map((hit) => [hit.record.unitId, hit.score, hit.keyword, hit.terms]),
    ),
  );
}

describe("RecallIndex", () => {
  test("any deltas end in the same answers as an index built at once", () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = seededRandom(seed);
    const index = createRecallIndex();
    const live = new Map<string, RankingRecord>();
    for (let round = 0; round < 40; round++) {
      const upserts = Array.from({ length: Math.floor(random() * 6) }, () => randomRecord(random));
      const removes = [...live.keys()].filter(() => random() < 0.12);
      index.apply({ upserts, removes });
      for (const unitId of removes) live.delete(unitId);
      for (const upsert of upserts) live.set(upsert.unitId, upsert);
      const rebuilt = createRecallIndex([...live.values()].reverse());
      expect(answers(index), `seed ${seed}, round ${round}`).toEqual(answers(rebuilt));
      expect(index.view.totals, `seed ${seed}, round ${round}`).toEqual(rebuilt.view.totals);
      expect(
        [index.unitCount, index.view.postings.termCount, index.view.postings.entryCount, index.view.people.count],
        `seed ${seed}`,
      ).toEqual([
        ...[rebuilt.unitCount, rebuilt.view.postings.termCount, rebuilt.view.postings.entryCount, rebuilt.view.people.count],
      ]);
    }
  });

  test("a bank emptied and filled again holds nothing of before", () => {
    const index = createRecallIndex(conversation("s", ["Maria: I bought a canoe.", "Tom: Where?"]));
    index.apply({ removes: ["s.0", "s.1"] });
    expect(index.unitCount).toBe(0);
    expect(index.view.postings.termCount).toBe(0);
    expect(recall(index, "canoe")).toEqual([]);
    index.apply({ upserts: [record("n", "The canoe is red.")] });
    expect(idsOf(recall(index, "canoe"))).toEqual(["n"]);
  });

  test("an upsert of a known id replaces the record, also into another session", () => {
    const index = createRecallIndex([record("u", "The key is under the mat.", { sessionId: "old" })]);
    index.apply({ upserts: [record("u", "The key is in the safe.", { sessionId: "new" })] });
    expect(index.find("u")?.sessionId).toBe("new");
    expect(recall(index, "mat")).toEqual([]);
    expect(idsOf(recall(index, "safe"))).toEqual(["u"]);
  });

  test("of two equal ids in one delta the last counts, and an upsert outlives a removal", () => {
    const index = createRecallIndex();
    index.apply({ upserts: [record("u", "first"), record("u", "second", { sessionId: "x" })], removes: ["u", "unknown"] });
    expect(index.find("u")?.text).toBe("second");
    expect(index.unitCount).toBe(1);
  });

  test("passages that arrive late stand at their place in the session", () => {
    const turns = conversation("s", ["Tom: Which sport do you do?", "Maria: Rowing, since March.", "Tom: Nice."]);
    const index = createRecallIndex([turns[2]!, turns[0]!]);
    index.apply({ upserts: [turns[1]!] });
    expect(recall(index, "Which sport does Maria do?")[0]?.record.unitId).toBe("s.1");
  });

  test("size grows with records and shrinks when they go", () => {
    const index = createRecallIndex(
      conversation(
        "s",
        Array.from({ length: 50 }, (_, i) => `Maria: sentence number ${i} about ${words[i % 9]}`),
      ),
    );
    const full = index.bytes;
    expect(full).toBeGreaterThan(50 * 500);
    index.apply({ removes: Array.from({ length: 50 }, (_, i) => `s.${i}`) });
    expect(index.bytes).toBeLessThan(full / 5);
  });
});
