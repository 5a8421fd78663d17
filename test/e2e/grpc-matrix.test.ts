import { status } from "@grpc/grpc-js";
import { AuthInternalServiceService, AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import { MemoryInternalServiceService, MemoryServiceService, RetainItem } from "@memory-bank/proto/memory/v1/memory";
import { ReflectInternalServiceService, ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import { WebhookInternalServiceService, WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import type { ServiceDefinition } from "@memory-bank/rpc";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { bearer, createDirectCaller, type RpcAnswer } from "../support/direct-caller.ts";
import { badKeys, createScopedKey, createTenant } from "../support/keys.ts";
import type { PathIds } from "../support/sample-calls.ts";
import { fillMarkedBank, strangeIds } from "./marked-bank.ts";
import { freshBank, owner, withKey } from "./service.ts";

const { rpcAddress, serviceToken } = inject("service");
const direct = createDirectCaller(rpcAddress);
afterAll(() => direct[Symbol.dispose]());

const marker = `Fernwhistle${crypto.randomUUID().slice(0, 8)}`;
const elsewhere = freshBank("elsewhere");
let victim: PathIds;
beforeAll(async () => {
  victim = await fillMarkedBank(marker);
  await owner("PUT", elsewhere.path, {});
});

type Method = ServiceDefinition[string];
interface Sample {
  readonly name: string;
  readonly method: Method;
  readonly request: Readonly<Record<string, unknown>>;
}

const publicServices = [
  AuthServiceService,
  BankServiceService,
  MemoryServiceService,
  ReflectServiceService,
  WebhookServiceService,
];
const internalMethods: readonly Method[] = [
  AuthInternalServiceService,
  BankInternalServiceService,
  MemoryInternalServiceService,
  ReflectInternalServiceService,
  WebhookInternalServiceService,
].flatMap((definition: ServiceDefinition) => Object.values(definition));

const page = { limit: 100, offset: 0 };
/** What a request needs beside the ids that it names. */
const members: Readonly<Record<string, object>> = {
  CreateApiKey: { name: "direct" },
  CreateScopedApiKey: { name: "direct", allowedBankIds: ["direct"], expiresInDays: 1 },
  PutBank: { mission: "direct" },
  PatchBank: { mission: "direct" },
  PatchBankConfig: { updates: { retain_chunk_size: 1_000 } },
  CreateDirective: { name: "Direct", content: "Answer briefly." },
  UpdateDirective: { content: "Answer at length." },
  GetAuditStats: { period: "1d" },
  Retain: { items: [RetainItem.fromPartial({ content: "Ines keeps bees on the roof." })] },
  Recall: { query: "Who keeps bees?", maxTokens: 1_000 },
  UpdateMemory: { context: "direct" },
  GetTimeSeries: { period: "1d", timeField: "created_at" },
  UpdateDocument: { tags: { values: ["direct"] } },
  Reflect: { query: "Who keeps bees?", maxTokens: 1_000 },
  CreateMentalModel: { id: "direct", name: "Direct", sourceQuery: "Who keeps bees?", maxTokens: 1_000 },
  UpdateMentalModel: { name: "Direct anew" },
  CreateWebhook: { url: "http://127.0.0.1:9/direct" },
  UpdateWebhook: { enabled: true },
  RedeliverFailed: { sinceUs: 1_700_000_000_000_000 },
};

/** One call of every public method, reads first and the deletion of the bank last. */
function samplesFor(ids: PathIds): readonly Sample[] {
  const byMember = Object.entries(ids).map(
    ([name, id]) => [name.replaceAll(/_(\w)/g, (_, c: string) => c.toUpperCase()), id] as const,
  );
  const samples = publicServices.flatMap((definition: ServiceDefinition) =>
    Object.values(definition).map((method): Sample => {
      const name = nameOf(method);
      const empty: object = method.requestDeserialize(Buffer.alloc(0));
      const named = byMember.filter(([member]) => member in empty && !(name === "Retain" && member === "operationId"));
      const operation =
        method.path.includes("ReflectService") && "operationId" in empty ? { operationId: ids["refresh_operation_id"] } : {};
      const several = name === "ListBankActivity" ? { bankIds: [ids["bank_id"]] } : {};
      const paged = "offset" in empty ? page : "limit" in empty ? { limit: page.limit } : {};
      return { name, method, request: { ...paged, ...Object.fromEntries(named), ...operation, ...several, ...members[name] } };
    }),
  );
  return samples.sort((a, b) => rank(a.name) - rank(b.name));
}

const nameOf = ({ path }: Method) => path.slice(path.lastIndexOf("/") + 1);

const lastOnes = [
  "Cancel",
  "Retry",
  "Clear",
  "DeleteOperation",
  "Redeliver",
  "Test",
  "Delete",
  "ClearMemories",
  "Revoke",
  "DeleteBank",
];
const rank = (name: string) => (/^(Get|List|Count)/.test(name) ? -2 : lastOnes.findLastIndex((start) => name.startsWith(start)));

test("a bad key is answered alike whatever is wrong with it, on every method", async () => {
  const keys = await badKeys(owner, withKey);
  const samples = samplesFor(victim);
  expect(samples.length).toBeGreaterThan(70);
  for (const [why, key] of keys) {
    for (const { method, request } of samples) {
      const answer = await direct.call(method, request, bearer(key));
      expect(answer, `${why}: ${method.path}`).toEqual({
        code: status.UNAUTHENTICATED,
        details: "Authentication failed: Invalid API key",
        response: undefined,
      });
    }
  }
});

test("internal methods are refused whatever a caller shows, short of the mesh's own token", async () => {
  const principal = { tenantId: "default", keyId: "k", role: "owner", capabilities: [], allowedBankIds: null };
  const claims = { "x-mb-principal": Buffer.from(JSON.stringify(principal)).toString("base64url"), "x-mb-transport": "http" };
  expect(internalMethods.length).toBeGreaterThanOrEqual(15);
  for (const method of internalMethods) {
    const codes = [
      (await direct.call(method, {})).code,
      (await direct.call(method, {}, claims)).code,
      (await direct.call(method, {}, { ...claims, "x-mb-service-token": "guessed" })).code,
      (await direct.call(method, {}, { ...claims, ...bearer(owner.key) })).code,
      (await direct.call(method, {}, { ...bearer(owner.key), "x-mb-service-token": serviceToken })).code,
    ];
    const [unknown, denied] = [status.UNAUTHENTICATED, status.PERMISSION_DENIED];
    expect(codes, method.path).toEqual([unknown, unknown, unknown, denied, denied]);
  }
});

test("claims about who calls count for nothing beside a key", async () => {
  const { apiKey } = await createScopedKey(owner, [elsewhere.bankId]);
  const principal = { tenantId: "default", keyId: "k", role: "owner", capabilities: [], allowedBankIds: null };
  const claims = { "x-mb-principal": Buffer.from(JSON.stringify(principal)).toString("base64url"), "x-mb-transport": "http" };
  for (const { method, request } of samplesFor(victim).filter(({ request }) => "bankId" in request)) {
    const answer = await direct.call(method, request, { ...bearer(apiKey), ...claims });
    expect(answer.code, method.path).toBe(status.PERMISSION_DENIED);
  }
});

test("a key that is kept to another bank is refused alike whether a bank exists or not, and sees no more elsewhere", async () => {
  const { apiKey } = await createScopedKey(owner, [elsewhere.bankId]);
  const nowhere = strangeIds(victim);
  const strange = samplesFor(nowhere);
  for (const [i, { name, method, request }] of samplesFor(victim).entries()) {
    const answer = await direct.call(method, request, bearer(apiKey));
    const other = await direct.call(method, strange[i]!.request, bearer(apiKey));
    expect(told(answer, victim), method.path).toEqual(told(other, nowhere));
    expectNoSightOf(answer, method.path);
    const expected = "bankId" in request ? status.PERMISSION_DENIED : codeOfRestricted[name];
    expect(answer.code, `${method.path}: ${answer.details}`).toBe(expected);
  }
});

/** Of a member without capabilities, where no single bank is named. */
const codeOfRestricted: Readonly<Record<string, number>> = {
  CreateApiKey: status.PERMISSION_DENIED,
  CreateScopedApiKey: status.PERMISSION_DENIED,
  ListApiKeys: status.OK,
  RevokeApiKey: status.PERMISSION_DENIED,
  ListBanks: status.OK,
  GetChunk: status.NOT_FOUND,
  ListBankActivity: status.OK, // about those of the named banks that it may see: none
};

/** Nothing happens in the background, so that both worlds are in the same state at each step however slow the machine is. */
const steady = { enable_observations: false };

test("another tenant gets from every method what it would get if nothing of ours existed, and changes nothing", async () => {
  const { apiKey } = await createTenant(rpcAddress, serviceToken, steady);
  const nowhere = strangeIds(victim);
  const before = await everythingIn(victim);
  const strange = samplesFor(nowhere);
  let missing = 0;
  for (const [i, { name, method, request }] of samplesFor(victim).entries()) {
    const answer = await direct.call(method, request, bearer(apiKey));
    const other = await direct.call(method, strange[i]!.request, bearer(apiKey));
    expectNoSightOf(answer, method.path);
    if (answer.code === status.NOT_FOUND) missing++;
    if (listsTheTenant.has(name)) continue;
    expect(told(answer, victim), method.path).toEqual(told(other, nowhere));
  }
  expect(missing, "resources of ours are not found").toBeGreaterThan(20);
  expect(await everythingIn(victim)).toEqual(before);
});

const listsTheTenant = new Set(["ListBanks", "ListApiKeys"]);

test("its own key opens every method", async () => {
  for (const { name, method, request } of samplesFor(victim)) {
    const answer = await direct.call(method, request, bearer(owner.key));
    expect(answer.code, `${method.path}: ${answer.details}`).toBe(codeOfOwn[name] ?? status.OK);
  }
});

/** Where the state of what was made decides rather than the key. */
const codeOfOwn: Readonly<Record<string, number>> = {
  CancelOperation: status.FAILED_PRECONDITION,
  RetryOperation: status.FAILED_PRECONDITION,
};

/** All that the owner can read of a bank. */
async function everythingIn(ids: PathIds): Promise<unknown> {
  const seen: Record<string, unknown> = {};
  const reads = samplesFor(ids).filter(({ name, request }) => /^(Get|List|Count)/.test(name) && "bankId" in request);
  for (const { method, request } of reads) seen[method.path] = (await direct.call(method, request, bearer(owner.key))).response;
  return seen;
}

/** What an answer tells, with the ids that were asked for, and what is new in every answer, taken out. */
function told({ code, details, response }: RpcAnswer, asked: PathIds): unknown {
  let text = JSON.stringify([details, response]);
  for (const [name, id] of Object.entries(asked)) text = text.replaceAll(id, `{${name}}`);
  text = text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "{uuid}").replaceAll(/hsk_\w+/g, "{key}");
  return { code, text: text.replaceAll(/"\w+Us":\d+/g, "{instant}").replaceAll(/"\w*[dD]urationMs":\d+/g, "{duration}") };
}

/** The marker may come back only as part of an id that the caller itself sent. */
function expectNoSightOf({ details, response }: RpcAnswer, path: string): void {
  let text = JSON.stringify([details, response]);
  for (const name of ["bank_id", "document_id", "mental_model_id"]) text = text.replaceAll(victim[name]!, "");
  expect(text.toLowerCase(), path).not.toContain(marker.toLowerCase());
  expect(text, path).not.toContain(victim["api_key"]);
}
