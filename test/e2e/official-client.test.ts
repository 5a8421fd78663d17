import { createClient, createConfig, HindsightClient, HindsightError, sdk } from "@vectorize-io/hindsight-client";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { eventually } from "../support/api.ts";
import { createContractCheck, fetchOpenApi } from "../support/openapi.ts";
import { freshBank, owner } from "./service.ts";

// The published client calls the global fetch; here every answer that it gets is judged by the API description, too.
const plainFetch = globalThis.fetch;
const contract = fetchOpenApi(owner.url).then(createContractCheck);
beforeAll(() => {
  vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const response = await plainFetch(request);
    const { method, url } = request;
    const path = url.slice(owner.url.length);
    (await contract)({ method, path, status: response.status, headers: response.headers, text: await response.clone().text() });
    return response;
  });
  return () => vi.unstubAllGlobals();
});

const called = new Set<string>();
/** The same object, which notes the methods that are called. */
const noting = <T extends object>(target: T, prefix: string): T =>
  new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name);
      if (typeof member !== "function") return member;
      called.add(prefix + String(name));
      return member.bind(object);
    },
  });
const client = noting(new HindsightClient({ baseUrl: owner.url, apiKey: owner.key }), "");
const api = noting(sdk, "sdk.");
const low = createClient(createConfig({ baseUrl: owner.url, headers: { authorization: `Bearer ${owner.key}` } }));

/** What a low-level call answered; fails when it is an error. */
async function data<T extends { readonly data?: unknown; readonly error?: unknown }>(
  call: Promise<T>,
): Promise<NonNullable<T["data"]>> {
  const { data, error } = await call;
  if (data === undefined || data === null) expect.fail(JSON.stringify(error));
  return data;
}
const statusOf = async (call: Promise<{ response: Response }>) => (await call).response.status;

const ended = (bankId: string, operationId: string) =>
  eventually(`operation ${operationId} ends`, async () => {
    const operation = await data(
      api.getOperationStatus({
        client: low,
        path: { bank_id: bankId, operation_id: operationId },
        query: { include_payload: true },
      }),
    );
    return ["completed", "failed", "cancelled"].includes(operation.status) && operation;
  });

