import type { JsonValue } from "@memory-bank/jobs";
import type { Completion, LanguageModel, Message, ToolCompletionRequest } from "@memory-bank/models";
import { addUsage, noUsage, type TracedModelCall } from "../domain/answer.ts";

export type CallableModel = Extract<LanguageModel, { kind: "openai" }>;

const TEMPERATURE = 0.9; // contract 3.4
const REASONING_TOKENS = 4_000; // room for thoughts beside the answer; unused room costs nothing

/** The calls that one answer needs, with their usage and their trace. */
export interface ModelSession {
  /** What a call is for, as the trace shows it. */
  text(scope: string, messages: readonly Message[], maxTokens: number): Promise<string>;
  /** One JSON value, or `undefined` when the model gave none. */
  json(scope: string, messages: readonly Message[], schema: NamedSchema, maxTokens: number): Promise<JsonAnswer>;
  tools(
    scope: string,
    messages: readonly Message[],
    tools: ToolCompletionRequest["tools"],
    maxTokens: number,
  ): Promise<Completion>;
  readonly usage: typeof noUsage;
  readonly calls: readonly TracedModelCall[];
}

export interface NamedSchema {
  readonly name: string;
  readonly shape: Readonly<Record<string, unknown>>;
}

export interface JsonAnswer {
  readonly json: JsonValue | undefined;
  /** What the model said instead of JSON. */
  readonly text: string;
}

export function createModelSession(
  model: CallableModel,
  { nowUs, signal }: { readonly nowUs: () => number; readonly signal: AbortSignal },
): ModelSession {
  let usage = noUsage;
  const calls: TracedModelCall[] = [];
  const common = (messages: readonly Message[], maxTokens: number) => ({
    task: "reflect" as const,
    messages,
    maxTokens: maxTokens + REASONING_TOKENS,
    temperature: TEMPERATURE,
    signal,
  });
  const counted = async (scope: string, call: Promise<Completion>): Promise<Completion> => {
    const startedUs = nowUs();
    const completion = await call;
    usage = addUsage(usage, completion.usage);
    calls.push({ scope, durationMs: Math.round((nowUs() - startedUs) / 1_000) });
    return completion;
  };
  return {
    async text(scope, messages, maxTokens) {
      const completion = await counted(scope, model.complete(common(messages, maxTokens)));
      return completion.kind === "text" ? completion.text : "";
    },
    async json(scope, messages, schema, maxTokens) {
      const completion = await counted(scope, model.complete({ ...common(messages, maxTokens), schema }));
      if (completion.kind === "json") return { json: completion.json as JsonValue, text: "" };
      return { json: undefined, text: completion.kind === "text" ? completion.text : "" };
    },
    tools: (scope, messages, tools, maxTokens) => counted(scope, model.complete({ ...common(messages, maxTokens), tools })),
    get usage() {
      return usage;
    },
    calls,
  };
}
