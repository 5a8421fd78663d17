import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyString } from "@memory-bank/auth";
import { expect, test } from "vitest";
import { runAdmin } from "../modes/admin.ts";
import { type RunningService, startProcess } from "../modes/process.ts";
import { type Api, createApi, eventually } from "../support/api.ts";
import { isFullSize, seededRandom } from "../support/random.ts";

const kills = isFullSize ? 40 : 5;
const callers = 4;
const itemsPerCallMax = 12;
const bank = "under-fire";
const base = `/v1/default/banks/${bank}`;

interface Sent {
  readonly operationId: string;
  readonly markers: readonly string[];
  isAcknowledged: boolean;
}

test(`asynchronous retains survive ${kills} kills at random moments: nothing lost, nothing twice`, {
  timeout: 900_000,
}, async () => {
  const random = seededRandom("retain under kill -9");
  const dataDir = mkdtempSync(join(tmpdir(), "memory-bank-kill-"));
  const ownerKey = createKeyString();
  const sent: Sent[] = [];
  let service: RunningService | undefined;
  try {
    for (let round = 0; round < kills; round++) {
      service = await startProcess({ dataDir, ownerKey, env: { EMBEDDINGS_PROVIDER: "lexical" } });
      const api = createApi({ url: service.url, key: ownerKey });
      const load = new AbortController();
      const before = sent.length;
      const running = Array.from({ length: callers }, () => keepRetaining(api, sent, random.int, load.signal));
      // One round in four is killed at any moment, the others once the load runs, so that slow machines see work killed too.
      if (random.int(0, 3) > 0) {
        await eventually("a call is acknowledged", async () => sent.slice(before).some((call) => call.isAcknowledged));
      }
      await new Promise((resolve) => setTimeout(resolve, random.int(0, 600)));
      await service.kill();
      load.abort();
      await Promise.all(running);
    }
    service = await startProcess({ dataDir, ownerKey, env: { EMBEDDINGS_PROVIDER: "lexical" } });
    await judge(createApi({ url: service.url, key: ownerKey }), sent);
    expect(await service.stop()).toBe(0);
    service = undefined;
    const verified = await runAdmin(["verify"], { DATA_DIR: dataDir });
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
  } finally {
    await service?.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

/** Sends call after call until the service is gone. Operation ids are chosen here, so that a lost answer can be asked about. */
async function keepRetaining(
  api: Api,
  sent: Sent[],
  int: (min: number, max: number) => number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const operationId = crypto.randomUUID();
    const markers = Array.from({ length: int(1, itemsPerCallMax) }, () => crypto.randomUUID());
    const call: Sent = { operationId, markers, isAcknowledged: false };
    sent.push(call);
    const items = markers.map((marker, i) => ({
      content: `Parcel ${marker} was handed over at gate ${i}.`,
      metadata: { marker },
      ...(i % 3 === 0 ? { document_id: `doc-${marker}` } : {}),
    }));
    try {
      const { status } = await api("POST", `${base}/memories`, { items, async: true, operation_id: operationId });
      call.isAcknowledged = status === 200;
    } catch {
      return; // The connection broke: the process was killed, which is what this test is about.
    }
  }
}

async function judge(api: Api, sent: readonly Sent[]): Promise<void> {
  const acknowledged = sent.filter((call) => call.isAcknowledged);
  expect(acknowledged.length).toBeGreaterThan(0);
  const known: Sent[] = [];
  for (const call of sent) {
    const operation = await eventually(`operation ${call.operationId} ends`, async () => {
      const { body } = await api("GET", `${base}/operations/${call.operationId}`);
      return ["completed", "failed", "cancelled", "not_found"].includes(body.status) && body;
    });
    // A call whose answer was lost may have been accepted or not; one that was acknowledged must have been.
    if (call.isAcknowledged || operation.status !== "not_found") {
      expect(operation, call.operationId).toMatchObject({ status: "completed", error_message: null });
      known.push(call);
    }
  }
  const found = await allMarkers(api);
  const expected = known.flatMap((call) => call.markers).sort();
  expect(found.sort()).toEqual(expected);
  const { body: stats } = await api("GET", `${base}/stats`);
  expect(stats).toMatchObject({ total_nodes: expected.length, total_documents: expected.length });
  console.log(`${sent.length} calls sent, ${acknowledged.length} acknowledged, ${expected.length} items found once each`);
}

async function allMarkers(api: Api): Promise<string[]> {
  const markers: string[] = [];
  for (let offset = 0; ; offset += 1000) {
    const { body } = await api("GET", `${base}/memories/list?limit=1000&offset=${offset}&type=world`);
    for (const item of body.items) markers.push(item.metadata.marker);
    if (body.items.length < 1000) return markers;
  }
}
