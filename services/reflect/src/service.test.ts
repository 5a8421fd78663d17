import { describe, expect, test } from "vitest";
import { bankId, bankUid, startTestService, type TestService } from "./test-service.ts";

const query = { bankId, query: "", budget: 0 as const, maxTokens: 0, includeFacts: true, includeTrace: true, traceOutputs: true };
const question = (text: string) => ({
  ...query,
  query: text,
  applyAllDirectives: false,
  factTypes: [],
  excludeMentalModels: false,
  excludeMentalModelIds: [],
});
const trigger = { mode: "full", refreshAfterConsolidation: false, excludeMentalModels: false, keepTrace: false };
const newModel = (parts: object = {}) => ({
  bankId,
  id: "homes",
  name: "Homes",
  sourceQuery: "Where does Maria live?",
  maxTokens: 2048,
  tags: [],
  trigger,
  ...parts,
});
const named = (mentalModelId: string) => ({ bankId, mentalModelId, detail: "" });
const operation = (operationId: string) => ({ bankId, operationId, includePayload: true });
const listed = { bankId, excludeParents: false, limit: 100, offset: 0 };

/** Makes a model and waits for its first refresh. */
async function refreshed(t: TestService, parts: object = {}) {
  const { operationId, mentalModelId } = await t.api.createMentalModel(t.ctx, newModel(parts));
  await t.ended(operationId);
  return t.api.getMentalModel(t.ctx, named(mentalModelId));
}

async function refreshAgain(t: TestService, id = "homes") {
  const { operationId } = await t.api.refreshMentalModel(t.ctx, named(id));
  const ended = await t.ended(operationId);
  return { ...ended, model: await t.api.getMentalModel(t.ctx, named(id)) };
}

