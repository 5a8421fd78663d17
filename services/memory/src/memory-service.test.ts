import { AppError } from "@memory-bank/errors";
import { describe, expect, test, vi } from "vitest";
import { memoryRetained } from "./events.ts";
import { expectTrueCounts } from "./store/recount.ts";
import { conversation, ctx, everything, item, recallOf, retainOf, startTestService } from "./test-service.ts";

describe("retain", () => {
  test("appends at the same moment, and a replacement among them, lose nothing that came after", async () => {
    await using memory = await startTestService();
    const line = (i: number) => `Visitor ${i} came through gate ${i}.`;
    const append = (i: number) => item(line(i), { documentId: "log", append: true });
    await Promise.all(Array.from({ length: 8 }, (_, i) => memory.client.retain(ctx(), retainOf([append(i)]))));
    const text = async () => (await memory.store.findDocument("uid-b", "log"))?.originalText?.split("\n").sort();
    expect(await text()).toEqual(Array.from({ length: 8 }, (_, i) => line(i)));
    await Promise.all([
      memory.client.retain(ctx(), retainOf([item(line(8), { documentId: "log" })])),
      memory.client.retain(ctx(), retainOf([append(9)])),
    ]);
    // Either the replacement was last, or the addition is to it.
    expect([[line(8)], [line(8), line(9)]]).toContainEqual(await text());
    await expectTrueCounts(memory.store, "uid-b");
  });

  test("the same input gives the same facts, entities and links, ids aside", async () => {
    await using memory = await startTestService();
    for (const bankId of ["one", "two"]) await memory.client.retain(ctx(), retainOf(conversation, bankId));
    const facts = async (bankUid: string) => {
      const { items } = await memory.store.listUnits(bankUid, everything);
      return items.map(({ text, type, author, subject, entities, occurredStartUs, tokenCount }) => ({
        ...{ text, type, author, subject, occurredStartUs, tokenCount },
        entities: entities.map(({ name, kind }) => `${name} ${kind}`),
      }));
    };
    const one = await facts("uid-one");
    expect(one.length).toBeGreaterThanOrEqual(4);
    expect(await facts("uid-two")).toEqual(one);
    expect(await memory.store.stats("uid-two")).toMatchObject({ links: (await memory.store.stats("uid-one")).links });
    await expectTrueCounts(memory.store, "uid-one");
  });

  test("one that fails while encoding leaves nothing: no document, no vector, no event", async () => {
    let isBroken = true;
    await using memory = await startTestService({
      wrap: (embedder) => ({
        ...embedder,
        embed: async (texts, options) => {
          if (isBroken) throw new AppError("unavailable", "MODEL_DOWN", "Service temporarily unavailable");
          return embedder.embed(texts, options);
        },
      }),
    });
    await expect(memory.client.retain(ctx(), retainOf(conversation))).rejects.toMatchObject({ code: "unavailable" });
    expect(await memory.store.seq("uid-b")).toBe(0);
    expect(await memory.vectors.count("uid-b")).toBe(0);
    isBroken = false;
    await memory.client.retain(ctx(), retainOf(conversation));
    const { total } = await memory.store.listUnits("uid-b", everything);
    expect(await memory.vectors.count("uid-b")).toBe(total);
  });

  test("a commit that the store refuses takes its vectors back", async () => {
    await using memory = await startTestService();
    await memory.internal.fence(ctx(), { bankUid: "uid-b" });
    await expect(memory.client.retain(ctx(), retainOf(conversation))).rejects.toMatchObject({ code: "not_found" });
    expect(await memory.vectors.count("uid-b")).toBe(0);
  });

  test("thirty concurrent retains of one bank all land, and the counts are true", async () => {
    await using memory = await startTestService();
    const calls = Array.from({ length: 30 }, (_, i) =>
      memory.client.retain(ctx(), retainOf([item(`Crate ${i} went to Oslo with Ann.`, { documentId: `d${i % 10}` })])),
    );
    await Promise.all(calls);
    expect((await memory.store.listUnits("uid-b", everything)).total).toBe(10);
    expect(await memory.vectors.count("uid-b")).toBe(10);
    await expectTrueCounts(memory.store, "uid-b");
  });

  test("tells of each item once, with the units that its document owns", async () => {
    await using memory = await startTestService();
    const events: unknown[] = [];
    await memory.bus.subscribe({
      subject: memoryRetained.subject,
      durable: "test",
      handler: async (event) => void events.push(event.payload),
    });
    await memory.service.start();
    await memory.client.retain(
      ctx(),
      retainOf([item("Ann likes tea.", { documentId: "d", tags: ["x"] }), item("Ben likes rum.")]),
    );
    await vi.waitFor(() => expect(events).toHaveLength(1));
    expect(events[0]).toMatchObject({
      bankId: "b",
      commitSeq: 1,
      items: [
        { documentId: "d", unitCount: 1, tags: ["x"] },
        { documentId: null, unitCount: 1 },
      ],
    });
  });

  test("a longer call is split into commits, and neighbours are still known across them", async () => {
    await using memory = await startTestService();
    const long = Array.from({ length: 6 }, (_, i) =>
      item(`${`Box ${i} holds ${"many small things ".repeat(200)}`}. The lid of box ${i} is green.`),
    );
    await memory.client.retain(ctx(), retainOf(long));
    expect(await memory.store.seq("uid-b")).toBeGreaterThan(0);
    const { results } = await memory.client.recall(ctx(), recallOf("What colour is the lid of box 4?"));
    expect(results[0]?.text).toBe("The lid of box 4 is green.");
  });
});

