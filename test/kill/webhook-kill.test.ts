import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyString } from "@memory-bank/auth";
import { expect, test } from "vitest";
import { type RunningService, startProcess } from "../modes/process.ts";
import { type Api, createApi, eventually } from "../support/api.ts";
import { isFullSize, type Random, seededRandom } from "../support/random.ts";
import { type Behaviour, type Receiver, startReceiver } from "../support/receivers.ts";

const killsMin = isFullSize ? 100 : 4;
const eventsMin = isFullSize ? 20_000 : 300;
const callers = 4;
const itemsPerCallMax = 40;
const aliveMsMax = 1_500;
const bank = "/v1/default/banks/under-fire";
const env = { EMBEDDINGS_PROVIDER: "lexical", WEBHOOK_ALLOWED_HOSTS: "127.0.0.1" };
/** What healthy receivers are still owed when the last process starts must arrive within this time. */
const drainMsMax = isFullSize ? 600_000 : 60_000;

interface Sent {
  readonly operationId: string;
  readonly isAsync: boolean;
  readonly documentIds: readonly string[];
  isAcknowledged: boolean;
}

interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly next_retry_at: string | null;
  readonly last_error: string | null;
}

test(`every acknowledged event survives ${killsMin} kills or more at random moments, whatever its receivers do`, {
  timeout: isFullSize ? 3_600_000 : 110_000,
}, async ({ signal, onTestFinished }) => {
  const random = seededRandom("webhooks under kill -9");
  const dataDir = mkdtempSync(join(tmpdir(), "memory-bank-kill-"));
  const ownerKey = createKeyString();
  const receivers = await startReceivers(random);
  const sent: Sent[] = [];
  let service: RunningService | undefined;
  // Also after a timeout, which would leave a process behind.
  onTestFinished(async () => {
    await service?.kill();
    for (const receiver of receivers.values()) receiver[Symbol.dispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  let webhookIds: ReadonlyMap<string, string> | undefined;
  let kills = 0;
  while (kills < killsMin || acknowledgedEvents(sent) < eventsMin) {
    signal.throwIfAborted();
    service = await startProcess({ dataDir, ownerKey, env });
    const api = createApi({ url: service.url, key: ownerKey });
    webhookIds ??= await register(api, receivers);
    const load = new AbortController();
    const running = Array.from({ length: callers }, () => keepRetaining(api, sent, random, load.signal));
    // One process in four dies while it warms up; the others live until they have acknowledged something, and on.
    const before = acknowledgedEvents(sent);
    if (kills % 4 !== 3) await eventually("a call is answered", async () => acknowledgedEvents(sent) > before);
    await new Promise((resolve) => setTimeout(resolve, random.int(5, aliveMsMax)));
    await service.kill();
    kills++;
    load.abort();
    await Promise.all(running);
  }
  service = await startProcess({ dataDir, ownerKey, env });
  const api = createApi({ url: service.url, key: ownerKey });
  const events = await settledEvents(api, sent);
  for (const [kind, receiver] of receivers) await judge(api, kind, webhookIds!.get(kind)!, receiver, events);
  expect(await service.stop()).toBe(0);
  console.log(
    `${kills} kills, ${acknowledgedEvents(sent)} events acknowledged, ${events.size} in all, ${receivers.size} receivers`,
  );
});

const acknowledgedEvents = (sent: readonly Sent[]) =>
  sent.reduce((sum, call) => sum + (call.isAcknowledged ? call.documentIds.length : 0), 0);

async function startReceivers(random: Random): Promise<ReadonlyMap<string, Receiver>> {
  const answer =
    (status: number): Behaviour =>
    (_, response) =>
      void response.writeHead(status).end("so be it");
  const flapMs = 400;
  const behaviours: Readonly<Record<string, Behaviour>> = {
    fine: answer(200),
    // Mostly some time, now and then so much that its lane counts as slow.
    slow: (request, response) => {
      const waitMs = random.next() < 0.005 ? 1_100 : random.int(5, 60);
      setTimeout(() => answer(200)(request, response), waitMs);
    },
    flapping: (request, response) => answer(Math.floor(Date.now() / flapMs) % 2 === 0 ? 204 : 503)(request, response),
    failing: answer(500),
    resetting: (request) => void request.socket.resetAndDestroy(),
  };
  const started = Object.entries(behaviours).map(async ([kind, behave]) => [kind, await startReceiver(behave)] as const);
  return new Map(await Promise.all(started));
}

async function register(api: Api, receivers: ReadonlyMap<string, Receiver>): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const [kind, { url, secret }] of receivers) {
    const { status, body } = await api("POST", `${bank}/webhooks`, { url, secret, event_types: ["retain.completed"] });
    expect(status, JSON.stringify(body)).toBe(201);
    ids.set(kind, body.id);
  }
  return ids;
}

/** Sends call after call, synchronous and asynchronous, until the service is gone. Each item names a document of its own. */
async function keepRetaining(api: Api, sent: Sent[], random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const documentIds = Array.from({ length: random.int(1, itemsPerCallMax) }, () => crypto.randomUUID());
    const isAsync = random.next() < 0.5;
    const call: Sent = { operationId: crypto.randomUUID(), isAsync, documentIds, isAcknowledged: false };
    sent.push(call);
    const items = documentIds.map((id, i) => ({ content: `Parcel ${id} was handed over at gate ${i}.`, document_id: id }));
    try {
      const operation = isAsync ? { async: true, operation_id: call.operationId } : {};
      const { status } = await api("POST", `${bank}/memories`, { items, ...operation });
      call.isAcknowledged = status === 200;
    } catch {
      return; // The connection broke: the process was killed, which is what this test is about.
    }
  }
}

