import type { CallContext } from "@memory-bank/context";
import type { JsonObject, JsonValue } from "@memory-bank/jobs";
import { countTokens } from "@memory-bank/models";
import { type Static, type TSchema, Type } from "typebox";
import { Check } from "typebox/value";
import type { Question } from "../answer/question.ts";
import { searchMemories, searchModels } from "../answer/sources.ts";
import type { ToolName } from "../prompts/tools.ts";
import { toolComplaints } from "../prompts/tools.ts";
import type { ReflectDeps } from "../reflect-deps.ts";
import { type EvidenceBook, shownFact, shownModel } from "./evidence-book.ts";

/** A model counts as made for a question when it says this share of its words in its own. */
export const LIKE_ENOUGH = 0.5;
const MODELS_UNLESS_TOLD = 5;
const MODELS_MAX = 20;
const OBSERVATION_TOKENS = 5_000;
const TOKENS_MIN = 1_000;
const TOKENS_MAX = 20_000; // a fifth of what one answer may gather
const EXPANDED_MAX = 50; // what memory takes in a call
const EXPAND_TOKENS = 4_000;
/** Facts without an observation yet, from which on observations are no longer only slightly behind. */
const STALE_FROM = 10;

const schemas = {
  search_mental_models: Type.Object({ query: Type.String(), max_results: Type.Optional(Type.Integer()) }),
  search_observations: Type.Object({ query: Type.String(), max_tokens: Type.Optional(Type.Integer()) }),
  recall: Type.Object({ query: Type.String(), max_tokens: Type.Optional(Type.Integer()) }),
  expand: Type.Object({ ids: Type.Array(Type.String()), depth: Type.Enum(["chunk", "document"]) }),
};
type SearchTool = keyof typeof schemas;

export interface ToolResult {
  readonly output: JsonObject;
  /** Fresh mental models that were made for nearly this question were among the results. */
  readonly foundFreshModel: boolean;
}

/** Carries out the searches that an agent asks for, and enters what they bring into the book. */
export function createToolRunner(deps: ReflectDeps, ctx: CallContext, question: Question, book: EvidenceBook) {
  const complain = (error: string): ToolResult => ({ output: { error }, foundFreshModel: false });
  const result = (output: JsonObject): ToolResult => ({ output, foundFreshModel: false });
  const search = (query: string, types: readonly string[], maxTokens: number, chunksMaxTokens: number) =>
    searchMemories(deps, ctx, question, { query, types, maxTokens, chunksMaxTokens });

  const tools: { readonly [T in SearchTool]: (input: Static<(typeof schemas)[T]>) => Promise<ToolResult> } = {
    async search_mental_models({ query, max_results = MODELS_UNLESS_TOLD }) {
      const found = await searchModels(deps, ctx, question, query, Math.min(Math.max(max_results, 1), MODELS_MAX));
      book.addModels(found.map(({ model }) => model));
      return {
        output: { mental_models: found.map(({ model, isStale }) => ({ ...shownModel(model), is_stale: isStale })) },
        foundFreshModel: found.some(({ likeness, isStale }) => likeness >= LIKE_ENOUGH && !isStale),
      };
    },
    async search_observations({ query, max_tokens = OBSERVATION_TOKENS }) {
      const { facts, pendingConsolidation } = await search(query, ["observation"], tokensOf(max_tokens), 0);
      book.addFacts(facts);
      return result({ observations: facts.map(shownFact) as JsonValue, freshness: freshnessOf(pendingConsolidation) });
    },
    async recall({ query, max_tokens = question.recall.maxTokens }) {
      const { facts, chunks } = await search(query, question.factTypes, tokensOf(max_tokens), question.recall.chunksMaxTokens);
      book.addFacts(facts);
      return result({
        memories: facts.map(shownFact) as JsonValue,
        ...(chunks.length > 0 ? { surroundings: chunks.map(({ text }) => text) } : {}),
      });
    },
    async expand({ ids, depth }) {
      const known = [...new Set(ids)].filter((id) => book.knowsFact(id)).slice(0, EXPANDED_MAX);
      if (known.length === 0) return complain("None of these ids was found by a search.");
      const request = { bankId: question.bank.bankId, memoryIds: known, depth, maxTokens: EXPAND_TOKENS };
      const { expansions } = await deps.memory.expandMemories(ctx, request);
      for (const { memoryId, text } of expansions) book.addText(memoryId, text);
      return result({ texts: expansions.map(({ memoryId, text, truncated }) => ({ id: memoryId, text, is_cut: truncated })) });
    },
  };

  return {
    async run(name: string, input: unknown): Promise<ToolResult> {
      if (!isSearchTool(name)) return complain(toolComplaints.unknownTool);
      if (!fits(schemas[name], input)) return complain(toolComplaints.badArguments);
      return (tools[name] as (input: unknown) => Promise<ToolResult>)(input);
    },
  };
}

/** The tools that the question leaves to search with. */
export function allowedTools({ hiddenModels, factTypes }: Question): ToolName[] {
  return [
    ...(hiddenModels === "all" ? [] : (["search_mental_models"] as const)),
    ...(factTypes.length === 0 || factTypes.includes("observation") ? (["search_observations"] as const) : []),
    "recall",
  ];
}

function isSearchTool(name: string): name is SearchTool {
  return Object.hasOwn(schemas, name);
}

function fits(schema: TSchema, input: unknown): boolean {
  if (!Check(schema, input)) return false;
  const { query } = input as { query?: string };
  // What recall itself would refuse.
  return query === undefined || (/[\p{L}\p{N}]/u.test(query) && countTokens(query) <= QUERY_TOKENS_MAX);
}

const QUERY_TOKENS_MAX = 500; // contract 1.10

function tokensOf(asked: number): number {
  return Math.min(Math.max(asked, TOKENS_MIN), TOKENS_MAX);
}

function freshnessOf(pendingCount: number): string {
  if (pendingCount === 0) return "up to date";
  return pendingCount < STALE_FROM ? "slightly stale: a few memories are not in it yet" : "stale: verify with recall";
}
