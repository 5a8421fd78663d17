import type { JsonObject, JsonValue } from "@memory-bank/jobs";
import type { Answer, Fact } from "./answer.ts";
import type { RefreshOutcome } from "./refresh-outcome.ts";

/** Lists of `based_on` that hold facts. `preference` and `fact` are filed under `world`; nothing is filed under `opinion` any more. */
const factLists = ["world", "experience", "opinion", "observation"] as const;

/** An answer in the form in which a mental model keeps and shows it. */
export function reflectResponseOf(
  answer: Answer,
  outcome: RefreshOutcome,
  { keepsTrace, extra = {} }: { readonly keepsTrace: boolean; readonly extra?: JsonObject },
): JsonObject {
  const { text, facts, models, directives } = answer;
  const lists = factLists.map((list) => [list, facts.filter(({ type }) => listOf(type) === list).map(factJson)]);
  return {
    text,
    based_on: {
      ...Object.fromEntries(lists),
      "mental-models": models.map(({ id, text, name }) => ({ id, text, type: "mental-models", context: name })),
      directives: directives.map(({ id, name, content }) => ({ id, text: content, type: "directives", context: name })),
    },
    mental_models: models.map(({ id, text, name }) => ({ id, text, context: name })),
    outcome,
    ...(answer.areDirectivesApplied ? {} : { directives_applied: false }),
    ...(answer.structuredOutput === undefined ? {} : { structured_output: answer.structuredOutput }),
    ...(keepsTrace ? { trace: traceJson(answer) } : {}),
    ...extra,
  };
}

/** The trace as REST shows it. */
export function traceJson({ tools, modelCalls }: Pick<Answer, "tools" | "modelCalls">): JsonObject {
  return {
    tool_calls: tools.map(({ tool, input, output, durationMs, iteration }) => ({
      tool,
      input,
      output,
      duration_ms: durationMs,
      iteration,
    })),
    llm_calls: modelCalls.map(({ scope, durationMs }) => ({ scope, duration_ms: durationMs })),
  };
}

/** The facts that a kept answer cites. */
export function citedFactsOf(response: JsonObject | null): Fact[] {
  const basedOn = response?.["based_on"];
  if (!isObject(basedOn)) return [];
  return factLists.flatMap((list) => {
    const facts = basedOn[list];
    return Array.isArray(facts) ? facts.filter(isObject).map(factOf) : [];
  });
}

export function citedIdsOf(response: JsonObject | null): readonly string[] {
  return citedFactsOf(response).map(({ id }) => id);
}

const listOf = (type: string): string => (type === "experience" || type === "observation" ? type : "world");
const factJson = ({ id, text, type, context }: Fact): JsonObject => ({ id, text, type, context });

function factOf(json: JsonObject): Fact {
  const text = (member: string) => String(json[member] ?? "");
  return { id: text("id"), text: text("text"), type: text("type"), context: text("context") };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