/** Waits until every accepted operation has ended; answers the documents that were committed, one event each. */
async function settledEvents(api: Api, sent: readonly Sent[]): Promise<ReadonlySet<string>> {
  for (const call of sent.filter(({ isAsync }) => isAsync)) {
    const operation = await eventually(
      `operation ${call.operationId} ends`,
      async () => {
        const { body } = await api("GET", `${bank}/operations/${call.operationId}`);
        return ["completed", "failed", "cancelled", "not_found"].includes(body.status) && body;
      },
      drainMsMax,
    );
    if (call.isAcknowledged) expect(operation).toMatchObject({ status: "completed", error_message: null });
  }
  const committed = new Set<string>();
  for (let offset = 0; ; offset += 1000) {
    const { body } = await api("GET", `${bank}/documents?limit=1000&offset=${offset}`);
    for (const { id } of body.items) committed.add(id);
    if (body.items.length < 1000) break;
  }
  const acknowledged = sent.filter((call) => call.isAcknowledged).flatMap((call) => call.documentIds);
  expect(
    acknowledged.filter((id) => !committed.has(id)),
    "acknowledged and not committed",
  ).toEqual([]);
  return committed;
}

async function judge(api: Api, kind: string, webhookId: string, receiver: Receiver, events: ReadonlySet<string>): Promise<void> {
  // A receiver that keeps failing is called ever more slowly, so what is queued for it may wait untried.
  const mustArrive = kind === "fine" || kind === "slow";
  const deliveries = await eventually(
    `${events.size} deliveries to the ${kind} receiver`,
    async () => {
      const all = await allDeliveries(api, webhookId);
      return all.length === events.size && (!mustArrive || all.every(({ status }) => status === "completed")) && all;
    },
    drainMsMax,
  );
  expect(new Set(deliveries.map(({ id }) => id)).size).toBe(events.size);

  // What each record says is what the receiver saw.
  const seen = new Set(receiver.received.map(({ deliveryId }) => deliveryId));
  for (const { id, status, attempts, last_error, next_retry_at } of deliveries) {
    expect(["completed", "pending", "processing", "failed"], kind).toContain(status);
    if (attempts > 0) expect(seen.has(id), `${kind}: ${id} was tried and must have been seen`).toBe(true);
    if (status === "completed") {
      expect(receiver.accepted.has(id), `${kind}: ${id} is completed, and the receiver must have accepted it`).toBe(true);
      expect(last_error).toBeNull();
    } else if (attempts > 0) {
      expect(last_error, `${kind}: ${id} waits or failed for a reason`).toMatch(/\S/);
      if (status === "pending") expect(next_retry_at).not.toBeNull();
    } else {
      expect(["pending", "processing"], `${kind}: ${id} was never tried`).toContain(status);
    }
  }

  // Duplicates carry the same id and the same bytes, and no event has two ids.
  const bodies = new Map<string, Buffer>();
  const idsOfDocuments = new Map<string, string>();
  for (const { deliveryId, body, isSigned } of receiver.received) {
    expect(isSigned, `${kind}: signature of ${deliveryId}`).toBe(true);
    const known = bodies.get(deliveryId);
    if (known) expect(body.equals(known), `${kind}: bytes of ${deliveryId}`).toBe(true);
    else bodies.set(deliveryId, body);
  }
  for (const [deliveryId, body] of bodies) {
    const { event, data } = JSON.parse(body.toString());
    expect(event).toBe("retain.completed");
    expect(idsOfDocuments.has(data.document_id), `${kind}: document ${data.document_id} has one id`).toBe(false);
    idsOfDocuments.set(data.document_id, deliveryId);
  }
  const notCommitted = [...idsOfDocuments.keys()].filter((id) => !events.has(id));
  expect(notCommitted, `${kind}: events of what was not committed`).toEqual([]);
  const notArrived = [...events].filter((id) => !idsOfDocuments.has(id));
  if (mustArrive) expect(notArrived, `${kind}: events that did not arrive`).toEqual([]);
  const completed = deliveries.filter(({ status }) => status === "completed").length;
  console.log(`${kind}: ${deliveries.length} events, ${receiver.received.length} requests, ${completed} completed`);
}

async function allDeliveries(api: Api, webhookId: string): Promise<Delivery[]> {
  const all: Delivery[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body }: { body: { items: Delivery[]; next_cursor: string | null } } = await api(
      "GET",
      `${bank}/webhooks/${webhookId}/deliveries?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    all.push(...body.items);
    cursor = body.next_cursor;
  }
  return all;
}
