import { openLanguageModel } from "@memory-bank/models";
import { silentLogger } from "@memory-bank/telemetry";
import { describe, expect, test } from "vitest";
import { type ChatRequest, type OpenaiServer, type Reply, startOpenaiServer } from "../../../../test/fakes/openai-server.ts";
import { bankId, bankUid, startTestService, type TestService } from "../test-service.ts";

type Script = (request: ChatRequest, nth: number) => Reply;
type Started = TestService & { readonly server: OpenaiServer };

/** The service with a language model behind real HTTP that follows a script. */
async function start(script: Script): Promise<Started> {
  const server = await startOpenaiServer(script);
  const config = { kind: "openai" as const, baseUrl: server.baseUrl, apiKey: "key", model: "scripted", attemptTimeoutMs: 2_000 };
  const service = await startTestService({ languageModel: await openLanguageModel(config, { log: silentLogger }) });
  return {
    ...service,
    server,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const question = (parts: object = {}) => ({
  bankId,
  query: "Where does Maria live?",
  budget: 0 as const,
  maxTokens: 0,
  includeFacts: true,
  includeTrace: true,
  traceOutputs: true,
  applyAllDirectives: false,
  factTypes: [],
  excludeMentalModels: false,
  excludeMentalModelIds: [],
  ...parts,
});

const call = (name: string, given: unknown): Reply => ({ calls: [{ name, arguments: given }] });
const done = (parts: object = {}): Reply =>
  call("done", { answer: "Maria lives in Porto.", memory_ids: [], mental_model_ids: [], observation_ids: [], ...parts });
const forcedTool = (request: ChatRequest) => (request.tool_choice as { function?: { name: string } } | undefined)?.function?.name;
const isWriting = (request: ChatRequest) => request.response_format?.json_schema?.name === "answer";

/** Follows the forced order, then says `last`. */
const obedient =
  (last: Reply): Script =>
  (request) => {
    const forced = forcedTool(request);
    return forced ? call(forced, { query: "Maria live" }) : last;
  };

describe("the loop", () => {
  test("searches in the forced order, then answers with what it cites", async () => {
    const id = "11111111-1111-4111-8111-111111111111";
    await using t = await start(obedient(done({ memory_ids: [id] })));
    t.world.add("Maria lives in Porto.", { id });
    t.world.add("Maria lives with Tom.");
    const answer = await t.api.reflect(t.ctx, question());
    expect(answer.text).toBe("Maria lives in Porto.");
    expect(t.server.requests.map(forcedTool)).toEqual(["search_mental_models", "search_observations", "recall", undefined]);
    expect(answer.basedOn?.memories).toEqual([{ id, text: "Maria lives in Porto.", type: "world", context: "" }]);
    expect(answer.basedOn?.directivesApplied).toBeUndefined();
    expect(answer.usage).toEqual({ inputTokens: 400, outputTokens: 40, totalTokens: 440, cachedTokens: 160, thoughtsTokens: 16 });
    expect(answer.trace?.toolCalls.map(({ tool, iteration }) => [tool, iteration])).toEqual([
      ["search_mental_models", 1],
      ["search_observations", 2],
      ["recall", 3],
    ]);
    expect(answer.trace?.llmCalls).toHaveLength(4);
  });

  test("ids that were never retrieved are taken out of the citations", async () => {
    const id = "11111111-1111-4111-8111-111111111111";
    const invented = ["22222222-2222-4222-8222-222222222222", "not an id", id];
    await using t = await start(obedient(done({ memory_ids: invented, observation_ids: invented, mental_model_ids: ["mm-x"] })));
    t.world.add("Maria lives in Porto.", { id });
    const { basedOn } = await t.api.reflect(t.ctx, question());
    expect(basedOn?.memories.map((fact) => fact.id)).toEqual([id]);
    expect(basedOn?.mentalModels).toEqual([]);
  });

  test("done before anything was retrieved is refused, and answered from nothing at the last round", async () => {
    await using t = await start((request) =>
      isWriting(request)
        ? {
            text: JSON.stringify({
              answer: "The memories do not say.",
              memory_ids: [],
              mental_model_ids: [],
              observation_ids: [],
            }),
          }
        : done(),
    );
    const answer = await t.api.reflect(t.ctx, question());
    expect(answer.text).toBe("The memories do not say.");
    expect(t.server.requests).toHaveLength(5);
    expect(t.server.requests[1]!.messages.at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining("Search before"),
    });
  });

  test("endless and unreadable calls of tools end with an answer from what was gathered", async () => {
    const id = "11111111-1111-4111-8111-111111111111";
    const nonsense: Reply = {
      calls: [
        { name: "recall", arguments: { query: "Maria live" } },
        { name: "recall", arguments: { query: "?!" } },
        { name: "recall", arguments: '{"query": ' },
        { name: "drop_tables", arguments: {} },
        ...Array.from({ length: 8 }, () => ({ name: "expand", arguments: { ids: ["nothing"], depth: "chunk" } })),
      ],
    };
    await using t = await start((request) =>
      isWriting(request)
        ? { text: JSON.stringify({ answer: "Porto.", memory_ids: [id], mental_model_ids: [], observation_ids: [] }) }
        : nonsense,
    );
    t.world.add("Maria lives in Porto.", { id });
    const answer = await t.api.reflect(t.ctx, question({ budget: 2 }));
    expect(answer.text).toBe("Porto.");
    expect(answer.basedOn?.memories.map((fact) => fact.id)).toEqual([id]);
    expect(t.server.requests).toHaveLength(10);
    for (const request of t.server.requests.slice(0, -1)) {
      const asked = request.messages.flatMap(({ tool_calls }) => tool_calls ?? []).map((one) => one.id);
      expect(request.messages.filter(({ role }) => role === "tool").map(({ tool_call_id }) => tool_call_id)).toEqual(asked);
    }
  });

  test("a fresh mental model for the question lifts the rest of the order, except for a high budget", async () => {
    await using t = await start((request) =>
      isWriting(request)
        ? { text: JSON.stringify({ answer: "In Porto.", memory_ids: [], mental_model_ids: ["homes"], observation_ids: [] }) }
        : obedient(done({ mental_model_ids: ["homes"] }))(request, 0),
    );
    t.world.add("Maria lives in Porto.");
    const members = { bankId, id: "homes", name: "Homes", sourceQuery: "Where does Maria live?", maxTokens: 512, tags: [] };
    const { operationId } = await t.api.createMentalModel(t.ctx, members);
    expect(await endedFor(t, operationId)).toMatchObject({ status: "completed" });
    const before = t.server.requests.length;
    const answer = await t.api.reflect(t.ctx, question());
    expect(t.server.requests.slice(before).map(forcedTool)).toEqual(["search_mental_models", undefined]);
    expect(answer.basedOn?.mentalModels).toMatchObject([{ id: "homes", context: "Homes" }]);
    const between = t.server.requests.length;
    await t.api.reflect(t.ctx, question({ budget: 3 }));
    expect(t.server.requests.slice(between).map(forcedTool)).toEqual([
      "search_mental_models",
      "search_observations",
      "recall",
      undefined,
    ]);
  });

  test("what the question excludes is not offered", async () => {
    await using t = await start(obedient(done()));
    t.world.add("Maria lives in Porto.");
    await t.api.reflect(t.ctx, question({ excludeMentalModels: true, factTypes: ["world"] }));
    const names = t.server.requests[0]!.tools!.map((tool) => tool.function.name);
    expect(names).toEqual(["recall", "expand", "done"]);
  });
});

describe("answers", () => {
  test("that are too long are rewritten once, and cut when that does not help", async () => {
    const long = "word ".repeat(400);
    let isShort = true;
    await using t = await start((request) => {
      if (!request.tools) return { text: isShort ? "Short." : long };
      return obedient(done({ answer: long }))(request, 0);
    });
    t.world.add("Maria lives in Porto.");
    expect((await t.api.reflect(t.ctx, question({ maxTokens: 50 }))).text).toBe("Short.");
    isShort = false;
    const cut = (await t.api.reflect(t.ctx, question({ maxTokens: 50 }))).text;
    expect(cut.length).toBeLessThanOrEqual(260);
    expect(cut).toMatch(/^word word/);
  });

  test("come in the caller's schema; a wrong shape is told once and given up after that", async () => {
    const responseSchema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    };
    const texts = ['{"town": 1}', '{"city": "Porto"}', "no", "{}"];
    let nth = 0;
    await using t = await start((request) =>
      request.response_format?.json_schema?.name === "structured_output" ? { text: texts[nth++]! } : obedient(done())(request, 0),
    );
    t.world.add("Maria lives in Porto.");
    expect((await t.api.reflect(t.ctx, question({ responseSchema }))).structuredOutput).toEqual({ city: "Porto" });
    expect(t.server.requests.at(-1)!.messages.at(-1)!.content).toContain("did not follow the schema");
    expect((await t.api.reflect(t.ctx, question({ responseSchema }))).structuredOutput).toBeNull();
  });

  test("that the model refuses are said to be missing, and its outage is an outage", async () => {
    await using t = await start((request) => (request.tools ? obedient({ refusal: "no" })(request, 0) : { refusal: "no" }));
    t.world.add("Maria lives in Porto.");
    expect((await t.api.reflect(t.ctx, question())).text).toContain("gave no answer");
    await using broken = await start(() => ({ status: 500, headers: { "retry-after-ms": "1" } }));
    await expect(broken.api.reflect(broken.ctx, question())).rejects.toMatchObject({ code: "unavailable" });
    expect(await broken.api.testLanguageModel(broken.ctx, { bankId })).toMatchObject({ status: "error", provider: "openai" });
    await using fine = await start(() => ({ text: "ready" }));
    expect(await fine.api.testLanguageModel(fine.ctx, { bankId })).toMatchObject({ status: "ok", model: "scripted" });
  });

  test("are written from digests when the material is too long for one prompt", async () => {
    const id = "11111111-1111-4111-8111-111111111111";
    await using t = await start((request) => {
      if (isWriting(request))
        return { text: JSON.stringify({ answer: "Porto.", memory_ids: [id], mental_model_ids: [], observation_ids: [] }) };
      if (request.response_format)
        return { text: JSON.stringify({ statements: [{ text: "Maria lives in Porto.", ids: [id] }] }) };
      return call("recall", { query: "Maria live" });
    });
    t.world.add("Maria lives in Porto.", { id });
    for (let i = 0; i < 60; i++) t.world.add(`Maria lives, part ${i}. ${"Nothing else happened that day at all. ".repeat(150)}`);
    const answer = await t.api.reflect(t.ctx, question({ excludeMentalModels: true, factTypes: ["world"] }));
    expect(answer.basedOn?.memories.map((fact) => fact.id)).toEqual([id]);
    const scopes = answer.trace?.llmCalls.map(({ scope }) => scope.replace(/\d+/, "n"));
    // The second search fills the conversation, so the loop ends there.
    expect(scopes).toEqual(["round n", "round n", "digest", "digest", "conclude"]);
  });
});

