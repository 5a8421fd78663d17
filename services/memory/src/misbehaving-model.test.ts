import { openLanguageModel } from "@memory-bank/models";
import { silentLogger } from "@memory-bank/telemetry";
import { describe, expect, test, vi } from "vitest";
import { type ChatRequest, type Reply, startOpenaiServer } from "../../../test/fakes/openai-server.ts";
import { expectTrueCounts } from "./store/recount.ts";
import { ctx, everything, item, retainOf, startTestService } from "./test-service.ts";

/** Retain and consolidation over a language model that is reached by HTTP and misbehaves on the way. */

const attemptTimeoutMs = 400;
const retryAfter = { "retry-after": "0.05" };
const bankUid = "uid-b";

type Script = (request: ChatRequest, nth: number) => Reply;
interface Scripts {
  readonly facts: Script;
  readonly observations: Script;
}

/** The memory service over a server whose n-th answer per task (from 0) is scripted. */
async function start({ facts = echoFacts, observations = oneForEach }: Partial<Scripts> = {}) {
  const scripts: Scripts = { facts, observations };
  const asked = { facts: 0, observations: 0 };
  const server = await startOpenaiServer((request) => {
    const task = request.response_format?.json_schema?.name as keyof Scripts;
    return scripts[task](request, asked[task]++);
  });
  const { baseUrl } = server;
  const languageModel = await openLanguageModel(
    { kind: "openai", baseUrl, apiKey: "key", model: "scripted", attemptTimeoutMs },
    { log: silentLogger },
  );
  const memory = await startTestService({ languageModel, config: { llm_provider: "openai" } });
  await memory.service.start();
  const units = async () => (await memory.store.listUnits(bankUid, everything)).items;
  return {
    asked,
    ...{ client: memory.client, store: memory.store },
    tell: (...texts: string[]) => memory.client.retain(ctx(), retainOf(texts.map((text) => item(text)))),
    facts: async () => (await units()).filter(({ type }) => type !== "observation"),
    observations: async () => (await units()).filter(({ type }) => type === "observation"),
    async consolidate() {
      const { operationId } = await memory.client.consolidate(ctx(), { bankId: "b" });
      return operationId;
    },
    operation: (operationId: string) => memory.client.getOperation(ctx(), { bankId: "b", operationId, includePayload: false }),
    async consolidated() {
      const operationId = await this.consolidate();
      await vi.waitFor(async () => expect(await this.operation(operationId)).toMatchObject({ status: "completed" }), {
        timeout: 8_000,
      });
    },
    async [Symbol.asyncDispose]() {
      await memory[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const block = (request: ChatRequest, name: string) => {
  const prompt = request.messages.findLast(({ role }) => role === "user")!.content!;
  return JSON.parse(new RegExp(`<${name}>\n([\\s\\S]*?)\n</${name}>`).exec(prompt)![1]!);
};
const shownFacts = (request: ChatRequest): { id: string; text: string }[] => block(request, "facts");
const json = (value: unknown): Reply => ({ text: JSON.stringify(value) });

/** A model that does its work: the text is the fact, and each fact is worth an observation. */
const echoFacts: Script = (request) => json({ facts: [{ what: block(request, "text"), class: "world", kind: "conversation" }] });
const oneForEach: Script = (request) =>
  json({ creates: shownFacts(request).map(({ id, text }) => ({ text: `Known: ${text}`, fact_ids: [id] })) });
const firstThen =
  (first: Reply, then: Script): Script =>
  (request, nth) =>
    nth === 0 ? first : then(request, nth);

/** What comes instead of the first answer. */
const misdeeds: readonly (readonly [string, Reply])[] = [
  ["no answer at all", "silence"],
  ["429 with Retry-After", { status: 429, headers: retryAfter }],
  ["500", { status: 500, headers: retryAfter }],
  ["a connection that is reset", "reset"],
  ["half an answer", "half"],
  ["half a JSON", { text: '{"facts": [{"what": "Ann li' }],
  ["JSON of another shape", json({ facts: "many", creates: "some" })],
  ["a refusal", { refusal: "I cannot help with that." }],
];

describe("retain", () => {
  test.concurrent.each(misdeeds)("%s at first: the second answer is stored, once", async (_, first) => {
    await using bank = await start({ facts: firstThen(first, echoFacts) });
    await bank.tell("Ann lives in Porto.");
    expect((await bank.facts()).map(({ text }) => text)).toEqual(["Ann lives in Porto."]);
    expect(bank.asked.facts).toBe(2);
    await expectTrueCounts(bank.store, bankUid);
  });

  test.concurrent("a slow answer is waited for", async () => {
    const slowly: Script = (request, nth) => ({
      ...(echoFacts(request, nth) as { text: string }),
      delayMs: attemptTimeoutMs / 2,
    });
    await using bank = await start({ facts: slowly });
    await bank.tell("Ann lives in Porto.");
    expect(bank.asked.facts).toBe(1);
    expect(await bank.facts()).toHaveLength(1);
  });

  test.concurrent.each([
    ["refusals", { refusal: "no" }, "unavailable", 3],
    ["another shape", json([]), "unavailable", 3],
    ["429", { status: 429, headers: retryAfter }, "resource_exhausted", 4],
  ] as const)("%s for ever: the call fails after a bounded number of questions and leaves nothing", async (...row) => {
    const [, reply, code, questions] = row;
    await using bank = await start({ facts: () => reply });
    await expect(bank.tell("Ann lives in Porto.")).rejects.toMatchObject({ code });
    expect(bank.asked.facts).toBe(questions);
    expect(await bank.facts()).toEqual([]);
    expect(await bank.store.seq(bankUid)).toBe(0);
  });
});

describe("consolidation", () => {
  test.concurrent.each(misdeeds)("%s at first: every fact is consolidated, none twice", async (_, first) => {
    await using bank = await start({ observations: firstThen(first, oneForEach) });
    await bank.tell("Ann lives in Porto.", "Ben keeps bees in Graz.");
    await bank.consolidated();
    const facts = await bank.facts();
    expect(facts.every(({ consolidatedAtUs }) => consolidatedAtUs !== undefined)).toBe(true);
    expect((await bank.observations()).map(({ text }) => text).sort()).toEqual(facts.map(({ text }) => `Known: ${text}`).sort());
    await expectTrueCounts(bank.store, bankUid);
  });

  test.concurrent("ids that were never given out touch nothing, and nothing is observed without a source", async () => {
    const hallucinating: Script = (request) => {
      const [fact] = shownFacts(request);
      return json({
        deletes: [{ observation_id: "o99" }, { observation_id: fact!.id }],
        updates: [{ observation_id: "o77", text: "From nowhere", fact_ids: [fact!.id] }],
        creates: [
          { text: "Ann lives in Porto", fact_ids: [fact!.id, "f99", crypto.randomUUID()], outdated_fact_ids: ["f98"] },
          { text: "Nobody said so", fact_ids: ["f99"] },
        ],
      });
    };
    await using bank = await start({ observations: hallucinating });
    await bank.tell("Ann lives in Porto.");
    await bank.consolidated();
    const [fact] = await bank.facts();
    expect(fact).toMatchObject({ state: "valid", supersededBy: [] });
    const observed = (await bank.observations()).map(({ text, sourceUnitIds }) => ({ text, sourceUnitIds }));
    expect(observed).toEqual([{ text: "Ann lives in Porto", sourceUnitIds: [fact!.unitId] }]);
  });

  test.concurrent("a fact that the model never manages is given up alone, and comes back with recover", async () => {
    let isStubborn = true;
    const stubborn: Script = (request, nth) =>
      isStubborn && shownFacts(request).some(({ text }) => text.includes("bees")) ? { refusal: "no" } : oneForEach(request, nth);
    await using bank = await start({ observations: stubborn });
    await bank.tell("Ann lives in Porto.", "Ben keeps bees in Graz.", "Cleo paints boats.", "Dan rows to Faro.");
    await bank.consolidated();
    expect(await bank.store.stats(bankUid)).toMatchObject({ pendingConsolidation: 0, failedConsolidation: 1 });
    expect(await bank.observations()).toHaveLength(3);
    isStubborn = false;
    expect(await bank.client.recoverConsolidation(ctx(), { bankId: "b" })).toEqual({ retriedCount: 1 });
    await bank.consolidated();
    expect(await bank.store.stats(bankUid)).toMatchObject({ pendingConsolidation: 0, failedConsolidation: 0 });
    expect(await bank.observations()).toHaveLength(4);
  });

  test.concurrent("an outage blames no fact: the run waits for its next try and then does the work", async () => {
    let isDown = true;
    const down: Script = (request, nth) => (isDown ? { status: 429, headers: retryAfter } : oneForEach(request, nth));
    await using bank = await start({ observations: down });
    await bank.tell("Ann lives in Porto.", "Ben keeps bees in Graz.");
    const operationId = await bank.consolidate();
    await vi.waitFor(async () => expect(await bank.operation(operationId)).toMatchObject({ status: "pending", retryCount: 1 }), {
      timeout: 5_000,
    });
    expect((await bank.operation(operationId)).errorMessage).toContain("language model");
    expect(await bank.store.stats(bankUid)).toMatchObject({ pendingConsolidation: 2, failedConsolidation: 0 });
    expect(await bank.observations()).toEqual([]);
    isDown = false;
    await vi.waitFor(async () => expect(await bank.operation(operationId)).toMatchObject({ status: "completed" }), {
      timeout: 20_000,
    });
    expect(await bank.observations()).toHaveLength(2);
    await expectTrueCounts(bank.store, bankUid);
  });
});
