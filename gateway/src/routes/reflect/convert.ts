import type { BasedOn, ReflectRequest, ReflectResponse, ReflectTrace } from "@memory-bank/proto/reflect/v1/reflect";
import { instantTextOrNull } from "../instant-text.ts";
import { budgetByWord } from "../memories/recall-convert.ts";
import { tagFilterToProto } from "../tag-filter.ts";
import { usageFromProto } from "../token-usage.ts";
import type { ReflectBody } from "./schemas.ts";

export function reflectToProto(bankId: string, body: ReflectBody): ReflectRequest {
  const { facts, tool_calls } = body.include ?? {};
  return {
    bankId,
    query: body.query,
    budget: budgetByWord[body.budget],
    maxTokens: body.max_tokens,
    context: body.context,
    includeFacts: facts !== undefined,
    includeTrace: tool_calls !== undefined,
    traceOutputs: tool_calls?.output ?? false,
    responseSchema: body.response_schema,
    tags: tagFilterToProto(body),
    applyAllDirectives: body.apply_all_directives,
    factTypes: body.fact_types ?? [],
    excludeMentalModels: body.exclude_mental_models,
    excludeMentalModelIds: body.exclude_mental_model_ids,
  };
}

export function reflectFromProto({ text, basedOn, structuredOutput, usage, trace }: ReflectResponse) {
  return {
    text,
    ...(basedOn && { based_on: basedOnFromProto(basedOn) }),
    ...(structuredOutput !== undefined && { structured_output: structuredOutput as unknown }),
    ...(usage && { usage: usageFromProto(usage) }),
    ...(trace && { trace: traceFromProto(trace) }),
  };
}

function basedOnFromProto({ memories, mentalModels, directives, directivesApplied }: BasedOn) {
  return {
    memories: memories.map(({ id, text, type, context, occurredStartUs, occurredEndUs }) => ({
      id,
      text,
      type,
      context: context === "" ? null : context,
      occurred_start: instantTextOrNull(occurredStartUs),
      occurred_end: instantTextOrNull(occurredEndUs),
    })),
    mental_models: mentalModels,
    directives,
    ...(directivesApplied !== undefined && { directives_applied: directivesApplied }),
  };
}

function traceFromProto({ toolCalls, llmCalls }: ReflectTrace) {
  return {
    tool_calls: toolCalls.map(({ tool, input, output, durationMs, iteration }) => ({
      tool,
      input: input ?? {},
      ...(output !== undefined && { output: output as unknown }),
      duration_ms: durationMs,
      iteration,
    })),
    llm_calls: llmCalls.map(({ scope, durationMs }) => ({ scope, duration_ms: durationMs })),
  };
}
