import { status } from "@grpc/grpc-js";
import { AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import { MemoryServiceService, RetainItem } from "@memory-bank/proto/memory/v1/memory";
import { ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import { WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import { afterAll, expect, inject, test } from "vitest";
import { eventually } from "../support/api.ts";
import { bearer, createDirectCaller } from "../support/direct-caller.ts";
import { createKey } from "../support/keys.ts";
import { freshBank, owner } from "./service.ts";

const direct = createDirectCaller(inject("service").rpcAddress);
afterAll(() => direct[Symbol.dispose]());

interface Entry {
  readonly action: string;
  readonly transport: string;
  readonly request: Record<string, unknown> | null;
  readonly response: Record<string, unknown> | null;
  readonly metadata: Record<string, unknown>;
}

/** Waits for that many entries of direct callers, newest first. */
async function entriesAt(path: string, count: number): Promise<readonly Entry[]> {
  return eventually(`${count} entries at ${path}`, async () => {
    const { items } = (await owner("GET", `${path}?transport=system&limit=500`)).body as { items: Entry[] };
    const own = items.filter(({ metadata }) => metadata["rpc"] !== undefined);
    return own.length >= count && own;
  });
}

test("what a direct caller does to a bank is in its log, once, without secrets and without the text of memories", async () => {
  const { bankId, path } = freshBank();
  const key = await createKey(owner);
  const call = async (method: Parameters<typeof direct.call>[0], request: object) => {
    const answer = await direct.call(method, request, bearer(key.apiKey));
    expect(answer.code, `${method.path}: ${answer.details}`).toBe(status.OK);
  };
  const item = RetainItem.fromPartial({ content: "Oona grows quinces behind the mill." });
  await call(BankServiceService.putBank, { bankId, mission: "quinces" });
  await call(MemoryServiceService.retain, { bankId, items: [item] });
  await call(MemoryServiceService.getStats, { bankId });
  await call(MemoryServiceService.recall, { bankId, query: "Who grows quinces?", maxTokens: 1_000 });
  await call(ReflectServiceService.reflect, { bankId, query: "Who grows quinces?", maxTokens: 1_000 });
  await call(WebhookServiceService.createWebhook, { bankId, url: "http://127.0.0.1:9/x", secret: "a secret nobody may read" });

  const entries = await entriesAt(`${path}/audit-logs`, 5);
  expect(entries.map(({ action, metadata }) => [action, metadata["rpc"]])).toEqual([
    ["create_webhook", WebhookServiceService.createWebhook.path],
    ["reflect", ReflectServiceService.reflect.path],
    ["recall", MemoryServiceService.recall.path],
    ["retain", MemoryServiceService.retain.path],
    ["create_bank", BankServiceService.putBank.path],
  ]);
  for (const { metadata } of entries) expect(metadata["api_key_id"]).toBe(key.id);
  expect(entries.at(-1)).toMatchObject({ request: { bankId, mission: "quinces" }, response: { bankId } });
  expect(JSON.stringify(entries)).not.toMatch(/Oona|behind the mill|nobody may read/);
});

test("refused calls leave nothing, failed ones their reason", async () => {
  const { bankId, path } = freshBank();
  await owner("PUT", path, {});
  const elsewhere = await createKey(owner, { allowed_bank_ids: ["elsewhere"] });
  const { deleteDirective, patchBank } = BankServiceService;
  expect(await direct.call(patchBank, { bankId, mission: "x" }, bearer(elsewhere.apiKey))).toMatchObject({
    code: status.PERMISSION_DENIED,
  });
  expect((await direct.call(patchBank, { bankId, mission: "x" })).code).toBe(status.UNAUTHENTICATED);
  const missing = { bankId, directiveId: crypto.randomUUID() };
  expect((await direct.call(deleteDirective, missing, bearer(owner.key))).code).toBe(status.NOT_FOUND);
  expect(await entriesAt(`${path}/audit-logs`, 1)).toMatchObject([
    { action: "delete_directive", response: null, metadata: { error: `Directive '${missing.directiveId}' not found` } },
  ]);
});

test("keys made and ended, over REST and directly, are in the tenant's log, and no key is", async () => {
  const made = await createKey(owner, { name: "over REST", capabilities: ["create_scoped_keys"] });
  const { createApiKey, createScopedApiKey, revokeApiKey } = AuthServiceService;
  const directly = await direct.call(createApiKey, { name: "directly" }, bearer(owner.key));
  const scoped = { name: "child", allowedBankIds: ["b"], expiresInDays: 1 };
  const child = await direct.call(createScopedApiKey, scoped, bearer(made.apiKey));
  const [directKey, childKey] = [directly.response, child.response] as { apiKey: string; key: { id: string } }[];
  await direct.call(revokeApiKey, { keyId: directKey!.key.id }, bearer(owner.key));
  await owner("DELETE", `/v1/api-keys/${made.id}`);

  const wanted = [
    ["create_api_key", "http"],
    ["create_api_key", "system"],
    ["create_scoped_api_key", "system"],
    ["revoke_api_key", "http"],
    ["revoke_api_key", "system"],
  ];
  const ids = [made.id, directKey!.key.id, childKey!.key.id];
  const entries = await eventually("entries of keys", async () => {
    const { items } = (await owner("GET", "/v1/audit-logs?limit=500")).body as { items: (Entry & { bank_id: unknown })[] };
    const own = items.filter((item) => ids.some((id) => JSON.stringify(item).includes(id)) && item.action.endsWith("api_key"));
    return own.length >= 5 && own;
  });
  // The child was made with the first key, whose id its entry names as the caller's.
  expect(entries.map(({ action, transport }) => [action, transport]).sort()).toEqual(wanted);
  for (const { bank_id } of entries) expect(bank_id).toBeNull();
  const log = JSON.stringify(entries);
  for (const apiKey of [made.apiKey, directKey!.apiKey, childKey!.apiKey]) expect(log).not.toContain(apiKey);
});
