import type { TokenUsage } from "@memory-bank/models";

export const noUsage: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
  };
}
