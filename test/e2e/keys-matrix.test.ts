import { beforeAll, expect, inject, test } from "vitest";
import type { Answer } from "../support/api.ts";
import { badKeys, createKey, createScopedKey, createTenant } from "../support/keys.ts";
import { fetchOpenApi } from "../support/openapi.ts";
import { type PathIds, type SampleCall, sampleCalls } from "../support/sample-calls.ts";
import { fillMarkedBank, strangeIds } from "./marked-bank.ts";
import { freshBank, owner, withKey } from "./service.ts";

const { url, rpcAddress, serviceToken } = inject("service");
const document = await fetchOpenApi(url);

/** Stands in everything that the bank holds, so that any sight of it is a leak. */
const marker = `Quillfeather${crypto.randomUUID().slice(0, 8)}`;
const elsewhere = freshBank("elsewhere");
let victim: PathIds;

beforeAll(async () => {
  victim = await fillMarkedBank(marker);
  await owner("PUT", elsewhere.path, {});
});

test("a bad key is answered alike whatever is wrong with it, on every route", async () => {
  const keys = await badKeys(owner, withKey);
  const calls = sampleCalls(document, victim).filter(({ needsKey }) => needsKey);
  expect(calls.length).toBeGreaterThan(70);
  for (const [why, key] of keys) {
    for (const { method, path, body } of calls) {
      const answer = await withKey(key)(method, path, body);
      const seen = { status: answer.status, body: answer.body, headers: steadyHeaders(answer) };
      expect(seen, `${why}: ${method} ${path}`).toEqual({
        status: 401,
        body: { detail: "Authentication failed: Invalid API key" },
        headers: {
          "content-type": "application/json; charset=utf-8",
          "content-length": "51",
          "www-authenticate": "Bearer",
        },
      });
    }
  }
});

test("routes that need no key tell nothing of a bank", async () => {
  const calls = sampleCalls(document, victim).filter(({ needsKey }) => !needsKey);
  expect(calls.map(({ path }) => path)).toEqual(["/health", "/health/ready", "/health/live", "/version", "/metrics"]);
  for (const { method, path } of calls) {
    const answer = await withKey("")(method, path);
    expect(answer.status, path).toBe(200);
    expectNoSightOf(answer, path);
  }
});

test("a key that is kept to another bank gets the same 403 whether a bank exists or not, and sees no more elsewhere", async () => {
  const restricted = withKey((await createScopedKey(owner, [elsewhere.bankId])).apiKey);
  const nowhere = strangeIds(victim);
  const before = await everythingIn(victim);
  const realCalls = sampleCalls(document, victim);
  const strangeCalls = sampleCalls(document, nowhere);
  for (const [i, call] of realCalls.entries()) {
    if (!call.needsKey) continue;
    const { method, path, operationId } = call;
    const answer = await restricted(method, path, call.body);
    const strange = await restricted(method, strangeCalls[i]!.path, strangeCalls[i]!.body);
    expect(told(answer, victim), `${method} ${path}`).toEqual(told(strange, nowhere));
    expect(answer.status, `${method} ${path}`).toBe(call.isOfBank ? 403 : statusOfRestricted[operationId]);
    expectNoSightOf(answer, path);
    if (call.isOfBank) expect(answer.body.detail).toBe(`API key is not allowed to access bank '${victim["bank_id"]}'`);
  }
  const { body } = await restricted("GET", "/v1/default/banks");
  expect(body.banks.map(({ bank_id }: { bank_id: string }) => bank_id)).toEqual([elsewhere.bankId]);
  expect((await restricted("GET", "/v1/api-keys")).body.total, "only itself").toBe(1);
  expect(await everythingIn(victim)).toEqual(before);
});

/** Of a member without capabilities, where no bank is in the path. */
const statusOfRestricted: Readonly<Record<string, number>> = {
  listBanks: 200,
  getChunk: 404,
  listTenantAuditLogs: 403,
  createScopedApiKey: 403,
  listScopedApiKeys: 403,
  revokeScopedApiKey: 403,
  createApiKey: 403,
  listApiKeys: 200,
  revokeApiKey: 403,
};

test("an admin who is kept to a bank makes and ends no key that reaches further", async () => {
  const admin = withKey((await createKey(owner, { role: "admin", allowed_bank_ids: [elsewhere.bankId] })).apiKey);
  expect((await admin("DELETE", `/v1/api-keys/${victim["key_id"]}`)).status).toBe(403);
  expect((await admin("POST", "/v1/api-keys", { name: "wider" })).status).toBe(403);
  expect((await admin("POST", "/v1/api-keys", { name: "x", allowed_bank_ids: [victim["bank_id"]] })).status).toBe(403);
  expect((await admin("GET", "/v1/audit-logs")).status).toBe(403);
  expect((await withKey(victim["api_key"]!)("GET", `/v1/default/banks/${victim["bank_id"]}/stats`)).status).toBe(200);
});

