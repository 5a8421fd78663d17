import { describe, expect, test } from "vitest";
import type { Entity } from "../../memory-store.ts";
import { type MentionContext, openEntityDirectory } from "./entity-directory.ts";
import { sequenceRatio, trigramSimilarity, trigrams } from "./name-similarity.ts";

const day = 86_400_000_000;
const now = 1_700_000_000_000_000;
const entity = (entityId: string, name: string, kind = "PERSON", lastSeenUs: number | undefined = now): Entity => ({
  entityId,
  name,
  kind,
  mentionCount: 1,
  firstSeenUs: lastSeenUs,
  lastSeenUs,
});

function directory(known: readonly Entity[], together: Readonly<Record<string, readonly string[]>> = {}) {
  let made = 0;
  return openEntityDirectory(known, {
    newId: () => `new-${++made}`,
    cooccurring: async (entityId) => new Set(together[entityId] ?? []),
  });
}

const context = (members: Partial<MentionContext> = {}): MentionContext => ({
  eventUs: now,
  exact: false,
  companions: [],
  ...members,
});
const person = (name: string) => ({ name, kind: "PERSON" });

describe("entity directory", () => {
  test("an equal name is the entity, whatever its case and spacing", async () => {
    const names = directory([entity("e1", "Zoë Straße")]);
    expect(await names.resolve(person("zoë STRASSE"), context())).toBe("e1");
    expect(names.created).toEqual([]);
  });

  test("a shortened name means the person seen lately in the same company", async () => {
    const names = directory([entity("mel", "Melanie"), entity("car", "Caroline")], { mel: ["car"] });
    expect(await names.resolve(person("Mel"), context({ companions: ["car"] }))).toBe("mel");
  });

  test("neighbouring names of different people stay apart, however close the company", async () => {
    const names = directory([entity("john", "John"), entity("maria", "Maria"), entity("x", "Xu")], { john: ["x"], maria: ["x"] });
    expect(await names.resolve(person("Joan"), context({ companions: ["x"] }))).toBe("new-1");
    expect(await names.resolve(person("Marta"), context({ companions: ["x"] }))).toBe("new-2");
  });

  test("misspelled long names are the same", async () => {
    const names = directory([entity("k", "Katharine Hepburn")]);
    expect(await names.resolve(person("Katherine Hepburn"), context())).toBe("k");
  });

  test("exact resolution and labels go by equal names only", async () => {
    const names = directory([entity("acme", "Acme Robotics"), entity("l", "topic:billing", "LABEL")], { acme: ["x"] });
    expect(await names.resolve(person("Acme Robotic"), context({ exact: true }))).toBe("new-1");
    expect(await names.resolve({ name: "topic:billings", kind: "LABEL" }, context())).toBe("new-2");
    expect(await names.resolve({ name: "topic:billing", kind: "LABEL" }, context())).toBe("l");
  });

  test("a new name is one entity for the rest of the plan, and a vague kind is improved once", async () => {
    const names = directory([entity("old", "Delta", "CONCEPT")]);
    const first = await names.resolve({ name: "Nova", kind: "CONCEPT" }, context());
    expect(await names.resolve({ name: "nova", kind: "PRODUCT" }, context())).toBe(first);
    await names.resolve({ name: "Nova", kind: "PERSON" }, context());
    expect(names.created).toEqual([{ entityId: first, name: "Nova", kind: "PRODUCT" }]);
    await names.resolve({ name: "Delta", kind: "ORGANIZATION" }, context());
    expect([...names.kinds]).toEqual([["old", "ORGANIZATION"]]);
  });

  test("an entity not seen for long needs more than a shared beginning", async () => {
    const names = directory([entity("mel", "Melanie", "PERSON", now - 30 * day)]);
    expect(await names.resolve(person("Mel"), context())).toBe("new-1");
  });
});

test("name measures are 1 for equal names and symmetric", () => {
  expect(sequenceRatio("melanie", "melanie")).toBe(1);
  expect(sequenceRatio("", "")).toBe(1);
  expect(sequenceRatio("abcd", "bcde")).toBe(0.75);
  expect(trigramSimilarity(trigrams("anna"), trigrams("anna"))).toBe(1);
  expect(trigramSimilarity(trigrams("anna"), trigrams("hannah"))).toBe(trigramSimilarity(trigrams("hannah"), trigrams("anna")));
});
