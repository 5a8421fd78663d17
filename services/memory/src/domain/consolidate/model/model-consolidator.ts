import { AppError } from "@memory-bank/errors";
import type { LanguageModel, Message, TokenUsage } from "@memory-bank/models";
import { type Static, type TSchema, Type } from "typebox";
import { Check } from "typebox/value";
import type { Unit } from "../../unit.ts";
import type { ConsolidationInput, Consolidator, Proposal } from "../consolidator.ts";
import {
  consolidationPrompt,
  consolidationSchema,
  type LabelledFact,
  type LabelledObservation,
  twinsPrompt,
  twinsSchema,
} from "./consolidation-prompt.ts";

export type CallableModel = Extract<LanguageModel, { kind: "openai" }>;

/** Contract 3.4, `consolidation_temperature`. */
const temperature = 0;
/** Eight facts give a few sentences each; the rest is room for the thoughts of models that think. */
const answerTokensMax = 8_000;

/** Consolidation by a language model. An answer that is cut off, refused or of another shape is a failure of the facts it was given. */
export function createModelConsolidator(model: CallableModel): Consolidator {
  async function ask<S extends TSchema>(
    messages: readonly Message[],
    schema: typeof consolidationSchema | typeof twinsSchema,
    shape: S,
    signal: AbortSignal,
  ): Promise<{ answer: Static<S>; usage: TokenUsage }> {
    const completion = await model.complete({
      task: "consolidation",
      ...{ messages, schema, temperature, signal },
      maxTokens: answerTokensMax,
    });
    const json = completion.kind === "json" ? completion.json : undefined;
    if (!Check(shape, json)) {
      const why =
        completion.finishReason === "stop"
          ? "an answer of another shape"
          : `an answer that ended with '${completion.finishReason}'`;
      throw new AppError("internal", "MODEL_ANSWER_UNUSABLE", `The language model gave ${why}`);
    }
    return { answer: json as Static<S>, usage: completion.usage };
  }

  return {
    async propose(input) {
      const book = await openLabels(input);
      const { facts, observations } = book;
      const prompt = consolidationPrompt({ mission: input.mission, facts, observations, mayCreate: input.createsMax > 0 });
      const { answer, usage } = await ask(prompt, consolidationSchema, proposalShape, input.signal);
      return { ...readProposal(answer, book), usage };
    },
    async mergeTwins({ text, existing, signal }) {
      const { answer, usage } = await ask(twinsPrompt(existing.text, text), twinsSchema, twinsShape, signal);
      return { text: answer.same && answer.text.trim() !== "" ? answer.text.trim() : undefined, usage };
    },
  };
}

const idList = Type.Array(Type.String());
/** What must be there; models may add members, and leave out those that only explain. */
const proposalShape = Type.Object({
  deletes: Type.Optional(Type.Array(Type.Object({ observation_id: Type.String() }))),
  updates: Type.Optional(
    Type.Array(
      Type.Object({
        observation_id: Type.String(),
        text: Type.String(),
        fact_ids: idList,
        outdated_fact_ids: Type.Optional(idList),
      }),
    ),
  ),
  creates: Type.Optional(
    Type.Array(Type.Object({ text: Type.String(), fact_ids: idList, outdated_fact_ids: Type.Optional(idList) })),
  ),
});
const twinsShape = Type.Object({ same: Type.Boolean(), text: Type.String() });

interface Labels {
  readonly facts: readonly LabelledFact[];
  readonly observations: readonly LabelledObservation[];
  /** By label; undefined for one that was not given out. */
  factOf(label: string): Unit | undefined;
  observationOf(label: string): Unit | undefined;
}

/** Gives short names to everything shown: cheaper than ids, easier to copy, and without meaning anywhere else. */
async function openLabels({ facts, around }: ConsolidationInput): Promise<Labels> {
  const related = await around.relatedObservations();
  const byLabel = new Map<string, Unit>();
  const labels = new Map<string, string>();
  const label = (unit: Unit, letter: string): string => {
    const known = labels.get(unit.unitId);
    if (known !== undefined) return known;
    const fresh = `${letter}${labels.size + 1}`;
    labels.set(unit.unitId, fresh);
    byLabel.set(fresh, unit);
    return fresh;
  };
  const labelled = (fact: Unit): LabelledFact => ({ label: label(fact, "f"), fact });
  const ofType = (name: string, isObservation: boolean): Unit | undefined => {
    const unit = byLabel.get(name);
    return unit && (unit.type === "observation") === isObservation ? unit : undefined;
  };
  return {
    facts: facts.map(labelled),
    observations: related.map(({ observation, sources }) => ({
      label: label(observation, "o"),
      observation,
      sources: sources.map(labelled),
    })),
    factOf: (name) => ofType(name, false),
    observationOf: (name) => ofType(name, true),
  };
}

function readProposal(answer: Static<typeof proposalShape>, { factOf, observationOf }: Labels): Omit<Proposal, "usage"> {
  const supersedes: { unitId: string; byId: string }[] = [];
  const sourcesOf = ({ fact_ids, outdated_fact_ids = [] }: { fact_ids: string[]; outdated_fact_ids?: string[] }): string[] => {
    const outdated = new Map(outdated_fact_ids.flatMap((label) => factOf(label) ?? []).map((fact) => [fact.unitId, fact]));
    const holding = fact_ids.flatMap((label) => factOf(label) ?? []).filter((fact) => !outdated.has(fact.unitId));
    const newest = holding.toSorted((a, b) => (b.mentionedAtUs ?? 0) - (a.mentionedAtUs ?? 0))[0];
    if (newest) for (const unitId of outdated.keys()) supersedes.push({ unitId, byId: newest.unitId });
    return [...holding.map((fact) => fact.unitId), ...outdated.keys()];
  };
  return {
    deletes: (answer.deletes ?? []).flatMap(({ observation_id }) => observationOf(observation_id)?.unitId ?? []),
    updates: (answer.updates ?? []).flatMap(({ observation_id, text, ...facts }) => {
      const observation = observationOf(observation_id);
      return observation ? [{ observationId: observation.unitId, text, sourceIds: sourcesOf(facts) }] : [];
    }),
    creates: (answer.creates ?? []).map(({ text, ...facts }) => ({ text, sourceIds: sourcesOf(facts) })),
    supersedes,
  };
}
