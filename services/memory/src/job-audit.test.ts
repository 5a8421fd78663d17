import { expect, test } from "vitest";
import { auditRecorded } from "./events.ts";
import { conversation, ctx, item, retainOf, startTestService } from "./test-service.ts";

const secretWords = "Maria hid the spare key under the third flowerpot.";

/** A started service, and the entries that reached the bus. */
async function startRecorded(options: Parameters<typeof startTestService>[0] = {}) {
  const memory = await startTestService(options);
  const entries = new Map<string, ReturnType<typeof auditRecorded.payloadOf>["entries"][number]>();
  await memory.bus.subscribe({
    subject: auditRecorded.subject,
    durable: "bank",
    handler: async (event) => {
      for (const entry of auditRecorded.payloadOf(event).entries) entries.set(entry.id, entry);
    },
  });
  await memory.service.start();
  const actions = () => [...entries.values()].map((entry) => entry.action).sort();
  return { ...memory, entries, actions };
}

test("an asynchronous retain leaves one entry for each of its operations, without the texts", async () => {
  await using memory = await startRecorded();
  const request = retainOf(
    [item(secretWords, { documentId: "d" }), ...conversation, item("Again.", { documentId: "e" })],
    "b",
    true,
  );
  const { operationIds } = await memory.client.retain(ctx(), request);
  await expect.poll(memory.actions, { timeout: 10_000 }).toEqual(["batch_retain", "retain"]);
  const [batch, child] = [...memory.entries.values()].sort((a, b) => (a.action < b.action ? -1 : 1));
  expect(batch).toMatchObject({
    ...{ tenantId: "t", bankId: "b", transport: "system", metadata: {} },
    response: { status: "completed", operation_id: operationIds[0] },
  });
  expect(child!.request).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ content: { sha256: expect.any(String), chars: secretWords.length } }),
    ]),
  });
  expect(JSON.stringify([...memory.entries.values()])).not.toContain("flowerpot");
  expect(child!.endedAtUs).toBeGreaterThanOrEqual(child!.startedAtUs);
});

test("a consolidation leaves one, and one that finds nothing to do as well", async () => {
  await using memory = await startRecorded();
  await memory.client.retain(ctx(), retainOf(conversation));
  const { operationId } = await memory.client.consolidate(ctx(), { bankId: "b" });
  await expect.poll(memory.actions, { timeout: 10_000 }).toEqual(["consolidation"]);
  expect([...memory.entries.values()][0]).toMatchObject({ response: { status: "completed", operation_id: operationId } });
});

test("a failure has no answer and says why, for the part and for the whole", async () => {
  await using memory = await startRecorded();
  await memory.client.retain(ctx(), retainOf([item("First.", { documentId: "d" })]));
  await memory.client.retain(
    ctx(),
    retainOf([item(`${"long ".repeat(1_700_000)}`, { documentId: "d", append: true })], "b", true),
  );
  await expect.poll(memory.actions, { timeout: 20_000 }).toEqual(["batch_retain", "retain"]);
  for (const entry of memory.entries.values()) {
    expect(entry).toMatchObject({ response: null, metadata: { error: expect.stringContaining("is larger than") } });
  }
});