describe("reflect by rules", () => {
  test("answers in the memories' own words, observations first and what was replaced below", async () => {
    await using t = await startTestService();
    const old = t.world.add("Maria lives in Berlin.", { isSuperseded: true });
    const raw = t.world.add("Maria lives in Porto since March.");
    const observation = t.world.add("Maria lives in Porto.", { type: "observation" });
    t.world.add("Tom repairs bicycles.");
    const answer = await t.api.reflect(t.ctx, question("Where does Maria live?"));
    expect(answer.text).toBe(
      [
        "- Maria lives in Porto. (2026-01-01)",
        "- Maria lives in Porto since March. (2026-01-01)",
        "",
        "## Earlier, since replaced",
        "",
        "- Maria lives in Berlin. (2026-01-01)",
      ].join("\n"),
    );
    expect(answer.basedOn?.memories.map(({ id }) => id)).toEqual([observation, raw, old]);
    expect(answer.usage).toMatchObject({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
    expect(answer.trace?.toolCalls.map(({ tool }) => tool)).toEqual(["search_mental_models", "recall"]);
  });

  test("an observation stands for its sources, except for those that it replaced", async () => {
    await using t = await startTestService();
    const old = t.world.add("Maria lives in Berlin.", { isSuperseded: true });
    const raw = t.world.add("Maria lives in Porto now.");
    const observation = t.world.add("Maria lives in Porto.", { type: "observation", sources: [old, raw] });
    const { basedOn } = await t.api.reflect(t.ctx, question("Where does Maria live?"));
    expect(basedOn?.memories.map(({ id }) => id)).toEqual([observation, old]);
  });

  test("says plainly that the bank does not hold the answer", async () => {
    await using t = await startTestService();
    t.world.add("Maria lives in Porto.");
    for (const text of ["What is the capital of Mongolia?", "Which instrument does Zoltan play?"]) {
      expect((await t.api.reflect(t.ctx, question(text))).text).toContain("does not hold an answer");
    }
    const unknown = await t.api.reflect(t.ctx, { ...question("Where does Maria live?"), bankId: "nobody" });
    expect(unknown.text).toContain("does not hold an answer");
  });

  test("what the caller says around the question does not hide that it is answered", async () => {
    await using t = await startTestService();
    t.world.add("Maria lives in Porto.");
    const context = "The answer goes on a printed visitor card for the reception desk.";
    const { text } = await t.api.reflect(t.ctx, { ...question("Where does Maria live?"), context });
    expect(text).toContain("Maria lives in Porto.");
  });

  test("keeps to max_tokens, and never answers with nothing", async () => {
    await using t = await startTestService();
    for (let i = 0; i < 30; i++) t.world.add(`Maria lives with cat number ${i}.`);
    const short = await t.api.reflect(t.ctx, { ...question("Where does Maria live?"), maxTokens: 60, budget: 3 });
    const long = await t.api.reflect(t.ctx, { ...question("Where does Maria live?"), maxTokens: 4096, budget: 3 });
    expect(short.text.split("\n").length).toBeLessThan(5);
    expect(long.text.split("\n").length).toBe(30);
    expect((await t.api.reflect(t.ctx, { ...question("Where does Maria live?"), maxTokens: 1 })).text).not.toBe("");
  });

  test("lists the directives that apply, as not applied", async () => {
    await using t = await startTestService();
    const directive = { bankId, content: "Be brief.", priority: 0, isActive: true, createdAtUs: 0, updatedAtUs: 0 };
    t.directives.push(
      { ...directive, id: "1", name: "Always", tags: [] },
      { ...directive, id: "2", name: "Tagged", tags: ["a"] },
    );
    const names = async (more: object) =>
      (await t.api.reflect(t.ctx, { ...question("Who?"), ...more })).basedOn?.directives.map(({ name }) => name);
    expect(await names({})).toEqual(["Always"]);
    expect(await names({ tags: { tags: ["a"], match: 1, groups: [] } })).toEqual(["Always", "Tagged"]);
    expect(await names({ tags: { tags: ["b"], match: 1, groups: [] } })).toEqual(["Always"]);
    expect(await names({ applyAllDirectives: true })).toEqual(["Always", "Tagged"]);
    expect((await t.api.reflect(t.ctx, question("Who?"))).basedOn?.directivesApplied).toBe(false);
  });

  test("fills of a schema what facts can fill, and nothing else", async () => {
    await using t = await startTestService();
    t.world.add("Maria has 3 cats.");
    const responseSchema = {
      type: "object",
      properties: {
        summary: { type: "string" },
        facts: { type: "array", items: { type: "string" } },
        count: { type: "integer" },
        mood: { type: "string", enum: ["happy", "sad"] },
      },
    };
    const { structuredOutput, text } = await t.api.reflect(t.ctx, { ...question("How many cats has Maria?"), responseSchema });
    expect(structuredOutput).toEqual({ summary: text, facts: ["Maria has 3 cats."], count: 3, mood: null });
  });

  test("refuses a blank question, another key's bank, and to answer without a provider", async () => {
    await using t = await startTestService();
    await expect(t.api.reflect(t.ctx, question(" ?! "))).rejects.toMatchObject({ code: "invalid_argument" });
    const stranger = { ...t.ctx, principal: { ...t.ctx.principal!, allowedBankIds: ["other"] } };
    await expect(t.api.reflect(stranger, question("Who?"))).rejects.toMatchObject({ code: "permission_denied" });
    await using none = await startTestService({ languageModel: { kind: "none" } });
    const refusal = { code: "invalid_argument", reason: "NO_LANGUAGE_MODEL" };
    await expect(none.api.reflect(none.ctx, question("Who?"))).rejects.toMatchObject(refusal);
    await expect(none.api.createMentalModel(none.ctx, newModel())).rejects.toMatchObject(refusal);
    expect((await none.api.listMentalModels(none.ctx, { bankId, detail: "", limit: 0, offset: 0 })).total).toBe(0);
    expect(await none.api.testLanguageModel(none.ctx, { bankId })).toMatchObject({ status: "disabled", provider: "none" });
  });
});

describe("mental models", () => {
  test("are there at once, and hold an answer with its sources after the first refresh", async () => {
    await using t = await startTestService();
    const fact = t.world.add("Maria lives in Porto.");
    const { operationId } = await t.api.createMentalModel(t.ctx, newModel());
    const early = await t.api.getMentalModel(t.ctx, named("homes"));
    expect(early).toMatchObject({ content: "Generating content...", isStale: true });
    expect(early.lastRefreshedAtUs).toBeUndefined();
    expect(await t.ended(operationId)).toMatchObject({
      status: "completed",
      details: {
        operation_type: "refresh_mental_model",
        mental_model_id: "homes",
        outcome: "content_written",
        failure_reason: null,
      },
    });
    const model = await t.api.getMentalModel(t.ctx, named("homes"));
    expect(model).toMatchObject({ content: "- Maria lives in Porto. (2026-01-01)", isStale: false });
    expect(model.reflectResponse).toMatchObject({
      text: model.content,
      based_on: {
        world: [{ id: fact, text: "Maria lives in Porto.", type: "world", context: "" }],
        opinion: [],
        "mental-models": [],
      },
      outcome: "content_written",
    });
    expect(await t.api.getMentalModelHistory(t.ctx, named("homes"))).toEqual({ versions: [] });
  });

  test("are stale when their scope changes, their question changes, or a source is gone", async () => {
    await using t = await startTestService();
    const fact = t.world.add("Maria lives in Porto.", { tags: ["a"] });
    await refreshed(t, { tags: ["a"] });
    const isStale = async () => (await t.api.getMentalModel(t.ctx, named("homes"))).isStale;
    expect(await isStale()).toBe(false);
    t.world.add("Tom lives in Oslo.", { tags: ["b"] });
    expect(await isStale()).toBe(false);
    t.world.add("Maria lives alone.", { tags: ["a"] });
    expect(await isStale()).toBe(true);
    await refreshAgain(t);
    expect(await isStale()).toBe(false);
    t.world.remove(fact);
    expect(await isStale()).toBe(true);
    await refreshAgain(t);
    expect(await isStale()).toBe(false);
    await t.api.updateMentalModel(t.ctx, { ...named("homes"), sourceQuery: "Who lives in Porto?" });
    expect(await isStale()).toBe(true);
  });

  test("a list asks for all freshness at once", async () => {
    await using t = await startTestService();
    for (let i = 0; i < 5; i++) await refreshed(t, { id: `m${i}` });
    const before = t.world.calls.findScopeChanges;
    const { models, total } = await t.api.listMentalModels(t.ctx, { bankId, detail: "metadata", limit: 3, offset: 1 });
    expect(t.world.calls.findScopeChanges - before).toBe(1);
    expect(models.map(({ id }) => id)).toEqual(["m3", "m2", "m1"]);
    expect({ total, content: models[0]!.content, response: models[0]!.reflectResponse }).toEqual({ total: 5, content: "" });
  });

  test("a second refresh waits for none: the pending one is answered", async () => {
    await using t = await startTestService();
    await refreshed(t);
    const both = [t.api.refreshMentalModel(t.ctx, named("homes")), t.api.refreshMentalModel(t.ctx, named("homes"))];
    const [first, second] = await Promise.all(both);
    expect(second!.operationId).toBe(first!.operationId);
    await expect(t.api.refreshMentalModel(t.ctx, named("nothing"))).rejects.toMatchObject({
      code: "not_found",
      message: "Mental model 'nothing' not found",
    });
  });

  test("keep earlier contents, newest first, and clear to nothing without losing them", async () => {
    await using t = await startTestService();
    t.world.add("Maria lives in Porto.");
    await refreshed(t);
    t.world.add("Maria lives with Tom.");
    await refreshAgain(t);
    const cleared = await t.api.clearMentalModel(t.ctx, named("homes"));
    expect(cleared).toMatchObject({ content: "", isStale: true });
    expect(cleared.reflectResponse).toBeUndefined();
    const { versions } = await t.api.getMentalModelHistory(t.ctx, named("homes"));
    expect(versions.map(({ content }) => content.split("\n").length)).toEqual([2, 1]);
  });

  test("are refused when a member has no meaning, and leave nothing behind", async () => {
    await using t = await startTestService();
    const wrong = [
      { id: "-x" },
      { id: "a b" },
      { name: " " },
      { sourceQuery: "" },
      { maxTokens: 255 },
      { maxTokens: 8193 },
      { trigger: { ...trigger, factTypes: { values: [] } } },
      { trigger: { ...trigger, refreshCron: "every day" } },
      { trigger: { ...trigger, refreshCron: "* * * * * *" } },
      { trigger: { ...trigger, refreshCron: "0 8 * * *", refreshAfterConsolidation: true } },
      { trigger: { ...trigger, responseSchema: { type: "object", properties: {} } } },
    ];
    for (const parts of wrong) {
      const refused = t.api.createMentalModel(t.ctx, newModel(parts));
      await expect(refused, JSON.stringify(parts)).rejects.toMatchObject({ code: "invalid_argument", violations: [{}] });
    }
    await t.api.createMentalModel(t.ctx, newModel());
    await expect(t.api.createMentalModel(t.ctx, newModel())).rejects.toMatchObject({
      code: "already_exists",
      message: "Mental model 'homes' already exists",
    });
    expect((await t.api.listMentalModels(t.ctx, { bankId, detail: "", limit: 0, offset: 0 })).total).toBe(1);
  });

  test("list their tags by use, by a pattern that is literal but for the star", async () => {
    await using t = await startTestService();
    await t.api.createMentalModel(t.ctx, newModel({ id: "a", tags: ["Team:x", "b.c"] }));
    await t.api.createMentalModel(t.ctx, newModel({ id: "b", tags: ["Team:x"] }));
    const tags = async (pattern?: string) =>
      (await t.api.listMentalModelTags(t.ctx, { bankId, limit: 10, offset: 0, ...(pattern ? { pattern } : {}) })).tags;
    expect(await tags()).toEqual([
      { tag: "Team:x", count: 2 },
      { tag: "b.c", count: 1 },
    ]);
    expect(await tags("team:*")).toEqual([{ tag: "Team:x", count: 2 }]);
    expect(await tags("b?c")).toEqual([]);
  });
});

describe("refreshing by delta", () => {
  const delta = { trigger: { ...trigger, mode: "delta" } };

  test("adds what is new, takes out what is gone, and leaves the rest word for word", async () => {
    await using t = await startTestService();
    const gone = t.world.add("Maria lives in Berlin.");
    t.world.add("Maria lives with Tom.");
    await refreshed(t, delta);
    t.world.remove(gone);
    t.world.add("Maria lives in Porto.");
    const { details, model } = await refreshAgain(t);
    expect(model.content).toBe("- Maria lives with Tom. (2026-01-01)\n- Maria lives in Porto. (2026-01-01)");
    expect(details).toMatchObject({ outcome: "content_written" });
    expect(model.reflectResponse).toMatchObject({
      delta_applied: true,
      delta_operations_applied: 2,
      delta_operations_skipped: 0,
    });
  });

  test("moves a fact that was replaced under its own heading", async () => {
    await using t = await startTestService();
    const old = t.world.add("Maria lives in Berlin.");
    await refreshed(t, delta);
    t.world.change(old, { isSuperseded: true });
    t.world.add("Maria lives in Porto.");
    const { model } = await refreshAgain(t);
    expect(model.content).toBe(
      "- Maria lives in Porto. (2026-01-01)\n\n## Earlier, since replaced\n\n- Maria lives in Berlin. (2026-01-01)",
    );
  });

  test("lets an observation take over the lines of its sources", async () => {
    await using t = await startTestService();
    const sources = [t.world.add("Maria lives in Porto."), t.world.add("Maria lives in Porto, Portugal.")];
    await refreshed(t, delta);
    t.world.add("Maria lives alone.");
    t.world.add("Maria lives in Porto in Portugal.", { type: "observation", sources });
    const { model } = await refreshAgain(t);
    expect(model.content).toBe("- Maria lives in Porto in Portugal. (2026-01-01)\n- Maria lives alone. (2026-01-01)");
    expect(model.reflectResponse?.["based_on"].observation).toHaveLength(1);
    expect(model.reflectResponse?.["based_on"].world).toHaveLength(1);
  });

  test("keeps the content when nothing is new, and says so", async () => {
    await using t = await startTestService();
    t.world.add("Maria lives in Porto.");
    const before = await refreshed(t, delta);
    const recalls = t.world.calls.recall;
    const { details, model } = await refreshAgain(t);
    expect(details).toMatchObject({ outcome: "content_preserved_no_new_facts", failure_reason: null });
    expect(model).toMatchObject({ content: before.content, isStale: false, reflectResponse: { refresh_skipped: true } });
    expect(t.world.calls.recall).toBe(recalls);
  });

  test("is full after a change of the question", async () => {
    await using t = await startTestService();
    t.world.add("Maria lives in Porto.");
    t.world.add("Tom plays chess.");
    await refreshed(t, delta);
    await t.api.updateMentalModel(t.ctx, { ...named("homes"), sourceQuery: "Who plays chess?" });
    const { model } = await refreshAgain(t);
    expect(model.content).toBe("- Tom plays chess. (2026-01-01)");
  });

  test("keeps a content that cannot be taken apart, and fails the operation", async () => {
    await using t = await startTestService();
    t.world.add("Maria lives here:\n```\ncode");
    const broken = "```\nopen fence";
    await refreshed(t, delta);
    await t.storage.store.update(bankUid, "homes", (model) => ({ ...model, content: broken }), t.time.now());
    t.world.add("Maria lives in Porto.");
    const { status, details, model } = await refreshAgain(t);
    expect({ status, content: model.content }).toEqual({ status: "failed", content: broken });
    expect(details).toMatchObject({
      outcome: "refresh_failed_delta_not_applied",
      failure_reason: "structured_doc_unreadable",
    });
  });
});

describe("refreshing by itself", () => {
  const consolidated = (tagSets: readonly string[][]) => ({ bankUid, status: "completed", tagSets, other: "member" });
  const automatic = { trigger: { ...trigger, refreshAfterConsolidation: true } };
  const pendingOf = async (t: TestService) =>
    (await t.api.listOperations(t.ctx, { ...listed, status: "pending" })).operations.map(({ mentalModelId }) => mentalModelId);

  test("follows consolidation for stale models whose tags it touched", async () => {
    await using t = await startTestService();
    await refreshed(t, { id: "manual", tags: ["a"] });
    await refreshed(t, { ...automatic, id: "fresh", tags: ["b"] });
    await refreshed(t, { ...automatic, id: "other", tags: ["c"] });
    await refreshed(t, { ...automatic, id: "touched", tags: ["a"] });
    await refreshed(t, { ...automatic, id: "everything" });
    t.world.add("Maria lives in Porto.", { tags: ["a"] });
    t.world.add("Maria lives in Porto.", { tags: ["c"] });
    t.config["mental_model_min_refresh_interval_seconds"] = 3_600;
    await t.tell(consolidated([["a"], ["b"]]));
    expect((await pendingOf(t)).sort()).toEqual(["everything", "touched"]);
    await t.tell({ ...consolidated([["c"]]), status: "failed" });
    expect((await pendingOf(t)).sort()).toEqual(["everything", "touched"]);
  });

  test("waits for the minimum interval, unless somebody asks", async () => {
    await using t = await startTestService();
    const model = await refreshed(t, { trigger: { ...automatic.trigger, minRefreshIntervalSeconds: 600 } });
    t.world.add("Maria lives in Porto.");
    await t.tell(consolidated([[]]));
    const [parked] = (await t.api.listOperations(t.ctx, { ...listed, status: "pending" })).operations;
    expect(parked!.nextRetryAtUs).toBe(model.lastRefreshedAtUs! + 600_000_000);
    await t.time.advance(300_000);
    expect(await pendingOf(t)).toEqual(["homes"]);
    const { operationId } = await t.api.refreshMentalModel(t.ctx, named("homes"));
    expect(operationId).toBe(parked!.id);
    expect(await t.ended(operationId)).toMatchObject({ status: "completed" });
  });

  test("keeps a schedule in UTC, once for what it missed", async () => {
    await using t = await startTestService(); // 2026-01-01 00:00
    const hourly = { trigger: { ...trigger, refreshCron: "30 * * * *" } };
    const first = await refreshed(t, hourly);
    await t.time.advance(20 * 60_000);
    expect((await t.api.getMentalModel(t.ctx, named("homes"))).lastRefreshedAtUs).toBe(first.lastRefreshedAtUs);
    await t.time.advance(15 * 60_000);
    const second = await t.api.getMentalModel(t.ctx, named("homes"));
    expect(second.lastRefreshedAtUs).toBeGreaterThan(first.lastRefreshedAtUs!);
    expect((await t.api.listOperations(t.ctx, listed)).total).toBe(2);
    await t.time.advance(5 * 60_000);
    expect((await t.api.listOperations(t.ctx, listed)).total).toBe(2);
  });
});

describe("operations", () => {
  test("a refresh whose peer fails is tried again, fails after that, and can be queued anew", async () => {
    await using t = await startTestService();
    t.world.add("Maria lives in Porto.");
    const works = t.world.client.recall;
    Object.assign(t.world.client, { recall: () => Promise.reject(new Error("secret detail")) });
    const { operationId } = await t.api.createMentalModel(t.ctx, newModel());
    const failed = await t.ended(operationId);
    expect(failed).toMatchObject({ status: "failed" });
    const record = await t.api.getOperation(t.ctx, operation(operationId));
    expect(record).toMatchObject({
      type: "refresh_mental_model",
      retryCount: 3,
      mentalModelId: "homes",
      payload: { bank_id: bankId },
    });
    expect(record.errorMessage).not.toContain("secret");
    await t.time.until(async () => t.audited.length === 1);
    expect(t.audited[0]).toMatchObject({ response: undefined, metadata: { error: record.errorMessage } });
    expect(await t.api.getMentalModel(t.ctx, named("homes"))).toMatchObject({ content: "Generating content...", isStale: true });
    Object.assign(t.world.client, { recall: works });
    await t.api.retryOperation(t.ctx, operation(operationId));
    expect(await t.ended(operationId)).toMatchObject({ status: "completed" });
    expect(await t.api.countOperations(t.ctx, { bankId })).toEqual({ byStatus: { completed: 1 } });
    await t.api.deleteOperation(t.ctx, operation(operationId));
    expect(await t.api.countOperations(t.ctx, { bankId })).toEqual({ byStatus: {} });
  });

  test("a refresh that ends leaves an entry in the audit log: how it ended, and what it was asked", async () => {
    await using t = await startTestService();
    t.world.add("Maria lives in Porto.");
    const { operationId } = await t.api.createMentalModel(t.ctx, newModel());
    await t.ended(operationId);
    await t.time.until(async () => t.audited.length === 1);
    const entry = { action: "refresh_mental_model", transport: "system", bankId, tenantId: "tenant" };
    expect(t.audited).toMatchObject([
      {
        ...entry,
        request: { mental_model_id: "homes" },
        response: { status: "completed", operation_id: operationId },
        metadata: {},
      },
    ]);
  });

  test("a waiting refresh can be cancelled, and goes with its model", async () => {
    await using t = await startTestService();
    await refreshed(t);
    const parked = async () => {
      t.config["mental_model_min_refresh_interval_seconds"] = 3_600;
      await t.api.updateMentalModel(t.ctx, { ...named("homes"), trigger: { ...trigger, refreshAfterConsolidation: true } });
      t.world.add("Maria lives in Porto.");
      await t.tell({ bankUid, status: "completed", tagSets: [] });
      return (await t.api.listOperations(t.ctx, { ...listed, status: "pending" })).operations[0]!.id;
    };
    const first = await parked();
    await t.api.cancelOperation(t.ctx, operation(first));
    expect((await t.api.getOperation(t.ctx, operation(first))).status).toBe("cancelled");
    await expect(t.api.cancelOperation(t.ctx, operation(first))).rejects.toMatchObject({ code: "failed_precondition" });
    const second = await parked();
    await t.api.deleteMentalModel(t.ctx, named("homes"));
    expect((await t.api.getOperation(t.ctx, operation(second))).status).toBe("cancelled");
    await expect(t.api.deleteMentalModel(t.ctx, named("homes"))).rejects.toMatchObject({ code: "not_found" });
    const unknown = operation(crypto.randomUUID());
    await expect(t.api.getOperation(t.ctx, unknown)).rejects.toMatchObject({
      message: `Operation ${unknown.operationId} not found for bank ${bankId}`,
    });
  });

  test("a dead bank shows nothing, takes nothing, and is purged", async () => {
    await using t = await startTestService();
    await refreshed(t);
    expect(await t.internal.fence(t.ctx, { bankUid })).toEqual({ hiddenCount: 1 });
    expect(await t.internal.fence(t.ctx, { bankUid })).toEqual({ hiddenCount: 0 });
    await expect(t.api.getMentalModel(t.ctx, named("homes"))).rejects.toMatchObject({ code: "not_found" });
    await expect(t.api.createMentalModel(t.ctx, newModel({ id: "late" }))).rejects.toMatchObject({ reason: "BANK_NOT_FOUND" });
    expect(await t.internal.purge(t.ctx, { bankUid })).toEqual({ done: true });
    expect((await t.api.listOperations(t.ctx, listed)).total).toBe(0);
  });
});
