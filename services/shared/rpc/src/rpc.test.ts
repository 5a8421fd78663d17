import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import type { CallContext, Principal } from "@memory-bank/context";
import { AppError, type ErrorCode, errorCodes } from "@memory-bank/errors";
import {
  AuthInternalServiceService,
  AuthServiceService,
  type CreateTenantRequest,
  type ListApiKeysRequest,
} from "@memory-bank/proto/auth/v1/auth";
import { describe, expect, test, vi } from "vitest";
import { bearerKey } from "./call-metadata.ts";
import { connect } from "./connect.ts";
import { copyMessage } from "./copy-message.ts";
import { createInProcessMesh } from "./in-process-mesh.ts";
import { implement, type Rpc, type Service } from "./rpc.ts";
import { serve } from "./serve.ts";
import { errorFromStatus, statusFromError } from "./status.ts";

const principal: Principal = { tenantId: "t", keyId: "k", role: "owner", capabilities: [], allowedBankIds: ["b", "é"] };
const request: ListApiKeysRequest = { status: "all", limit: 3, offset: 0, childrenOnly: false };

function context(members: Partial<CallContext> = {}): CallContext {
  return {
    requestId: "r-1",
    transport: "http",
    deadlineMs: Date.now() + 10_000,
    signal: new AbortController().signal,
    principal,
    ...members,
  };
}

type ListKeys = Rpc<typeof AuthServiceService>["listApiKeys"];

/** A service whose one interesting handler is the test's own. */
function authService(listApiKeys: ListKeys): Service {
  const unused = async () => {
    throw new AppError("internal", "UNUSED", "not part of this test");
  };
  return {
    name: "auth",
    implementations: [
      implement(AuthServiceService, { createApiKey: unused, createScopedApiKey: unused, listApiKeys, revokeApiKey: unused }),
      implement(AuthInternalServiceService, {
        verifyKey: unused,
        createTenant: async (_, { tenantId }: CreateTenantRequest) => ({ key: undefined, apiKey: tenantId }),
      }),
    ],
    start: async () => {},
    stop: async () => {},
    ready: async () => {},
  };
}

const log = { error: vi.fn() };

