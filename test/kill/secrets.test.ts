import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import { WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import { afterAll, expect, test } from "vitest";
import { type RunningService, startProcess } from "../modes/process.ts";
import { type Api, createApi, eventually } from "../support/api.ts";
import { bearer, createDirectCaller } from "../support/direct-caller.ts";

const dataDir = mkdtempSync(join(tmpdir(), "memory-bank-secrets-"));
const open: Server[] = [];
afterAll(() => {
  for (const server of open) server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const bank = "/v1/default/banks/discreet";
const keysOfEachKind = 12;
const webhooksOfEachKind = 4;

/** What must never be seen again, by what it is. */
type Secrets = Map<string, string>;

test("no key and no webhook secret is in logs, traces, metrics, audit entries or files, live, after kill -9 and after a stop", {
  timeout: 110_000,
}, async ({ onTestFinished }) => {
  const traces: string[] = [];
  const collector = await listen((body) => void traces.push(body));
  const good = await listen(() => {});
  const bad = await listen(() => {}, 500);
  const env = {
    AUTH_BOOTSTRAP_KEY: "", // so that the first start makes a key and shows it
    EMBEDDINGS_PROVIDER: "lexical",
    LOG_LEVEL: "debug",
    WEBHOOK_ALLOWED_HOSTS: "127.0.0.1",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector}`,
  };
  const started: RunningService[] = [];
  const start = async () => {
    const service = await startProcess({ dataDir, env });
    started.push(service);
    return service;
  };
  onTestFinished(async () => {
    for (const service of started) await service.kill();
  });

  const first = await start();
  const banner = /Owner key {2}(hsk_\w+)/.exec(first.output());
  const ownerKey = banner?.[1];
  expect(ownerKey, first.output()).toBeDefined();
  const secrets: Secrets = new Map([["the owner key", ownerKey!]]);
  const api = createApi({ url: first.url, key: ownerKey! });
  await makeKeys(api, first, secrets);
  const webhooks = await makeWebhooks(api, first, secrets, [good, bad]);
  await provokeFaults(first.url, api, secrets);
  await deliverAll(api, webhooks);
  const audit = await auditEntries(api);
  for (const recorded of ["create_api_key", "create_scoped_api_key", "create_webhook", "update_webhook", "[redacted]"]) {
    expect(audit).toContain(recorded);
  }
  const metrics = await (await fetch(`${first.url}/metrics`)).text();

  expectNone(secrets, "the audit log", audit);
  expectNone(secrets, "the metrics", metrics);
  expectNoneInFiles(secrets, "while it runs");
  await first.kill();
  expectNoneInFiles(secrets, "after kill -9");

  const second = await start();
  const again = createApi({ url: second.url, key: ownerKey! });
  expect(await auditEntries(again), "nothing was lost that had been seen").toContain("create_webhook");
  expect(await second.stop()).toBe(0);
  expectNoneInFiles(secrets, "after a stop");
  // The search looks where things are: the look-up part of a key is stored, and attempts are logged.
  expect(readFileSync(join(dataDir, "auth.sqlite"), "latin1")).toContain(ownerKey!.slice(4, 20));
  expect(first.output()).toContain("webhook attempt");

  // The one exception: the first start shows the owner key, in its key line and in the two lines to paste.
  const shown = first.output().split(ownerKey!).length - 1;
  expect(shown).toBe(3);
  expectNone(secrets, "the log", first.output().replaceAll(ownerKey!, "(shown once)") + second.output());
  expectNone(secrets, "the traces", traces.join("\n"));
  expect(secrets.size).toBeGreaterThan(4 * keysOfEachKind);
});

async function makeKeys(api: Api, service: RunningService, secrets: Secrets): Promise<void> {
  using direct = createDirectCaller(service.rpcAddress);
  for (let i = 0; i < keysOfEachKind; i++) {
    const request = { name: `key ${i}`, capabilities: ["create_scoped_keys"] };
    // The answer is kept for a repetition, which must not keep the key readable.
    const once = { "idempotency-key": `make-key-${i}` };
    const made = await api("POST", "/v1/api-keys", request, once);
    expect(await api("POST", "/v1/api-keys", request, once)).toMatchObject({ status: 200, body: made.body });
    secrets.set(`key ${i}`, made.body.api_key);
    const parent = createApi({ url: api.url, key: made.body.api_key });
    const child = await parent("POST", "/v1/api-keys/scoped", { name: "child", allowed_bank_ids: ["b"], expires_in_days: 1 });
    secrets.set(`child ${i}`, child.body.api_key);
    const { response } = await direct.call(AuthServiceService.createApiKey, { name: "direct" }, bearer(api.key));
    secrets.set(`direct key ${i}`, (response as { apiKey: string }).apiKey);
    await createApi({ url: api.url, key: child.body.api_key })("GET", "/v1/default/banks/b/stats");
    if (i % 2 === 0) await api("DELETE", `/v1/api-keys/${made.body.id}`);
    await parent("GET", "/v1/default/banks"); // every second one is refused
  }
}

/** Webhooks with secrets of several alphabets and with secret headers, made, changed and changed again. */
async function makeWebhooks(api: Api, service: RunningService, secrets: Secrets, ports: readonly number[]): Promise<string[]> {
  using direct = createDirectCaller(service.rpcAddress);
  const alphabets: readonly (() => string)[] = [
    () => `plain-${crypto.randomUUID()}`,
    () => `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`,
    () => `"quoted"\\ and ünïcode ${crypto.randomUUID()}`,
  ];
  const secretOf = (what: string, i: number) => {
    const secret = alphabets[i % alphabets.length]!();
    secrets.set(`${what} ${i}`, secret);
    return secret;
  };
  const ids: string[] = [];
  for (let i = 0; i < webhooksOfEachKind * ports.length; i++) {
    const headers = { "X-Receiver-Access": secretOf("header", i) };
    // Header values are visible ASCII on the wire.
    headers["X-Receiver-Access"] = headers["X-Receiver-Access"].replaceAll(/[^\x20-\x7e]/g, "u");
    secrets.set(`header ${i}`, headers["X-Receiver-Access"]);
    const url = `http://127.0.0.1:${ports[i % ports.length]}/${i}`;
    const created = await api("POST", `${bank}/webhooks`, {
      url,
      secret: secretOf("webhook secret", i),
      event_types: ["retain.completed"],
      http_config: { headers },
    });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    ids.push(created.body.id);
    const path = `${bank}/webhooks/${created.body.id}`;
    expect((await api("PATCH", path, { secret: secretOf("rotated secret", i) })).status).toBe(200);
    const change = { bankId: "discreet", webhookId: created.body.id, secret: secretOf("secret changed directly", i) };
    expect((await direct.call(WebhookServiceService.updateWebhook, change, bearer(api.key))).code).toBe(0);
  }
  await api("PATCH", `${bank}/webhooks/${ids[0]}`, { secret: null });
  return ids;
}

/** Requests that go wrong with a secret in them. */
async function provokeFaults(url: string, api: Api, secrets: Secrets): Promise<void> {
  const secret = `misplaced-${crypto.randomUUID()}`;
  secrets.set("a secret in a refused request", secret);
  const somebodysKey = secrets.get("direct key 0")!;
  const attempts: readonly [number, string, string, unknown][] = [
    [400, "POST", `${bank}/webhooks`, { url: "http://10.0.0.1/", secret }],
    [422, "POST", `${bank}/webhooks`, { url: "http://127.0.0.1:9/", secret: [secret] }],
    [422, "POST", `${bank}/webhooks`, `{"url": "http://127.0.0.1:9/", "secret": "${secret}"`],
    [404, "PATCH", `${bank}/webhooks/${crypto.randomUUID()}`, { secret }],
  ];
  for (const [status, method, path, body] of attempts) {
    const answer = await api(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  }
  for (const authorization of [`Basic ${somebodysKey}`, `Bearer ${somebodysKey}x`, `Bearer ${somebodysKey} ${somebodysKey}`]) {
    const { status } = await fetch(`${url}${bank}/stats`, { headers: { authorization } });
    expect(status, authorization.split(" ", 1)[0]).toBe(401);
  }
}

async function deliverAll(api: Api, webhookIds: readonly string[]): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const { status } = await api("POST", `${bank}/memories`, { items: [{ content: `Parcel ${i} was handed over.` }] });
    expect(status).toBe(200);
  }
  for (const id of webhookIds) {
    await eventually("three deliveries were tried", async () => {
      const { items } = (await api("GET", `${bank}/webhooks/${id}/deliveries`)).body;
      return items.length === 3 && items.every(({ attempts }: { attempts: number }) => attempts > 0);
    });
  }
}

async function auditEntries(api: Api): Promise<string> {
  const read = async () => {
    const ofBank = await api("GET", `${bank}/audit-logs?limit=500`);
    const ofTenant = await api("GET", "/v1/audit-logs?limit=500");
    return ofBank.body.total >= 2 && ofTenant.body.total > keysOfEachKind && JSON.stringify([ofBank.body, ofTenant.body]);
  };
  return eventually("entries are written", read);
}

function expectNoneInFiles(secrets: Secrets, when: string): void {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(["auth.sqlite", "bank.sqlite", "webhook.sqlite"]));
  for (const { parentPath, name } of files) {
    expectNone(secrets, `${name} ${when}`, readFileSync(join(parentPath, name)).toString("latin1"));
  }
}

/** `text`: bytes as Latin-1, or a text; a secret may stand in it as it is, escaped, or in the usual encodings. */
function expectNone(secrets: Secrets, where: string, text: string): void {
  for (const [what, secret] of secrets) {
    for (const form of formsOf(secret)) expect(text.includes(form), `${what} is in ${where}`).toBe(false);
  }
}

function formsOf(secret: string): ReadonlySet<string> {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return shifted.slice(offset === 0 ? 0 : 4, -4); // without the characters that neighbours have a part in
  });
  // A key's secret part would be enough, whatever stands around it.
  const parts = secret.startsWith("hsk_") ? [secret.slice(20, 52)] : [];
  const escaped = JSON.stringify(secret).slice(1, -1);
  return new Set([
    secret,
    ...parts,
    bytes.toString("latin1"),
    escaped,
    encodeURIComponent(secret),
    bytes.toString("hex"),
    ...inBase64,
  ]);
}

async function listen(onBody: (body: string) => void, status = 200): Promise<number> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("latin1")) body += part;
    onBody(body);
    response.writeHead(status).end();
  }).listen(0, "127.0.0.1");
  open.push(server);
  await new Promise((listening) => server.once("listening", listening));
  return (server.address() as AddressInfo).port;
}
