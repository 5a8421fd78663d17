import type { CitedModel } from "../domain/answer.ts";
import type { RetrievedFact } from "../domain/local-answer.ts";
import type { MentalModel } from "../domain/mental-model.ts";
import { dataText } from "../prompts/data-block.ts";

/** Ids that a model claims its answer to rest on. */
export interface CitedIds {
  readonly memoryIds: readonly string[];
  readonly modelIds: readonly string[];
}

/** Everything that was retrieved for one answer: what may be cited, and what an answer can be written from in the end. */
export interface EvidenceBook {
  addFacts(facts: readonly RetrievedFact[]): void;
  addModels(models: readonly MentalModel[]): void;
  addText(memoryId: string, text: string): void;
  readonly isEmpty: boolean;
  knowsFact(id: string): boolean;
  /** The cited things that were really retrieved, in the order of the ids; made-up ids are left out. */
  citations(ids: CitedIds): { readonly facts: readonly RetrievedFact[]; readonly models: readonly CitedModel[] };
  /** All of it, in the form in which prompts show it, first retrieved first. */
  material(): readonly unknown[];
}

export function createEvidenceBook(): EvidenceBook {
  const facts = new Map<string, RetrievedFact>();
  const models = new Map<string, MentalModel>();
  const texts = new Map<string, string>();
  const known = <T>(ids: readonly string[], from: ReadonlyMap<string, T>) =>
    [...new Set(ids)].flatMap((id) => from.get(id) ?? []);
  return {
    addFacts(found) {
      for (const fact of found) if (!facts.has(fact.id)) facts.set(fact.id, fact);
    },
    addModels(found) {
      for (const model of found) models.set(model.id, model);
    },
    addText: (memoryId, text) => void texts.set(memoryId, text),
    get isEmpty() {
      return facts.size === 0 && models.size === 0;
    },
    knowsFact: (id) => facts.has(id),
    citations: ({ memoryIds, modelIds }) => ({
      facts: known(memoryIds, facts),
      models: known(modelIds, models).map(({ id, content, name }) => ({ id, text: content, name })),
    }),
    material: () => [
      ...[...models.values()].map(shownModel),
      ...[...facts.values()].map((fact) => {
        const text = texts.get(fact.id);
        return text === undefined ? shownFact(fact) : { ...shownFact(fact), surroundings: text };
      }),
    ],
  };
}

const dateOf = (atUs: number) => new Date(atUs / 1_000).toISOString();

/** A memory as a prompt shows it. */
export function shownFact(fact: RetrievedFact) {
  return {
    id: fact.id,
    type: fact.type,
    text: fact.text,
    ...(fact.context === "" ? {} : { context: fact.context }),
    ...(fact.occurredStartUs === undefined ? {} : { occurred: dateOf(fact.occurredStartUs) }),
    ...(fact.mentionedAtUs === undefined ? {} : { mentioned_at: dateOf(fact.mentionedAtUs) }),
    ...(fact.isSuperseded ? { superseded: true } : {}),
  };
}

/** A mental model as a prompt shows it. */
export function shownModel({ id, name, content }: MentalModel) {
  return { mental_model_id: id, name, content };
}

/** Splits material into parts whose text has at most `charsMax` characters; a single larger piece is a part of its own. */
export function splitMaterial(material: readonly unknown[], charsMax: number): readonly (readonly unknown[])[] {
  const parts: unknown[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const piece of material) {
    const length = dataText(piece).length;
    if (chars + length > charsMax) {
      parts.push([]);
      chars = 0;
    }
    parts.at(-1)!.push(piece);
    chars += length;
  }
  return parts;
}
