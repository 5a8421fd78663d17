import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallContext } from "@memory-bank/context";
import { createInProcessBus } from "@memory-bank/events";
import { createClock, createResources } from "@memory-bank/lifecycle";
import { WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import { createInProcessMesh } from "@memory-bank/rpc";
import { silentLogger as log } from "@memory-bank/telemetry";
import {
  createAllowList,
  createDestinationGuard,
  createHttpSender,
  createTargetVault,
  createWebhookService,
  openWebhookStore,
} from "@memory-bank/webhook";
import { Agent, request } from "undici";
import { median, type Row } from "./report.ts";

const receivers = 64;
const rounds = 3;
export const webhooksSteps = rounds + 1;
const deliveriesPerRound = 4_000;
const backlog = 20_000;
/** Events that are reported before the first of them is accepted. */
const eventsAtOnce = 64;
/** Requests of the bare loop at once: as many as the service may have to sound receivers. */
const postsAtOnce = 128;
const secret = "a secret for the bench";
const waitMsMax = 120_000;

/** What durable delivery costs beside sending alone. */
export async function webhookRows(progress: (what: string) => void): Promise<Row[]> {
  const sink = await startReceivers();
  const figures = { bare: [] as number[], delivered: [] as number[], drained: [] as number[] };
  try {
    for (let round = 0; round <= rounds; round++) {
      const bare = await bareLoop(sink);
      const delivered = await acceptAndDeliver(sink);
      const drained = await drain(sink);
      progress(`webhooks to ${receivers} receivers, round ${round}`);
      if (round === 0) continue; // warm-up
      figures.bare.push(bare);
      figures.delivered.push(delivered);
      figures.drained.push(drained);
    }
  } finally {
    sink.process.stdin!.end();
    await once(sink.process, "exit");
  }
  const ratio = (rates: readonly number[]) => median(rates.map((rate, i) => rate / figures.bare[i]!));
  const row = (what: string, rates: readonly number[], least: number): Row => ({
    what: `${what} / a bare loop of signed POSTs (${median(figures.bare).toFixed(0)}/s)`,
    value: `${(100 * ratio(rates)).toFixed(0)} % (${median(rates).toFixed(0)}/s)`,
    target: `>= ${100 * least} %`,
    isMet: ratio(rates) >= least,
  });
  return [
    row(`events accepted durably and delivered to ${receivers} receivers`, figures.delivered, 0.22),
    row(`a backlog of ${backlog} drained`, figures.drained, 0.18),
  ];
}

interface Sink {
  readonly process: ChildProcess;
  readonly ports: readonly number[];
  received(): Promise<number>;
}

async function startReceivers(): Promise<Sink> {
  const child = spawn(process.execPath, [new URL("./receivers.ts", import.meta.url).pathname], {
    env: { PATH: process.env["PATH"], BENCH_RECEIVERS: String(receivers) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdout!.setEncoding("utf8");
  const nextLine = async () => ((await once(child.stdout!, "data")) as [string])[0];
  const ports = JSON.parse(await nextLine()) as number[];
  const received = async () => {
    const answer = nextLine();
    child.stdin!.write("?\n");
    return Number(await answer);
  };
  return { process: child, ports, received };
}

/** Deliveries a second from `begin` until as many have come as it says. */
async function perSecond(sink: Sink, begin: () => Promise<number>): Promise<number> {
  const before = await sink.received();
  const started = performance.now();
  const wanted = before + (await begin());
  while ((await sink.received()) < wanted) {
    if (performance.now() - started > waitMsMax) throw new Error(`deliveries did not arrive within ${waitMsMax} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return (wanted - before) / ((performance.now() - started) / 1_000);
}

const bodyOf = (bankId: string, i: number) =>
  JSON.stringify({
    event: "retain.completed",
    bank_id: bankId,
    operation_id: crypto.randomUUID(),
    status: "completed",
    timestamp: "2026-03-04T12:00:00.000000Z",
    data: { document_id: `document-${i}`, memory_unit_count: 1 },
  });

async function bareLoop(sink: Sink): Promise<number> {
  const dispatcher = new Agent({ connections: postsAtOnce / receivers });
  const rate = await perSecond(sink, async () => {
    let next = 0;
    const post = async () => {
      for (let i = next++; i < deliveriesPerRound; i = next++) {
        const body = bodyOf("bench", i);
        const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
        const headers = { "content-type": "application/json", "x-hindsight-signature": signature };
        const url = `http://127.0.0.1:${sink.ports[i % receivers]}/hook`;
        const answer = await request(url, { method: "POST", headers, body, dispatcher });
        await answer.body.dump();
      }
    };
    await Promise.all(Array.from({ length: postsAtOnce }, post));
    return deliveriesPerRound;
  });
  await dispatcher.close();
  return rate;
}

/** From the event on the bus, through a synced commit, to the receiver. */
async function acceptAndDeliver(sink: Sink): Promise<number> {
  await using opened = await openWebhooks(sink);
  await opened.service.start();
  return await perSecond(sink, async () => {
    let next = 0;
    const report = async () => {
      for (let i = next++; i < deliveriesPerRound; i = next++) {
        const bankId = `bank-${i % receivers}`;
        const items = [{ documentId: `document-${i}`, unitCount: 1, tags: [] }];
        const payload = { bankUid: bankId, bankId, operationId: crypto.randomUUID(), items };
        const event = { id: crypto.randomUUID(), subject: "memory.retained.v1", occurredAtUs: opened.nowUs(), payload };
        await opened.bus.publish([event]);
      }
    };
    await Promise.all(Array.from({ length: eventsAtOnce }, report));
    return deliveriesPerRound;
  });
}

/** From the start of a process that finds a backlog. */
async function drain(sink: Sink): Promise<number> {
  await using opened = await openWebhooks(sink);
  const time = { nowUs: opened.nowUs(), dueUs: opened.nowUs() };
  for (let from = 0; from < backlog; from += 1_000) {
    const notifications = Array.from({ length: 1_000 }, (_, i) => {
      const bankUid = `bank-${(from + i) % receivers}`;
      const body = Buffer.from(bodyOf(bankUid, from + i));
      return { key: `event-${from + i}`, bankUid, eventType: "retain.completed", body, traceparent: null };
    });
    await opened.store.enqueue(notifications, time);
  }
  return await perSecond(sink, async () => {
    await opened.service.start();
    return backlog;
  });
}

/** The webhook service over a file, with one webhook in each of as many banks as there are receivers. Not started. */
async function openWebhooks(sink: Sink) {
  const resources = createResources();
  const folder = mkdtempSync(join(tmpdir(), "memory-bank-bench-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const bus = resources.use(createInProcessBus({ log }));
  const store = resources.use(await openWebhookStore({ kind: "sqlite", file: join(folder, "webhook.sqlite") }));
  const allowList = createAllowList(["127.0.0.1"]);
  const service = createWebhookService({
    ...{ store, bus, log, nowUs, newId, allowList },
    sender: resources.use(createHttpSender({ guard: createDestinationGuard({ allowList, ownPorts: () => [] }) })),
    vault: createTargetVault({ current: new Uint8Array(32).fill(7), previous: [] }),
    bank: {
      resolveBank: async (_, { bankId }) => ({
        bank: { bankUid: bankId, bankId, name: bankId, mission: "", createdAtUs: 0, updatedAtUs: 0, disposition: undefined },
        tenantId: "default",
        config: {},
      }),
    },
    deliveryRetentionDays: 30,
    keepsResponseBodies: true,
    serverWebhook: null,
  });
  resources.defer(() => service.stop());
  const mesh = createInProcessMesh({ log });
  mesh.bind(service);
  const principal = { tenantId: "default", keyId: "k", role: "owner", capabilities: [], allowedBankIds: null } as const;
  const signal = new AbortController().signal;
  const ctx: CallContext = { principal, requestId: "bench", transport: "http", deadlineMs: Date.now() + waitMsMax, signal };
  for (const [i, port] of sink.ports.entries()) {
    await mesh.client(WebhookServiceService).createWebhook(ctx, {
      bankId: `bank-${i}`,
      url: `http://127.0.0.1:${port}/hook`,
      secret,
      eventTypes: ["retain.completed"],
      enabled: true,
      httpConfig: undefined,
    });
  }
  return { ...resources, service, store, bus, nowUs };
}