/** Nothing happens in the background, so that both worlds are in the same state at each step however slow the machine is. */
const steady = { enable_observations: false };

test("another tenant gets from every route what it would get if nothing of ours existed, and changes nothing", async () => {
  const stranger = withKey((await createTenant(rpcAddress, serviceToken, steady)).apiKey);
  const nowhere = strangeIds(victim);
  const before = await everythingIn(victim);
  const realCalls = sampleCalls(document, victim);
  const strangeCalls = sampleCalls(document, nowhere);
  const statuses = new Map<number, number>();
  for (const [i, call] of realCalls.entries()) {
    if (!call.needsKey) continue;
    const { method, path } = call;
    // One after the other in both worlds, so that both are in the same state at each step.
    const answer = await stranger(method, path, call.body);
    const strange = await stranger(method, strangeCalls[i]!.path, strangeCalls[i]!.body);
    expectNoSightOf(answer, path);
    if (isAboutTheTenant(call)) continue;
    expect(told(answer, victim), `${method} ${path}`).toEqual(told(strange, nowhere));
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  }
  expect(statuses.get(404), "resources of ours are not found").toBeGreaterThan(20);
  expect(await everythingIn(victim)).toEqual(before);
});

/** Lists whatever the tenant itself did, in both worlds. */
const isAboutTheTenant = ({ operationId }: SampleCall) =>
  ["listBanks", "listTenantAuditLogs", "listApiKeys"].includes(operationId);

test("its own key opens every route", async () => {
  for (const { method, path, body, operationId, needsKey } of sampleCalls(document, victim)) {
    if (!needsKey) continue;
    const answer = await owner(method, path, body);
    const expected = statusOfOwn[operationId] ?? (operationId === "createWebhook" ? 201 : 200);
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(expected);
  }
});

/** Where the state of what was made, or a withdrawal, decides rather than the key. */
const statusOfOwn: Readonly<Record<string, number>> = {
  getDocumentTransfer: 410,
  regenerateEntity: 410,
  retryOperation: 409,
  cancelOperation: 404, // its record was deleted just before
  revokeApiKey: 404, // it was ended through the route for scoped keys
};

/** What an answer tells, with the ids that were asked for, and what is new in every answer, taken out. */
function told({ status, body, headers }: Answer, asked: PathIds): unknown {
  let text = JSON.stringify(body) ?? "";
  for (const [name, id] of Object.entries(asked)) text = text.replaceAll(id, `{${name}}`);
  text = text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "{uuid}");
  text = text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g, "{instant}");
  text = text.replaceAll(/hsk_\w+/g, "{key}").replaceAll(/"\w*(?:duration|latency)_ms":[\d.]+/g, "{duration}");
  const names = [...headers.keys()].filter((name) => name !== "keep-alive" && name !== "content-length");
  return { status, text, headers: names.sort() };
}

const steadyHeaders = ({ headers }: Answer) => {
  const { date: _, "x-request-id": __, connection: ___, "keep-alive": ____, ...rest } = Object.fromEntries(headers);
  return rest;
};

/** The marker may come back only where the caller itself sent it: in a text about its own path. */
function expectNoSightOf(answer: Answer, path: string): void {
  let text = JSON.stringify(answer.body) ?? "";
  for (const part of path.split("/").filter((part) => part.toLowerCase().includes(marker.toLowerCase()))) {
    text = text.replaceAll(decodeURIComponent(part), "");
  }
  expect(text.toLowerCase(), path).not.toContain(marker.toLowerCase());
  expect(text, path).not.toContain(victim["api_key"]);
}

/** All that the owner can read of a bank, and the key that belongs to it. */
async function everythingIn(ids: PathIds): Promise<unknown> {
  const reads = sampleCalls(document, ids).filter(({ method, isOfBank }) => method === "GET" && isOfBank);
  const seen: Record<string, unknown> = {};
  for (const { operationId, method, path } of reads) seen[operationId] = (await owner(method, path)).body;
  const { body } = await owner("GET", "/v1/api-keys?limit=500");
  seen["key"] = body.items.find(({ id }: { id: string }) => id === ids["key_id"]);
  return seen;
}