test("a model that reads less than assumed answers from smaller parts, and one that reads nothing is an error", async () => {
  const id = "11111111-1111-4111-8111-111111111111";
  let charsMax = 40_000;
  await using t = await start((request) => {
    const chars = request.messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
    if (chars > charsMax) return { status: 400, code: "context_length_exceeded" };
    if (isWriting(request))
      return { text: JSON.stringify({ answer: "Porto.", memory_ids: [id], mental_model_ids: [], observation_ids: [] }) };
    if (request.response_format) return { text: JSON.stringify({ statements: [{ text: "Maria lives in Porto.", ids: [id] }] }) };
    return call("recall", { query: "Maria live" });
  });
  t.world.add("Maria lives in Porto.", { id });
  for (let i = 0; i < 20; i++) t.world.add(`Maria lives, part ${i}. ${"Nothing else happened that day at all. ".repeat(100)}`);
  expect((await t.api.reflect(t.ctx, question())).basedOn?.memories.map((fact) => fact.id)).toEqual([id]);
  charsMax = 10;
  await expect(t.api.reflect(t.ctx, question())).rejects.toMatchObject({ reason: "PROMPT_TOO_LONG" });
});

describe("refreshes", () => {
  const members = { bankId, id: "homes", name: "Homes", sourceQuery: "Where does Maria live?", maxTokens: 512, tags: [] };
  const delta = { mode: "delta", refreshAfterConsolidation: false, excludeMentalModels: false, keepTrace: false };
  const named = { bankId, mentalModelId: "homes", detail: "" };
  const operation = (parts: object) => ({
    op: "append_block",
    section_id: null,
    block_id: null,
    text: null,
    heading: null,
    level: null,
    blocks: null,
    ...parts,
  });
  const isDelta = (request: ChatRequest) => request.response_format?.json_schema?.name === "changes";

  test("by delta apply what fits and skip what does not; a rubbish proposal keeps the content", async () => {
    const [first, second] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    let proposal = JSON.stringify({
      operations: [
        operation({ section_id: "s1", text: "She shares it with Tom." }),
        operation({ op: "remove_block", block_id: "b99" }),
      ],
      memory_ids: [second, "invented"],
    });
    await using t = await start((request) =>
      isDelta(request) ? { text: proposal } : obedient(done({ memory_ids: [first] }))(request, 0),
    );
    t.world.add("Maria lives in Porto.", { id: first });
    const created = await t.api.createMentalModel(t.ctx, { ...members, trigger: delta });
    await endedFor(t, created.operationId);
    t.world.add("Maria lives with Tom.", { id: second });
    const refresh = async () => {
      const { operationId } = await t.api.refreshMentalModel(t.ctx, named);
      return { ...(await endedFor(t, operationId)), model: await t.api.getMentalModel(t.ctx, named) };
    };
    const edited = await refresh();
    expect(edited.model.content).toBe("Maria lives in Porto.\n\nShe shares it with Tom.");
    expect(edited.model.reflectResponse).toMatchObject({ delta_operations_applied: 1, delta_operations_skipped: 1 });
    expect(edited.model.reflectResponse?.["based_on"].world.map((fact: { id: string }) => fact.id)).toEqual([first, second]);

    const failures = [
      ["I would rather not.", "delta_ops_failed"],
      [JSON.stringify({ operations: [operation({ section_id: "s9", text: "x" })], memory_ids: [] }), "delta_ops_all_skipped"],
      [
        JSON.stringify({ operations: [operation({ op: "remove_section", section_id: "s1" })], memory_ids: [] }),
        "delta_not_applied",
      ],
    ] as const;
    for (const [text, reason] of failures) {
      t.world.add("Maria lives near the river.");
      proposal = text;
      const failed = await refresh();
      expect(failed).toMatchObject({
        status: "failed",
        details: { outcome: "refresh_failed_delta_not_applied", failure_reason: reason },
        model: { content: edited.model.content, isStale: true },
      });
    }
  }, 30_000);

  test("without a text, or not in the model's schema, fail and keep the content", async () => {
    await using t = await start((request) => (request.tools ? obedient({ refusal: "no" })(request, 0) : { refusal: "no" }));
    t.world.add("Maria lives in Porto.");
    const { operationId } = await t.api.createMentalModel(t.ctx, members);
    expect(await endedFor(t, operationId)).toMatchObject({
      status: "failed",
      details: { outcome: "refresh_failed_empty_candidate", failure_reason: "empty_candidate" },
    });
    const responseSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    await using u = await start((request) => (request.response_format ? { text: "no" } : obedient(done())(request, 0)));
    u.world.add("Maria lives in Porto.");
    const other = await u.api.createMentalModel(u.ctx, { ...members, trigger: { ...delta, responseSchema } });
    expect(await endedFor(u, other.operationId)).toMatchObject({ details: { failure_reason: "structured_output_failed" } });
    expect((await u.storage.store.find(bankUid, "homes"))?.content).toBe("Generating content...");
  });
});

const REAL_LIMIT_MS = 20_000;

/** Polls in real time, because the model answers over real HTTP, and moves virtual time along. */
async function endedFor(t: Started, operationId: string) {
  const deadline = performance.now() + REAL_LIMIT_MS;
  for (;;) {
    const { status, details, errorMessage } = await t.api.getOperation(t.ctx, { bankId, operationId, includePayload: false });
    if (status !== "pending" && status !== "processing") return { status, details, errorMessage };
    if (performance.now() > deadline) throw new Error(`the operation is still ${status}`);
    await t.time.advance(100);
  }
}
