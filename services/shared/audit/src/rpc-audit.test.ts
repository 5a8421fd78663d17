import type { Principal } from "@memory-bank/context";
import { AppError } from "@memory-bank/errors";
import { AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import { type AuditEntry, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import { ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import { WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import type { ServedCall } from "@memory-bank/rpc";
import { expect, test } from "vitest";
import { rpcActionOf, rpcActions } from "./rpc-actions.ts";
import { createRpcAudit } from "./rpc-audit.ts";

const principal: Principal = { tenantId: "acme", keyId: "key-1", role: "owner", capabilities: [], allowedBankIds: null };
const atUs = 1_772_625_600_000_000;

function opened(options: { readonly hasRoom?: boolean; readonly keepsText?: boolean } = {}) {
  const { hasRoom = true, keepsText = false } = options;
  const entries: AuditEntry[] = [];
  let clockUs = atUs;
  const observe = createRpcAudit({
    queue: { hasRoom: () => hasRoom, add: (entry) => void entries.push(entry) },
    nowUs: () => (clockUs += 1_000),
    newId: () => "id",
    keepsText,
  });
  const signal = new AbortController().signal;
  return {
    /** Answers what the caller got, once the entry would have been queued. */
    async call(path: string, request: object, work: () => Promise<unknown>, parts: Partial<ServedCall> = {}) {
      const ctx = { principal, requestId: "r", transport: "system", deadlineMs: Number.MAX_SAFE_INTEGER, signal } as const;
      const answer = await observe({ path, ctx, request, isDirect: true, ...parts }, work).catch((error: unknown) => error);
      await new Promise((done) => setImmediate(done));
      return answer;
    },
    entries,
  };
}

const paths = {
  putBank: BankServiceService.putBank.path,
  getBank: BankServiceService.getBank.path,
  retain: MemoryServiceService.retain.path,
  recall: MemoryServiceService.recall.path,
  createApiKey: AuthServiceService.createApiKey.path,
  createWebhook: WebhookServiceService.createWebhook.path,
};

test("every public method that changes something has an action, and every action a method", () => {
  const methods = [AuthServiceService, BankServiceService, MemoryServiceService, ReflectServiceService, WebhookServiceService]
    .flatMap((definition) => Object.values(definition))
    .map(({ path }) => path);
  const readsOnly = /\/(Get|List|Count|TestLanguageModel$)/;
  const unnamed = methods.filter((path) => !readsOnly.test(path) && rpcActionOf(path) === undefined);
  expect(unnamed).toEqual([]);
  expect(methods.filter((path) => readsOnly.test(path) && rpcActionOf(path) !== undefined)).toEqual([]);
  const methodNames = new Set(methods.map((path) => path.slice(path.lastIndexOf("/") + 1)));
  expect(Object.keys(rpcActions).filter((name) => !methodNames.has(name))).toEqual([]);
});

test("a mutation of a direct caller is recorded with its method and its key", async () => {
  const { call, entries } = opened();
  const answer = { bankId: "b", name: "B", mission: undefined };
  expect(await call(paths.putBank, { bankId: "b", name: "B", mission: undefined }, async () => answer)).toBe(answer);
  expect(entries).toEqual([
    {
      id: "id",
      action: "create_bank",
      transport: "system",
      bankId: "b",
      startedAtUs: atUs + 1_000,
      endedAtUs: atUs + 2_000,
      request: { bankId: "b", name: "B" },
      response: { bankId: "b", name: "B" },
      metadata: { rpc: paths.putBank, api_key_id: "key-1" },
      tenantId: "acme",
    },
  ]);
});

test("reads, and calls of members of the mesh, pass without an entry", async () => {
  const { call, entries } = opened();
  await call(paths.getBank, { bankId: "b" }, async () => ({}));
  await call(paths.putBank, { bankId: "b" }, async () => ({}), { isDirect: false });
  expect(entries).toEqual([]);
});

test("secrets are replaced: keys that were made, webhook secrets and headers", async () => {
  const { call, entries } = opened();
  await call(paths.createApiKey, { name: "n" }, async () => ({ key: { id: "k" }, apiKey: "hsk_x" }));
  const webhook = { bankId: "b", secret: "whs", httpConfig: { headers: { "X-A": "h" }, params: {} } };
  await call(paths.createWebhook, webhook, async () => webhook);
  expect(JSON.stringify(entries)).not.toMatch(/hsk_x|whs|"h"/);
  expect(entries[0]).toMatchObject({ bankId: undefined, response: { key: { id: "k" }, apiKey: "[redacted]" } });
});

test("the text of memories does not live on in the log, unless it is told to", async () => {
  const retain = { bankId: "b", items: [{ content: "Ann likes tea.", tags: ["t"] }], async: false };
  const found = { results: [{ id: "u", text: "Ann likes tea." }] };
  const usual = opened();
  await usual.call(paths.retain, retain, async () => ({ unitIds: ["u"] }));
  await usual.call(paths.recall, { bankId: "b", query: "tea" }, async () => found);
  expect(JSON.stringify(usual.entries)).not.toContain("Ann likes");
  expect(usual.entries[0]?.request).toMatchObject({ items: [{ content: { chars: 14 }, tags: ["t"] }] });
  expect(usual.entries[1]?.response).toEqual({ ids: ["u"] });
  const keeping = opened({ keepsText: true });
  await keeping.call(paths.recall, { bankId: "b", query: "tea" }, async () => found);
  expect(keeping.entries[0]?.response).toEqual(found);
});

test.each([
  ["no key", new AppError("unauthenticated", "X", "no"), 0],
  ["no right", new AppError("permission_denied", "X", "no"), 0],
  [
    "a malformed request",
    new AppError("invalid_argument", "X", "no", { violations: [{ location: ["body"], type: "missing", message: "m" }] }),
    0,
  ],
  ["a bad value", new AppError("invalid_argument", "X", "no"), 1],
  ["a conflict", new AppError("conflict", "X", "no"), 1],
  ["a fault of our own", new Error("database is at /srv/data"), 1],
])("a call that fails for %s leaves the entries it should", async (_, error, count) => {
  const { call, entries } = opened();
  expect(await call(paths.putBank, { bankId: "b" }, () => Promise.reject(error))).toBe(error);
  expect(entries).toHaveLength(count);
  for (const entry of entries) {
    expect(entry.response).toBeUndefined();
    expect(entry.metadata).toMatchObject({ error: error instanceof AppError ? "no" : "Internal server error" });
  }
});

test("while entries cannot be taken, mutations are refused before they begin, and searches go on unrecorded", async () => {
  const { call, entries } = opened({ hasRoom: false });
  let worked = 0;
  const work = async () => ({ results: [], worked: ++worked });
  expect(await call(paths.putBank, { bankId: "b" }, work)).toMatchObject({ code: "unavailable" });
  expect(await call(paths.recall, { bankId: "b", query: "q" }, work)).toMatchObject({ results: [] });
  expect([worked, entries]).toEqual([1, []]);
});

test("a large message is replaced by its size", async () => {
  const { call, entries } = opened();
  await call(paths.putBank, { bankId: "b", mission: "x".repeat(70_000) }, async () => ({}));
  expect(entries[0]?.request).toEqual({ truncated: true, size: expect.any(Number) });
});