describe("recall", () => {
  test("sees a retain that was answered just before, an upsert and a deletion", async () => {
    await using memory = await startTestService();
    const answers = async () =>
      (await memory.client.recall(ctx(), recallOf("Where is the spare key?"))).results.map((hit) => hit.text);
    expect(await answers()).toEqual([]);
    await memory.client.retain(ctx(), retainOf([item("The spare key is in the shed.", { documentId: "key" })]));
    expect(await answers()).toEqual(["The spare key is in the shed."]);
    await memory.client.retain(ctx(), retainOf([item("The spare key is under the pot.", { documentId: "key" })]));
    expect(await answers()).toEqual(["The spare key is under the pot."]);
    await memory.client.deleteDocument(ctx(), { bankId: "b", documentId: "key" });
    expect(await answers()).toEqual([]);
    expect(await memory.vectors.count("uid-b")).toBe(0);
  });

  test("an edited memory is found by its new words, an invalidated one not at all until it is restored", async () => {
    await using memory = await startTestService();
    await memory.client.retain(ctx(), retainOf([item("The meeting is in Cork."), item("Unrelated weather note.")]));
    const { items } = await memory.store.listUnits("uid-b", everything);
    const memoryId = items.find((unit) => unit.text.includes("Cork"))!.unitId;
    const update = (members: object) =>
      memory.client.updateMemory(ctx(), { bankId: "b", memoryId, exactEntities: false, ...members });
    const found = async (query: string) =>
      (await memory.client.recall(ctx(), recallOf(query))).results.some((hit) => hit.id === memoryId);
    const edited = await update({ text: "The meeting is in Gdansk." });
    expect(edited).toMatchObject({ text: "The meeting is in Gdansk.", entities: [{ name: "Gdansk", kind: "LOCATION" }] });
    expect((await memory.client.recall(ctx(), recallOf("Gdansk meeting"))).results[0]?.id).toBe(memoryId);
    await update({ state: "invalidated", reason: "cancelled" });
    expect(await found("Gdansk meeting")).toBe(false);
    await update({ state: "valid" });
    expect(await found("Gdansk meeting")).toBe(true);
    await expectTrueCounts(memory.store, "uid-b");
  });
});

describe("the end of a bank", () => {
  test("fenced at once, purged to the last vector and job", async () => {
    await using memory = await startTestService();
    await memory.client.retain(ctx(), retainOf(conversation));
    await memory.client.retain(ctx(), retainOf(conversation, "b", true));
    expect((await memory.internal.fence(ctx(), { bankUid: "uid-b" })).hiddenCount).toBeGreaterThan(3);
    expect((await memory.client.recall(ctx(), recallOf("Who moved to Porto?"))).results).toEqual([]);
    for (let calls = 0; !(await memory.internal.purge(ctx(), { bankUid: "uid-b" })).done; calls++) expect(calls).toBeLessThan(50);
    expect(await memory.vectors.count("uid-b")).toBe(0);
    expect((await memory.jobs.list({ groupKey: "uid-b", limit: 10, offset: 0 })).total).toBe(0);
  });
});
