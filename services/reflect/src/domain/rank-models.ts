import { contentWords } from "./content-words.ts";
import { hasAnswer, type MentalModel } from "./mental-model.ts";

export interface RankedModel {
  readonly model: MentalModel;
  /** Share of the question's words that the model's name and own question say. */
  readonly likeness: number;
}

/** Models that have an answer and share a word with the question: those that ask nearly the same first, ties by id. */
export function rankModels(query: string, models: readonly MentalModel[], limit: number): RankedModel[] {
  const asked = [...new Set(contentWords(query))];
  if (asked.length === 0) return [];
  const share = (text: string) => {
    const said = new Set(contentWords(text));
    return asked.filter((word) => said.has(word)).length / asked.length;
  };
  return models
    .filter(hasAnswer)
    .map((model) => {
      const likeness = share(`${model.name}\n${model.sourceQuery}`);
      return { model, likeness, score: 2 * likeness + share(model.content) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.model.id < b.model.id ? -1 : 1))
    .slice(0, limit);
}
