import type { JsonValue } from "@memory-bank/jobs";
import type { TokenUsage } from "@memory-bank/models";

/** A memory that an answer may rest on. Instants are integer microseconds. */
export interface Fact {
  readonly id: string;
  readonly text: string;
  readonly type: string;
  readonly context: string;
  readonly occurredStartUs?: number;
  readonly occurredEndUs?: number;
  readonly mentionedAtUs?: number;
}

/** A mental model that an answer rests on. */
export interface CitedModel {
  readonly id: string;
  /** Its content. */
  readonly text: string;
  readonly name: string;
}

/** A rule that applies to an answer. */
export interface Directive {
  readonly id: string;
  readonly name: string;
  readonly content: string;
}

export interface TracedTool {
  readonly tool: string;
  readonly input: { readonly [member: string]: JsonValue };
  readonly output: JsonValue;
  readonly durationMs: number;
  /** Round of the loop, from 1. */
  readonly iteration: number;
}

export interface TracedModelCall {
  readonly scope: string;
  readonly durationMs: number;
}

/** An answer with everything that it is based on. */
export interface Answer {
  /** Markdown. */
  readonly text: string;
  /** Cited facts: each was retrieved for this answer. */
  readonly facts: readonly Fact[];
  readonly models: readonly CitedModel[];
  /** Directives that apply, most important first. */
  readonly directives: readonly Directive[];
  /** False for an answer by rules, which cannot follow directives in free text. */
  readonly areDirectivesApplied: boolean;
  /** `undefined` without a schema; `null` when the answer could not be brought into it. */
  readonly structuredOutput: JsonValue | undefined;
  readonly usage: TokenUsage;
  readonly tools: readonly TracedTool[];
  readonly modelCalls: readonly TracedModelCall[];
}

export const noUsage: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
  };
}