describe.each(["in process", "over gRPC"])("calls %s", (way) => {
  async function connected(listApiKeys: ListKeys) {
    const service = authService(listApiKeys);
    if (way === "in process") {
      const mesh = createInProcessMesh({ log });
      const client = mesh.client(AuthServiceService);
      mesh.bind(service);
      mesh.ready();
      return { client, [Symbol.asyncDispose]: async () => {} };
    }
    const server = await serve([service], {
      host: "127.0.0.1",
      port: 0,
      log,
      serviceToken: "token",
      newId: () => "id",
      verifyKey: async () => principal,
    });
    const peer = connect({ address: `127.0.0.1:${server.port}`, serviceToken: "token" });
    return {
      client: peer.client(AuthServiceService),
      async [Symbol.asyncDispose]() {
        await peer[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  test("carry request, caller and answer", async () => {
    const seen: unknown[] = [];
    await using wire = await connected(async (ctx, received) => {
      seen.push(ctx.principal, ctx.requestId, ctx.transport, received);
      return { keys: [], total: 7 };
    });
    expect(await wire.client.listApiKeys(context(), request)).toEqual({ keys: [], total: 7 });
    expect(seen).toEqual([principal, "r-1", "http", request]);
  });

  test.each(errorCodes.filter((code) => code !== "internal"))("carry an expected error whole: %s", async (code: ErrorCode) => {
    const violations = [
      { location: ["body", "items", 0], type: "value_error", message: "no", input: { a: [1] }, context: { error: {} } },
    ];
    const thrown = new AppError(code, "SOME_REASON", "text für alle", {
      details: { id: "x" },
      violations,
      retryAfterMs: 30_000,
      cause: new Error("secret"),
    });
    await using wire = await connected(async () => {
      throw thrown;
    });
    const caught = await wire.client.listApiKeys(context(), request).catch((error: unknown) => error);
    expect(caught).toMatchObject({
      code,
      reason: "SOME_REASON",
      message: "text für alle",
      details: { id: "x" },
      violations,
      retryAfterMs: 30_000,
    });
    expect((caught as Error).cause).not.toMatchObject({ message: "secret" });
  });

  test("hide an unexpected error and log it once", async () => {
    log.error.mockClear();
    await using wire = await connected(async () => {
      throw new TypeError("password=hunter2");
    });
    const caught = await wire.client.listApiKeys(context(), request).catch((error: unknown) => error);
    expect(caught).toMatchObject({ code: "internal", message: "Internal server error" });
    expect(log.error).toHaveBeenCalledTimes(1);
  });

  test("end at the deadline, and tell the handler", async () => {
    let told: AbortSignal | undefined;
    await using wire = await connected((ctx) => {
      told = ctx.signal;
      return new Promise(() => {});
    });
    const call = wire.client.listApiKeys(context({ deadlineMs: Date.now() + 100 }), request);
    await expect(call).rejects.toMatchObject({ code: "deadline_exceeded" });
    await vi.waitFor(() => expect(told?.aborted).toBe(true));
  });

  test("end when the caller goes away", async () => {
    const caller = new AbortController();
    let told: AbortSignal | undefined;
    await using wire = await connected((ctx) => {
      told = ctx.signal;
      caller.abort();
      return new Promise(() => {});
    });
    await expect(wire.client.listApiKeys(context({ signal: caller.signal }), request)).rejects.toMatchObject({
      code: "cancelled",
    });
    await vi.waitFor(() => expect(told?.aborted).toBe(true));
  });

  test("a job's call may have no deadline of its own", async () => {
    await using wire = await connected(async () => ({ keys: [], total: 1 }));
    expect(await wire.client.listApiKeys(context({ deadlineMs: Number.MAX_SAFE_INTEGER }), request)).toMatchObject({ total: 1 });
  });
});

describe("direct callers", () => {
  async function dial(
    verifyKey: (key: string) => Promise<Principal>,
    metadata: Record<string, string>,
    path: "listApiKeys" | "createTenant",
  ) {
    const service = authService(async (ctx) => ({
      keys: [],
      total: ctx.principal?.keyId === "k" && ctx.transport === "system" ? 1 : 0,
    }));
    await using server = await serve([service], {
      host: "127.0.0.1",
      port: 0,
      log,
      serviceToken: "token",
      newId: () => "id",
      verifyKey: (_, key) => verifyKey(key),
    });
    const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
    const headers = new Metadata();
    for (const [name, value] of Object.entries(metadata)) headers.set(name, value);
    const method = path === "listApiKeys" ? AuthServiceService.listApiKeys : AuthInternalServiceService.createTenant;
    try {
      return await new Promise<{ code: number; answer?: unknown }>((resolve) =>
        client.makeUnaryRequest(
          method.path,
          method.requestSerialize as (value: unknown) => Buffer,
          method.responseDeserialize as (bytes: Buffer) => unknown,
          path === "listApiKeys" ? request : { tenantId: "evil", ownerKeyName: "" },
          headers,
          (error, answer) => resolve(error ? { code: error.code } : { code: status.OK, answer }),
        ),
      );
    } finally {
      client.close();
    }
  }
  const good = async (key: string) => {
    if (key !== "hsk_good") throw new AppError("unauthenticated", "INVALID_KEY", "Authentication failed: Invalid API key");
    return principal;
  };
  const claimed = Buffer.from(JSON.stringify({ ...principal, keyId: "forged" })).toString("base64url");

  test.each([
    ["with a key are who the key says", { authorization: "Bearer hsk_good" }, "listApiKeys", status.OK],
    [
      "may not claim to be somebody else",
      { authorization: "Bearer hsk_good", "x-mb-principal": claimed },
      "listApiKeys",
      status.OK,
    ],
    ["without a key are refused", {}, "listApiKeys", status.UNAUTHENTICATED],
    ["with a bad key are refused", { authorization: "Bearer hsk_bad" }, "listApiKeys", status.UNAUTHENTICATED],
    [
      "with a wrong token are refused",
      { "x-mb-service-token": "tokem", "x-mb-principal": claimed },
      "listApiKeys",
      status.UNAUTHENTICATED,
    ],
    ["never reach an internal call", { authorization: "Bearer hsk_good" }, "createTenant", status.PERMISSION_DENIED],
    ["with unreadable claims are refused", { "x-mb-principal": "!!" }, "listApiKeys", status.INVALID_ARGUMENT],
    ["members of the mesh reach internal calls", { "x-mb-service-token": "token" }, "createTenant", status.OK],
  ] as const)("%s", async (_, metadata, path, code) => {
    const outcome = await dial(good, metadata, path);
    expect(outcome.code).toBe(code);
    if (path === "listApiKeys" && code === status.OK) expect(outcome.answer).toMatchObject({ total: 1 });
  });

  test("hear that keys cannot be verified at the moment", async () => {
    const down = async () => {
      throw new AppError("unavailable", "AUTH_DOWN", "Service temporarily unavailable");
    };
    expect((await dial(down, { authorization: "Bearer hsk_good" }, "listApiKeys")).code).toBe(status.UNAVAILABLE);
  });
});

test("a mesh with a client that nobody serves is not ready", () => {
  const mesh = createInProcessMesh({ log });
  mesh.client(AuthServiceService);
  expect(() => mesh.ready()).toThrow("memorybank.auth.v1.AuthService");
});

test("copies share nothing, drop undefined and keep a member called __proto__", () => {
  const bytes = new Uint8Array([1, 2]);
  const message = JSON.parse('{"a":[{"b":1}],"__proto__":{"x":1}}');
  message.bytes = bytes;
  message.none = undefined;
  const copied = copyMessage(message);
  expect(Object.keys(copied)).toEqual(["a", "__proto__", "bytes"]);
  copied.a[0].b = 2;
  copied.bytes[0] = 9;
  expect([message.a[0].b, bytes[0], ({} as { x?: number }).x]).toEqual([1, 1, undefined]);
});

test("an error of the transport itself is unavailable, an unknown method is internal", () => {
  const bare = (code: status) => Object.assign(new Error("x"), { code, details: "x", metadata: new Metadata() });
  expect(errorFromStatus(bare(status.UNAVAILABLE))).toMatchObject({ code: "unavailable", reason: "TRANSPORT" });
  expect(errorFromStatus(bare(status.UNIMPLEMENTED))).toMatchObject({ code: "internal" });
  expect(statusFromError(new AppError("conflict", "R", "m")).code).toBe(status.ABORTED);
});

test.each([
  ["Bearer hsk_a", "hsk_a"],
  ["bearer   hsk_a", "hsk_a"],
  ["hsk_a", "hsk_a"],
  ["Basic abc def", undefined],
  ["", undefined],
  [undefined, undefined],
])("the key of %j is %j", (header, key) => {
  expect(bearerKey(header)).toBe(key);
});

test("whoever observes calls sees those that were let in, and which of them came with a key of their own", async () => {
  const observed: unknown[] = [];
  const service = authService(async () => ({ keys: [], total: 0 }));
  await using server = await serve([service], {
    host: "127.0.0.1",
    port: 0,
    log,
    serviceToken: "token",
    newId: () => "id",
    verifyKey: async (_, key) => {
      if (key !== "hsk_good") throw new AppError("unauthenticated", "INVALID_KEY", "no");
      return principal;
    },
    observe: (call, work) => {
      observed.push([call.path, call.request, call.ctx.principal, call.isDirect]);
      return work();
    },
  });
  await using member = connect({ address: `127.0.0.1:${server.port}`, serviceToken: "token" });
  await member.client(AuthServiceService).listApiKeys(context(), request);
  const direct = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  const { listApiKeys: method } = AuthServiceService;
  for (const key of ["hsk_good", "hsk_bad"]) {
    const headers = new Metadata();
    headers.set("authorization", `Bearer ${key}`);
    await new Promise((done) =>
      direct.makeUnaryRequest(method.path, method.requestSerialize, method.responseDeserialize, request, headers, done),
    );
  }
  direct.close();
  expect(observed).toEqual([
    [method.path, request, principal, false],
    [method.path, request, principal, true],
  ]);
});
