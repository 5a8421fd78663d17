import { createMeter, silentLogger } from "@memory-bank/telemetry";
import { describe, expect, test } from "vitest";
import { type ChatRequest, type Reply, startOpenaiServer } from "../../../../test/fakes/openai-server.ts";
import type { CompletionRequest, LanguageModel } from "./language-model.ts";
import { openLanguageModel } from "./open-language-model.ts";
import type { OpenaiLanguageModelConfig } from "./openai-language-model.ts";

type Model = Extract<LanguageModel, { kind: "openai" }>;

async function start(script: (request: ChatRequest, nth: number) => Reply, parts: Partial<OpenaiLanguageModelConfig> = {}) {
  const server = await startOpenaiServer(script);
  const meter = createMeter();
  const config = { kind: "openai" as const, baseUrl: server.baseUrl, apiKey: "key-1", model: "common", ...parts };
  const model = (await openLanguageModel(config, { log: silentLogger, meter })) as Model;
  return { server, meter, model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const ask = (parts: object = {}): CompletionRequest =>
  ({
    task: "reflect",
    messages: [{ role: "user", content: "the private prompt" }],
    maxTokens: 50,
    temperature: 0.5,
    signal: new AbortController().signal,
    ...parts,
  }) as CompletionRequest;
const shape = { type: "object", properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false };
const schema = { name: "answer", shape };

describe("answers", () => {
  test("text with its usage, cached and reasoning tokens included", async () => {
    await using t = await start(() => ({ text: "hello" }));
    expect(await t.model.complete(ask())).toEqual({
      kind: "text",
      text: "hello",
      finishReason: "stop",
      usage: { input: 100, output: 10, cached: 40, reasoning: 4 },
    });
    expect(t.server.requests[0]).toMatchObject({ model: "common", temperature: 0.5, max_tokens: 50 });
    expect(t.server.headers[0]!.authorization).toBe("Bearer key-1");
  });

  test("JSON, bound to the schema, also inside a fence or between sentences", async () => {
    const texts = ['{"a":1}', '```json\n{"a":1}\n```', 'Here it is: {"a":1}. Done.'];
    await using t = await start((_, nth) => ({ text: texts[nth]! }));
    for (const _ of texts) expect(await t.model.complete(ask({ schema }))).toMatchObject({ kind: "json", json: { a: 1 } });
    expect(t.server.requests[0]!.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { name: "answer", strict: true },
    });
  });

  test("text instead of JSON that is cut off, broken, refused or withheld", async () => {
    const replies: Reply[] = [
      { text: '{"a":1', finish: "length" },
      { text: '{"a":' },
      { refusal: "I will not" },
      { text: "", finish: "content_filter" },
    ];
    await using t = await start((_, nth) => replies[nth]!);
    const reasons = [];
    for (const _ of replies) {
      const completion = await t.model.complete(ask({ schema }));
      reasons.push([completion.kind, completion.finishReason]);
    }
    expect(reasons).toEqual([
      ["text", "length"],
      ["text", "stop"],
      ["text", "filtered"],
      ["text", "filtered"],
    ]);
  });

  test("calls of tools, arguments parsed, and left as text when they are no JSON", async () => {
    await using t = await start(() => ({
      calls: [
        { name: "find", arguments: { q: 1 } },
        { name: "find", arguments: '{"q": ' },
      ],
    }));
    const tools = { offered: [{ name: "find", description: "Finds.", parameters: shape }], choice: { name: "find" } };
    const completion = await t.model.complete(ask({ tools }));
    expect(completion).toMatchObject({
      kind: "toolCalls",
      finishReason: "tool_calls",
      toolCalls: [
        { name: "find", arguments: { q: 1 } },
        { name: "find", arguments: '{"q": ' },
      ],
    });
    expect(t.server.requests[0]!.tool_choice).toEqual({ type: "function", function: { name: "find" } });
  });
});

describe("servers that lack something", () => {
  test("a schema is asked for in the next simpler way, and remembered", async () => {
    await using t = await start((request) =>
      request.response_format ? { status: 400, message: "response_format is not supported" } : { text: '{"a":2}' },
    );
    expect(await t.model.complete(ask({ schema }))).toMatchObject({ kind: "json", json: { a: 2 } });
    expect(await t.model.complete(ask({ schema }))).toMatchObject({ kind: "json" });
    expect(t.server.requests.map(({ response_format }) => response_format?.type ?? "text")).toEqual([
      "json_schema",
      "json_object",
      "text",
      "text",
    ]);
    expect(t.server.requests.at(-1)!.messages.at(-1)!.content).toContain("JSON schema");
  });

  test("temperature, the name of the token bound and forced names are dropped when they are refused", async () => {
    await using t = await start((request) => {
      if (request.temperature !== undefined) return { status: 400, message: "Unsupported value: 'temperature'" };
      if (request.max_tokens !== undefined) return { status: 400, message: "Unsupported parameter: 'max_tokens'" };
      if (typeof request.tool_choice === "object") return { status: 400, message: "tool_choice must be a word" };
      return { calls: [{ name: "b", arguments: {} }] };
    });
    const tool = (name: string) => ({ name, description: "", parameters: shape });
    const tools = { offered: [tool("a"), tool("b")], choice: { name: "b" } };
    expect(await t.model.complete(ask({ tools }))).toMatchObject({ kind: "toolCalls" });
    const last = t.server.requests.at(-1)!;
    expect(last).toMatchObject({ max_completion_tokens: 50, tool_choice: "required" });
    expect(last.tools!.map(({ function: { name } }) => name)).toEqual(["b"]);
  });

  test("a schema that cannot be enforced is not asked for as strict", async () => {
    await using t = await start(() => ({ text: "{}" }));
    await t.model.complete(ask({ schema: { name: "open", shape: { type: "object", properties: { a: {} } } } }));
    expect(t.server.requests[0]!.response_format!.json_schema!.strict).toBe(false);
  });
});

describe("failures", () => {
  test("what may pass is tried again: 500, reset, half an answer, 429 with its own pause", async () => {
    const replies: Reply[] = [
      { status: 500 },
      { text: "1" },
      "reset",
      { text: "2" },
      "half",
      { text: "3" },
      { status: 429, headers: { "retry-after": "0.2" } },
      { text: "4" },
    ];
    await using t = await start((_, nth) => replies[nth]!);
    for (const text of ["1", "2", "3", "4"]) expect(await t.model.complete(ask())).toMatchObject({ text });
  });

  test("what does not pass ends after a bounded number of tries, without a word of the prompt or the key", async () => {
    const cases = [
      [
        { status: 429, headers: { "retry-after-ms": "1", "retry-after": "7" }, message: "the private prompt" },
        "resource_exhausted",
        4,
      ],
      [{ status: 503, headers: { "retry-after-ms": "1" } }, "unavailable", 4],
      [{ status: 401, message: "key-1 is wrong" }, "failed_precondition", 1],
      [{ status: 400, code: "context_length_exceeded", message: "the private prompt" }, "invalid_argument", 1],
      ["half", "unavailable", 3],
      ["rubbish", "unavailable", 1],
    ] as const;
    for (const [reply, code, tries] of cases) {
      await using t = await start(() => reply as Reply);
      const error = await t.model.complete(ask()).catch((error: unknown) => error as Error);
      expect(error).toMatchObject({ code });
      expect((error as Error).message).not.toMatch(/private|key-1/);
      expect(t.server.requests.length).toBe(tries);
      if (code === "resource_exhausted") expect(error).toMatchObject({ retryAfterMs: 7_000 });
    }
  }, 30_000);

  test("a server that says nothing is given up, and a caller that leaves is not kept", async () => {
    await using t = await start(() => "silence", { attemptTimeoutMs: 20 });
    await expect(t.model.complete(ask())).rejects.toMatchObject({ code: "unavailable" });
    const leaving = new AbortController();
    const waiting = t.model.complete(ask({ signal: leaving.signal }));
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
    await expect(t.model.complete(ask({ signal: leaving.signal }))).rejects.toMatchObject({ code: "cancelled" });
  }, 30_000);
});

test("tasks have models of their own, bounds of their own, and share the bound of the process", async () => {
  const parts = { callsMax: 3, callsPerTaskMax: 2, perTask: { retain: { model: "small", apiKey: "key-2" } } };
  await using t = await start(() => ({ text: "ok", delayMs: 30 }), parts);
  await Promise.all(Array.from({ length: 5 }, () => t.model.complete(ask({ task: "retain" }))));
  expect(t.server.concurrent()).toBe(2);
  expect(t.server.requests[0]!.model).toBe("small");
  expect(t.server.headers[0]!.authorization).toBe("Bearer key-2");
  const tasks = ["retain", "consolidation", "reflect"];
  await Promise.all(tasks.flatMap((task) => [1, 2].map(() => t.model.complete(ask({ task })))));
  expect(t.server.concurrent()).toBe(3);
  const metrics = await t.meter.render();
  expect(metrics).toContain('llm_calls_total{task="retain",outcome="stop"} 7');
  expect(metrics).toContain('llm_tokens_total{task="reflect",kind="cached"} 80');
});
