import { AppError } from "@memory-bank/errors";
import { Budget, TagsMatch } from "@memory-bank/proto/common/v1/common";
import type { ReflectResponse } from "@memory-bank/proto/reflect/v1/reflect";
import { expect, test } from "vitest";
import { asOwner, testGateway } from "../../test-gateway.ts";
import { type ReflectRouteDeps, reflectRoutes } from "./routes.ts";

const url = "/v1/default/banks/one/reflect";

function opened(answer: ReflectResponse | AppError = { text: "Nothing is known." }) {
  const calls: unknown[] = [];
  const reflect: ReflectRouteDeps["reflect"] = {
    async reflect(_ctx, request) {
      calls.push(request);
      if (answer instanceof AppError) throw answer;
      return answer;
    },
  };
  return { gateway: testGateway((app) => reflectRoutes(app, { reflect })), calls };
}

test("a bare question gets its defaults and a bare answer", async () => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const response = await running.app.inject({ method: "POST", url, headers: asOwner, payload: { query: "Who?" } });
  expect([response.statusCode, response.json()]).toEqual([200, { text: "Nothing is known." }]);
  expect(calls).toEqual([
    {
      bankId: "one",
      query: "Who?",
      budget: Budget.LOW,
      maxTokens: 4096,
      includeFacts: false,
      includeTrace: false,
      traceOutputs: false,
      applyAllDirectives: false,
      factTypes: [],
      excludeMentalModels: false,
      excludeMentalModelIds: [],
    },
  ]);
});

test("everything that is asked for is passed on and answered", async () => {
  const { gateway, calls } = opened({
    text: "t",
    basedOn: {
      memories: [{ id: "m", text: "f", type: "world", context: "", occurredStartUs: 0 }],
      mentalModels: [{ id: "mm", text: "x", context: "Name" }],
      directives: [{ id: "d", name: "n", content: "c" }],
      directivesApplied: false,
    },
    structuredOutput: { a: 1 },
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedTokens: 0, thoughtsTokens: 0 },
    trace: {
      toolCalls: [{ tool: "recall", input: { query: "q" }, output: undefined, durationMs: 5, iteration: 1 }],
      llmCalls: [{ scope: "agent", durationMs: 7 }],
    },
  });
  await using running = await gateway;
  const payload = {
    query: "Who?",
    budget: "high",
    max_tokens: 10,
    context: "at work",
    include: { facts: {}, tool_calls: { output: false } },
    response_schema: { type: "object", properties: { a: { type: "integer" } } },
    tags: ["x"],
    tags_match: "all_strict",
    apply_all_directives: true,
    fact_types: ["world"],
    exclude_mental_models: true,
    exclude_mental_model_ids: ["mm"],
  };
  const response = await running.app.inject({ method: "POST", url, headers: asOwner, payload });
  expect(response.json()).toEqual({
    text: "t",
    based_on: {
      memories: [
        { id: "m", text: "f", type: "world", context: null, occurred_start: "1970-01-01T00:00:00.000000Z", occurred_end: null },
      ],
      mental_models: [{ id: "mm", text: "x", context: "Name" }],
      directives: [{ id: "d", name: "n", content: "c" }],
      directives_applied: false,
    },
    structured_output: { a: 1 },
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3, cached_tokens: 0, thoughts_tokens: 0 },
    trace: {
      tool_calls: [{ tool: "recall", input: { query: "q" }, duration_ms: 5, iteration: 1 }],
      llm_calls: [{ scope: "agent", duration_ms: 7 }],
    },
  });
  expect(calls).toEqual([
    {
      bankId: "one",
      query: "Who?",
      budget: Budget.HIGH,
      maxTokens: 10,
      context: "at work",
      includeFacts: true,
      includeTrace: true,
      traceOutputs: false,
      responseSchema: payload.response_schema,
      tags: { tags: ["x"], match: TagsMatch.ALL_STRICT, groups: [] },
      applyAllDirectives: true,
      factTypes: ["world"],
      excludeMentalModels: true,
      excludeMentalModelIds: ["mm"],
    },
  ]);
});

test.each<[object, string]>([
  [{ query: "?!" }, "value_error"],
  [{ query: "q", budget: "max" }, "enum"],
  [{ query: "q", tags: ["a"], tag_groups: [{ tags: ["b"] }] }, "value_error"],
  [{ query: "q", fact_types: ["opinion"] }, "literal_error"],
  [{ query: "q", response_schema: { type: "string" } }, "value_error"],
])("%j is a fault", async (payload, type) => {
  const { gateway, calls } = opened();
  await using running = await gateway;
  const response = await running.app.inject({ method: "POST", url, headers: asOwner, payload });
  expect(response.json()).toMatchObject({ detail: [{ type }] });
  expect(calls).toEqual([]);
});

test("a question that takes too long is 504 and names the limit", async () => {
  const { gateway } = opened(new AppError("deadline_exceeded", "DEADLINE_EXCEEDED", "The call ran past its deadline"));
  await using running = await gateway;
  const response = await running.app.inject({ method: "POST", url, headers: asOwner, payload: { query: "Who?" } });
  expect([response.statusCode, response.json()]).toEqual([504, { detail: "Reflect took longer than 300 seconds" }]);
});
