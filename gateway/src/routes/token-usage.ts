import type { TokenUsage } from "@memory-bank/proto/common/v1/common";
import { Type } from "typebox";
import { component } from "../validation/schema.ts";
import { count } from "./answer-parts.ts";

/** Tokens that language models spent on a call. */
export const tokenUsage = component(
  "TokenUsage",
  Type.Object({
    input_tokens: count,
    output_tokens: count,
    total_tokens: count,
    cached_tokens: count,
    thoughts_tokens: count,
  }),
);

export function usageFromProto(usage: TokenUsage | undefined) {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    total_tokens: usage?.totalTokens ?? 0,
    cached_tokens: usage?.cachedTokens ?? 0,
    thoughts_tokens: usage?.thoughtsTokens ?? 0,
  };
}