describe("the published TypeScript client", () => {
  test("banks and configuration", async () => {
    const { bankId } = freshBank("client");
    const version = await client.getVersion();
    expect(version.features).toMatchObject({
      observations: true,
      bank_config_api: true,
      audit_log: true,
      file_upload_api: false,
    });
    const created = await client.createBank(bankId, {
      name: "Support",
      background: "Help customers.",
      disposition: { skepticism: 4, literalism: 2, empathy: 5 },
      retainMission: "Note promises.",
      enableObservations: false,
    });
    expect(created).toEqual({
      bank_id: bankId,
      name: "Support",
      mission: "Help customers.",
      background: "Help customers.",
      disposition: { skepticism: 4, literalism: 2, empathy: 5 },
    });
    expect((await client.setMission(bankId, "Follow the sprint.")).mission).toBe("Follow the sprint.");
    expect(await client.getBankProfile(bankId)).toMatchObject({ name: "Support", mission: "Follow the sprint." });
    const config = await client.updateBankConfig(bankId, { retainChunkSize: 1200, dispositionEmpathy: 1 });
    expect(config.overrides).toMatchObject({ retain_chunk_size: 1200, disposition_empathy: 1, retain_mission: "Note promises." });
    expect((await client.getBankConfig(bankId)).config).toMatchObject({ retain_chunk_size: 1200, enable_observations: false });
    expect((await client.resetBankConfig(bankId)).overrides).toEqual({});

    const path = { bank_id: bankId };
    expect(await data(api.updateBank({ client: low, path, body: { name: "Renamed" } }))).toMatchObject({ name: "Renamed" });
    expect(
      (
        await data(
          api.updateBankDisposition({
            client: low,
            path,
            body: { disposition: { skepticism: 1, literalism: 1, empathy: 1 } },
          }),
        )
      ).disposition,
    ).toEqual({ skepticism: 1, literalism: 1, empathy: 1 });
    const merged = await data(api.addBankBackground({ client: low, path, body: { content: "Answer in German." } }));
    expect(merged.mission).toContain("Answer in German.");
    const { banks } = await data(api.listBanks({ client: low, query: { q: bankId } as never }));
    expect(banks).toMatchObject([{ bank_id: bankId, name: "Renamed", fact_count: 0 }]);
    expect((await data(api.testBankLlm({ client: low, path }))).operations.length).toBeGreaterThan(0);
    await client.deleteBank(bankId);
    await expect(client.getBankProfile(bankId)).rejects.toMatchObject({ statusCode: 404, details: `Bank '${bankId}' not found` });
  });

  test("retain, batch and asynchronous retain; operations", async () => {
    const { bankId } = freshBank("client");
    const path = { bank_id: bankId };
    expect(
      await client.retain(bankId, "Bob went hiking in the mountains.", {
        timestamp: new Date("2024-01-15T10:30:00Z"),
        context: "outdoors",
        metadata: { source: "chat" },
        documentId: "hike",
        entities: [{ text: "Alps", type: "LOCATION" }],
        tags: ["sport"],
        observationScopes: "combined",
        updateMode: "replace",
      }),
    ).toMatchObject({ success: true, bank_id: bankId, items_count: 1, async: false, usage: { total_tokens: 0 } });
    const batch = await client.retainBatch(
      bankId,
      [
        { content: "Charlie reads science fiction." },
        { content: "Eve completed a marathon last month.", timestamp: "2024-10-15" },
      ],
      { documentTags: ["batch"] },
    );
    expect(batch.items_count).toBe(2);
    const operationId = crypto.randomUUID();
    const queued = await client.retain(bankId, "The ferry leaves at nine.", { async: true, operationId });
    expect(queued).toMatchObject({ async: true, operation_id: operationId });
    expect(queued.usage).toBeUndefined();
    expect(await ended(bankId, operationId)).toMatchObject({ status: "completed", operation_type: "batch_retain" });
    const { operations } = await data(api.listOperations({ client: low, path, query: { status: "completed", limit: 100 } }));
    expect(operations.map((operation) => operation.id)).toContain(operationId);

    const operation = { bank_id: bankId, operation_id: operationId };
    expect(await statusOf(api.cancelOperation({ client: low, path: operation }))).toBe(409);
    expect(await statusOf(api.retryOperation({ client: low, path: operation }))).toBe(409);
    expect(await data(api.deleteOperation({ client: low, path: operation }))).toMatchObject({
      success: true,
      operation_id: operationId,
    });
    expect((await data(api.getOperationStatus({ client: low, path: operation }))).status).toBe("not_found");
    await expect(client.retain(bankId, "   ")).rejects.toBeInstanceOf(HindsightError);
  });

  test("recall, reflect, list, edit; graph, tags and entities", async () => {
    const { bankId } = freshBank("client");
    const path = { bank_id: bankId };
    await client.retainBatch(bankId, [
      { content: "Alice works at Google as a software engineer.", tags: ["work"] },
      { content: "Bob is friends with Alice and works at Microsoft.", tags: ["work"] },
      { content: "Diana plays the violin." },
    ]);
    const recalled = await client.recall(bankId, "Where does Alice work?", {
      types: ["world"],
      maxTokens: 2048,
      trace: true,
      includeChunks: true,
      includeSourceFacts: true,
      tags: ["work"],
      tagsMatch: "any_strict",
    });
    expect(recalled.results[0]?.text).toContain("Alice works at Google");
    expect(recalled.entities).toHaveProperty("Alice");
    expect(Object.keys(recalled.chunks!).length).toBeGreaterThan(0);
    expect(recalled.trace).toBeTypeOf("object");
    const narrow = await client.recall(bankId, "Where does Alice work?", {
      includeEntities: false,
      tagGroups: [{ tags: ["work"], match: "all_strict" }],
      minScores: { final: -1 },
      queryTimestamp: "2026-01-01T00:00:00Z",
    });
    expect(narrow.entities).toBeFalsy();
    expect(narrow.results.length).toBe(2);
    const answer = await client.reflect(bankId, "What does Alice do?", {
      context: "for a card",
      includeFacts: true,
      includeToolCalls: true,
      factTypes: ["world"],
      responseSchema: { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] },
    });
    expect(answer.text).toContain("Google");
    expect(answer.based_on?.memories?.length).toBeGreaterThan(0);
    expect(answer.structured_output).toHaveProperty("answer");
    expect(answer.trace?.tool_calls?.length).toBeGreaterThan(0);

    const listed = await client.listMemories(bankId, { limit: 1, q: "violin", state: "valid", type: "world" });
    expect(listed).toMatchObject({ total: 1, limit: 1, offset: 0, items: [{ text: "Diana plays the violin." }] });
    const memory = { bank_id: bankId, memory_id: String(listed.items[0]?.["id"]) };
    expect(await data(api.getMemory({ client: low, path: memory }))).toMatchObject({ id: memory.memory_id, history: [] });
    expect(await data(api.getObservationHistory({ client: low, path: memory }))).toEqual([]);
    const edited = await data(api.updateMemory({ client: low, path: memory, body: { text: "Diana plays the cello." } }));
    expect(edited).toMatchObject({ text: "Diana plays the cello." });
    expect(await data(api.clearMemoryObservations({ client: low, path: memory }))).toEqual({ deleted_count: 0 });

    expect(await data(api.getGraph({ client: low, path }))).toMatchObject({ total_units: 3, limit: 1000 });
    expect((await data(api.listTags({ client: low, path, query: { q: "wo*" } }))).items).toEqual([{ tag: "work", count: 2 }]);
    const entities = await data(api.listEntities({ client: low, path }));
    const alice = entities.items.find((entity) => entity.canonical_name === "Alice");
    expect(alice).toMatchObject({ mention_count: 2 });
    const entity = { bank_id: bankId, entity_id: alice!.id };
    expect(await data(api.getEntity({ client: low, path: entity }))).toMatchObject({ id: alice!.id, observations: [] });
    expect(await statusOf(api.regenerateEntityObservations({ client: low, path: entity }))).toBe(410);
    expect((await data(api.getEntityGraph({ client: low, path }))).total_edges).toBeGreaterThan(0);
    const stats = await data(api.getAgentStats({ client: low, path }));
    expect(stats).toMatchObject({ bank_id: bankId, total_nodes: 3, total_documents: 3 });
    const series = await data(api.getMemoriesTimeseries({ client: low, path, query: { period: "1d" } }));
    expect(series.buckets!.reduce((sum, bucket) => sum + (bucket.world ?? 0), 0)).toBe(3);

    expect(await data(api.triggerConsolidation({ client: low, path }))).toHaveProperty("operation_id");
    expect(await data(api.recoverConsolidation({ client: low, path }))).toEqual({ retried_count: 0 });
    expect(await data(api.listObservationScopes({ client: low, path }))).toHaveProperty("scopes");
    expect(await data(api.clearObservations({ client: low, path }))).toMatchObject({ success: true });
    expect(await data(api.clearBankMemories({ client: low, path }))).toMatchObject({ success: true });
    expect((await client.listMemories(bankId)).total).toBe(0);
  });

  test("documents and chunks", async () => {
    const { bankId } = freshBank("client");
    await client.retain(bankId, "The quarry at Solnhofen opened in 1898.", { documentId: "notes/1", tags: ["old"] });
    expect((await client.listDocuments(bankId, { limit: 10 })).items).toMatchObject([{ id: "notes/1", memory_unit_count: 1 }]);
    expect(await client.getDocument(bankId, "notes/1")).toMatchObject({
      original_text: "The quarry at Solnhofen opened in 1898.",
    });
    expect(await client.getDocument(bankId, "absent")).toBeNull();
    expect(await client.updateDocument(bankId, "notes/1", { tags: ["new"] })).toEqual({ success: true });
    expect((await client.getDocument(bankId, "notes/1"))?.tags).toEqual(["new"]);
    const document = { bank_id: bankId, document_id: "notes/1" };
    const chunks = await data(api.listDocumentChunks({ client: low, path: document }));
    const chunkId = chunks.items[0]!.chunk_id;
    expect(await data(api.getChunk({ client: low, path: { chunk_id: chunkId } }))).toMatchObject({
      chunk_id: chunkId,
      chunk_text: "The quarry at Solnhofen opened in 1898.",
    });
    const again = await data(api.reprocessDocument({ client: low, path: document }));
    expect(await ended(bankId, again.operation_id)).toMatchObject({ status: "completed" });
    await client.deleteDocument(bankId, "notes/1");
    expect(await client.getDocument(bankId, "notes/1")).toBeNull();
    await expect(client.deleteDocument(bankId, "notes/1")).rejects.toThrow("Document not found");
  });

  test("directives and mental models", async () => {
    const { bankId } = freshBank("client");
    const directive = await client.createDirective(bankId, "Language", "Answer in German.", { priority: 3, tags: ["t"] });
    expect(await client.getDirective(bankId, directive.id)).toEqual(directive);
    expect(await client.updateDirective(bankId, directive.id, { isActive: false })).toMatchObject({
      is_active: false,
      priority: 3,
    });
    expect((await client.listDirectives(bankId)).items).toEqual([]); // only active ones unless asked
    await client.deleteDirective(bankId, directive.id);
    await expect(client.getDirective(bankId, directive.id)).rejects.toMatchObject({ statusCode: 404 });

    await client.retain(bankId, "The billing run failed twice in March.", { tags: ["billing"] });
    const made = await client.createMentalModel(bankId, "Billing", "What goes wrong in billing?", {
      id: "billing",
      tags: ["billing"],
      maxTokens: 512,
      trigger: { refreshAfterConsolidation: true, tagsMatch: "any" },
    });
    expect(made.mental_model_id).toBe("billing");
    expect(await ended(bankId, made.operation_id!)).toMatchObject({ status: "completed" });
    const model = await client.getMentalModel(bankId, "billing", { detail: "full" });
    expect(model).toMatchObject({ max_tokens: 512, trigger: { tags_match: "any", refresh_after_consolidation: true } });
    expect(model.content).toContain("billing run failed");
    expect((await client.listMentalModels(bankId, { tags: ["billing"], detail: "metadata" })).items).toMatchObject([
      { id: "billing", content: null },
    ]);
    await expect(client.createMentalModel(bankId, "Again", "Why?", { id: "billing" })).rejects.toMatchObject({ statusCode: 409 });
    expect(await client.updateMentalModel(bankId, "billing", { name: "Bills", trigger: {} })).toMatchObject({
      name: "Bills",
      trigger: { refresh_after_consolidation: false },
    });
    expect((await client.clearMentalModel(bankId, "billing")).content).toBe("");
    const refresh = await client.refreshMentalModel(bankId, "billing");
    expect(await ended(bankId, refresh.operation_id)).toMatchObject({ status: "completed" });
    expect(await client.getMentalModelHistory(bankId, "billing")).toBeInstanceOf(Array);
    await client.deleteMentalModel(bankId, "billing");
    await expect(client.getMentalModel(bankId, "billing")).rejects.toMatchObject({ statusCode: 404 });
  });

  test("webhooks, audit log and health", async () => {
    const { bankId } = freshBank("client");
    const path = { bank_id: bankId };
    await client.createBank(bankId);
    const webhook = await data(
      api.createWebhook({ client: low, path, body: { url: "https://hooks.example.com/m", secret: "s" } }),
    );
    expect(webhook).toMatchObject({ event_types: ["consolidation.completed"], enabled: true });
    const one = { bank_id: bankId, webhook_id: webhook.id };
    expect((await data(api.listWebhooks({ client: low, path }))).items).toHaveLength(1);
    expect(await data(api.updateWebhook({ client: low, path: one, body: { enabled: false } }))).toMatchObject({ enabled: false });
    expect(await data(api.listWebhookDeliveries({ client: low, path: one }))).toEqual({ items: [], next_cursor: null });
    expect(await data(api.deleteWebhook({ client: low, path: one }))).toMatchObject({ success: true });
    expect(await data(api.listAuditLogs({ client: low, path }))).toMatchObject({ bank_id: bankId, limit: 50, offset: 0 });
    expect(await data(api.auditLogStats({ client: low, path, query: { period: "1d" } }))).toMatchObject({
      period: "1d",
      trunc: "hour",
    });
    expect(await data(api.healthEndpointHealthGet({ client: low }))).toMatchObject({ status: "healthy" });
    expect(await data(api.getReadiness({ client: low }))).toMatchObject({ status: "healthy" });
    expect(await data(api.getLiveness({ client: low }))).toMatchObject({ status: "alive" });
    expect(await data(api.metricsEndpointMetricsGet({ client: low, parseAs: "text" }))).toContain("# TYPE");
  });

  test("areas that this service does not have answer 404, in the words that the client reads", async () => {
    const { bankId } = freshBank("client");
    await client.createBank(bankId);
    const absent = { statusCode: 404, details: "Not Found" };
    for (const call of [
      () => client.retainFiles(bankId, [new Blob(["x"])]),
      () => client.dryRunRefreshMentalModel(bankId, "m"),
      () => client.getKnowledgeBaseTree(bankId),
      () => client.createKnowledgeFolder(bankId, "f"),
      () => client.createKnowledgePage(bankId, "p", "q"),
      () => client.getKnowledgePage(bankId, "p"),
      () => client.searchKnowledgeBase(bankId, "q"),
      () => client.updateKnowledgeNode(bankId, "n", { name: "x" }),
      () => client.deleteKnowledgeNode(bankId, "n"),
      () => client.exportKnowledgeBase(bankId),
      () => client.exportDocuments(bankId),
    ]) {
      await expect(call()).rejects.toMatchObject(absent);
    }
  });

  /** Calls that no method of the client makes, of areas that this service does not have (rank P2) or that were withdrawn. */
  const absentCalls = new Set([
    ...["dryRunExtractMemories", "importBankTemplate", "exportBankTemplate", "getBankTemplateSchema", "importDocuments"],
    ...["downloadFile", "listLlmRequests", "llmRequestStats", "exportDocumentsSyncRemoved"],
  ]);

  test("every method of the client and every call of its library was exercised", () => {
    const methods = Object.getOwnPropertyNames(HindsightClient.prototype).filter(
      (name) => name !== "constructor" && name !== "validateResponse",
    );
    expect(methods.filter((name) => !called.has(name))).toEqual([]);
    // What a method of the client calls is covered with it; the rest is called by name above.
    const source = methods.map((name) => String(Reflect.get(HindsightClient.prototype, name))).join("\n");
    const untried = Object.keys(sdk).filter(
      (name) => !called.has(`sdk.${name}`) && !source.includes(`${name}(`) && !absentCalls.has(name),
    );
    expect(untried).toEqual([]);
  });
});
