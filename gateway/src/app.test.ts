import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { AppError } from "@memory-bank/errors";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import { answerOf } from "./plugins/error-body.ts";
import { route } from "./route.ts";
import { asOwner, restrictedKey, testGateway } from "./test-gateway.ts";
import { list, listOrString, map, model, optional, refine } from "./validation/containers.ts";
import { bool, dateTime, id, int, pathId, str } from "./validation/scalars.ts";

const bankUrl = "/v1/default/banks/{bank_id}";
const echoed = Type.Object({ bank_id: Type.String() }, { additionalProperties: true });

function fakeRoutes(app: FastifyInstance): void {
  route(app, {
    method: "GET",
    url: `${bankUrl}/things`,
    operationId: "listThings",
    summary: "List things",
    tag: "things",
    params: { bank_id: pathId() },
    query: {
      limit: optional(int({ ge: 0, cap: 1000 }), 100),
      q: optional(str()),
      tags: optional(list(str()), []),
      since: optional(dateTime()),
      page: optional(int({ ge: 1, le: 3 })),
    },
    response: echoed,
    handler: async (_ctx, { params, query }) => ({ ...params, ...query }),
  });
  route(app, {
    method: "POST",
    url: `${bankUrl}/things`,
    operationId: "createThings",
    summary: "Create things",
    tag: "things",
    params: { bank_id: pathId() },
    body: model({
      items: list(
        model({
          content: refine(str(), (text) => (text.trim() === "" ? "content cannot be empty" : undefined)),
          document_id: optional(id()),
          tags: optional(listOrString(str())),
          metadata: optional(map(str())),
        }),
      ),
      async: optional(bool(), false),
    }),
    status: 201,
    response: echoed,
    errors: [404, 409],
    handler: async (ctx, { params, body }) => ({ ...params, items: body.items, key: ctx.principal?.keyId ?? null }),
  });
  route(app, {
    method: "GET",
    url: `${bankUrl}/things/list`,
    operationId: "listOfThings",
    summary: "A static path beside a parameter",
    tag: "things",
    params: { bank_id: pathId() },
    response: echoed,
    handler: async (_ctx, { params }) => params,
  });
  route(app, {
    method: "DELETE",
    url: `${bankUrl}/things/{thing_id}`,
    operationId: "deleteThing",
    summary: "Delete a thing",
    tag: "things",
    params: { bank_id: pathId(), thing_id: pathId() },
    response: echoed,
    handler: async (_ctx, { params }) => params,
  });
}

const things = "/v1/default/banks/one/things";

describe("a request that is fine", () => {
  test("reaches its handler coerced, with defaults for what is absent", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const url = `${things}?limit=5000&tags=a&tags=b&since=2024-01-02&page=1&page=%202.0`;
    const response = await gateway.app.inject({ url, headers: asOwner });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ bank_id: "one", limit: 1000, tags: ["a", "b"], since: 1_704_153_600_000_000, page: 2 });
    expect(response.headers["content-type"]).toMatch(/^application\/json/);
    expect((await gateway.app.inject({ url: things, headers: asOwner })).json()).toEqual({
      bank_id: "one",
      limit: 100,
      tags: [],
    });
  });

  test("is read as JSON whatever its content type says, and keeps harmless what looks dangerous", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const payload =
      '{"items":[{"content":"a\\u0000b\\ud800","document_id":null,"tags":"[\\"x\\"]","metadata":{"__proto__":"p"}}],"async":"No"}';
    for (const contentType of [
      "application/json",
      "text/plain",
      "not a type",
      "application/x-www-form-urlencoded; charset=\xfc",
      "",
    ]) {
      const headers = { ...asOwner, "content-type": contentType };
      const response = await gateway.app.inject({ method: "POST", url: things, headers, payload });
      expect([contentType, response.statusCode]).toEqual([contentType, 201]);
      expect(response.body).toBe(
        '{"bank_id":"one","items":[{"content":"ab\ufffd","tags":["x"],"metadata":{"__proto__":"p"}}],"key":"key-1"}',
      );
    }
  });

  test("names what nothing reads in a header that any client can read", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const payload = {
      items: [
        { content: "a", colour: 1 },
        { content: "b", colour: 2 },
      ],
      größe: 1,
      "a,b": 2,
      "line\nbreak": 3,
    };
    const response = await gateway.app.inject({ method: "POST", url: `${things}?zoom=1`, headers: asOwner, payload });
    expect(response.statusCode).toBe(201);
    expect(response.headers["x-ignored-params"]).toBe("zoom, items.colour, gr%C3%B6%C3%9Fe, a%2Cb, line%0Abreak");
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`member-${index}-日本`, 1]));
    const bounded = await gateway.app.inject({ method: "POST", url: things, headers: asOwner, payload: { items: [], ...many } });
    expect(bounded.statusCode).toBe(201);
    expect(String(bounded.headers["x-ignored-params"]).length).toBeLessThanOrEqual(1024);
  });
});

describe("faults", () => {
  test("of path, query and body are reported together, in this order", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const response = await gateway.app.inject({
      method: "POST",
      url: `/v1/default/banks/a%2Fb/things`,
      headers: asOwner,
      payload: { items: [{ context: "x" }, { content: " " }], async: "maybe" },
    });
    expect(response.statusCode).toBe(422);
    const url = (type: string) => `https://errors.pydantic.dev/2/v/${type}`;
    expect(response.json()).toEqual({
      detail: [
        expect.objectContaining({ type: "string_pattern_mismatch", loc: ["path", "bank_id"], input: "a/b" }),
        {
          type: "missing",
          loc: ["body", "items", 0, "content"],
          msg: "Field required",
          input: { context: "x" },
          url: url("missing"),
        },
        {
          type: "value_error",
          loc: ["body", "items", 1, "content"],
          msg: "Value error, content cannot be empty",
          input: " ",
          ctx: { error: {} },
          url: url("value_error"),
        },
        {
          type: "bool_parsing",
          loc: ["body", "async"],
          msg: "Input should be a valid boolean, unable to interpret input",
          input: "maybe",
          url: url("bool_parsing"),
        },
      ],
    });
  });

  test.each([
    ["", { type: "missing", loc: ["body"], input: null }],
    ["null", { type: "missing", loc: ["body"], input: null }],
    ["[]", { type: "model_attributes_type", loc: ["body"], input: [] }],
    ['{"items":[}', { type: "json_invalid", loc: ["body", 10], input: {}, ctx: { error: "Expecting value" } }],
    ['{"items":NaN}', { type: "json_invalid", loc: ["body", 9], input: {}, ctx: { error: "Expecting value" } }],
    ['"\u00e9😀" x', { type: "json_invalid", loc: ["body", 5], input: {}, ctx: { error: "Extra data" } }],
  ])("of the whole body %j", async (payload, fault) => {
    await using gateway = await testGateway(fakeRoutes);
    const headers = { ...asOwner, "content-type": "application/json" };
    const response = await gateway.app.inject({ method: "POST", url: things, headers, payload });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toEqual({ detail: [expect.objectContaining(fault)] });
    expect("url" in response.json().detail[0]).toBe(fault.type !== "json_invalid");
  });

  test("of a body that is no UTF-8, or nested without end, are faults and no crash", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const post = (payload: string | Buffer) => gateway.app.inject({ method: "POST", url: things, headers: asOwner, payload });
    const notText = await post(Buffer.from([0x22, 0xc3, 0xa9, 0xef, 0xbf, 0xbd, 0xff, 0x22]));
    expect([notText.statusCode, notText.json().detail[0].loc]).toEqual([422, ["body", 3]]);
    const deep = await post(`{"x":${"[".repeat(500_000)}`);
    expect([deep.statusCode, deep.json().detail[0].loc]).toEqual([422, ["body", 104]]);
    expect((await post(`${"[".repeat(200_000)}${"]".repeat(200_000)}`)).statusCode).toBe(422);
  });

  test("are bounded in number and size", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const many = await gateway.app.inject({
      method: "POST",
      url: things,
      headers: asOwner,
      payload: { items: Array.from({ length: 5000 }, () => ({})) },
    });
    expect(many.json().detail).toHaveLength(1000);
  });

  test("echo their input only while the answer stays readable", () => {
    const violation = { location: ["body"], type: "missing", message: "Field required", input: "x".repeat(12 * 1024 * 1024) };
    const answer = answerOf(new AppError("invalid_argument", "X", "x", { violations: [violation, violation, violation] }));
    expect(JSON.parse(answer.body).detail).toHaveLength(2);
  });

  test("of an id are never cleaned away", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const statuses = [];
    for (const bank of ["a%00b", "%0A", "x".repeat(256), "%F0%9F%98%80".repeat(255), "x".repeat(255)]) {
      statuses.push((await gateway.app.inject({ url: `/v1/default/banks/${bank}/things`, headers: asOwner })).statusCode);
    }
    expect(statuses).toEqual([422, 422, 422, 200, 200]);
    const payload = '{"items":[{"content":"a","document_id":"x\\ud800"},{"content":"a","document_id":"x\\u0000"}]}';
    const response = await gateway.app.inject({ method: "POST", url: things, headers: asOwner, payload });
    expect(response.json().detail.map((fault: { type: string }) => fault.type)).toEqual([
      "string_pattern_mismatch",
      "string_pattern_mismatch",
    ]);
  });
});

describe("order of checks", () => {
  test("an unknown path is 404 and another method 405, whoever asks", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const ask = async (method: "GET" | "DELETE" | "PUT", url: string) => {
      const response = await gateway.app.inject({ method, url });
      return [response.statusCode, response.body, response.headers["allow"]];
    };
    const notFound = [404, '{"detail":"Not Found"}', undefined];
    expect(await ask("GET", "/v1/other")).toEqual(notFound);
    expect(await ask("GET", `${things}/`)).toEqual(notFound);
    expect(await ask("GET", "/v1/other/banks/one/things")).toEqual(notFound);
    expect(await ask("DELETE", `${things}/`)).toEqual(notFound);
    expect(await ask("GET", "/v1/default/banks//things/")).toEqual(notFound);
    expect((await gateway.app.inject({ method: "HEAD", url: things, headers: asOwner })).statusCode).toBe(200);
    const nameless = await gateway.app.inject({ url: "/v1/default/banks//things", headers: asOwner });
    expect([nameless.statusCode, nameless.json().detail[0].type]).toEqual([422, "string_too_short"]);
    const notAllowed = [405, '{"detail":"Method Not Allowed"}'];
    expect(await ask("PUT", things)).toEqual([...notAllowed, "GET, HEAD, POST"]);
    expect(await ask("PUT", `${things}/list?x=1`)).toEqual([...notAllowed, "DELETE, GET, HEAD"]);
    expect(await ask("GET", `${things}/abc`)).toEqual([...notAllowed, "DELETE"]);
    expect((await ask("DELETE", `${things}/list`))[0]).toBe(401);
  });

  test("then the key, its scope, the size of the body, and only then what is in the request", async () => {
    await using gateway = await testGateway(fakeRoutes, { bodyBytesMax: 100 });
    const payload = "x".repeat(101);
    const post = async (url: string, authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const response = await gateway.app.inject({ method: "POST", url, headers, payload });
      return [response.statusCode, response.json().detail];
    };
    expect(await post("/v1/other")).toEqual([404, "Not Found"]);
    expect(await post(things)).toEqual([401, "Authentication failed: Invalid API key"]);
    const foreign = await post("/v1/default/banks/three/things", `Bearer ${restrictedKey}`);
    expect(foreign).toEqual([403, "API key is not allowed to access bank 'three'"]);
    expect(await post(things, `bearer ${restrictedKey}`)).toEqual([413, "Request body too large"]);
  });

  test("a parameter that cannot be decoded matches no route", async () => {
    await using gateway = await testGateway(fakeRoutes);
    for (const bank of ["%zz", "%ff", "%ED%A0%80", "%"]) {
      const response = await gateway.app.inject({ url: `/v1/default/banks/${bank}/things`, headers: asOwner });
      expect([bank, response.statusCode, response.body]).toEqual([bank, 404, '{"detail":"Not Found"}']);
      expect(response.headers["x-request-id"]).toBeTruthy();
    }
  });
});

describe("failures of a handler", () => {
  test.each([
    [new AppError("not_found", "BANK_NOT_FOUND", "Bank 'one' not found"), 404, "Bank 'one' not found", undefined],
    [new AppError("unavailable", "STORE_DOWN", "mongodb://secret"), 503, "Service temporarily unavailable", "30"],
    [new AppError("resource_exhausted", "RATE", "x", { retryAfterMs: 1200 }), 429, "Rate limit exceeded", "2"],
    [new AppError("deadline_exceeded", "RECALL", "Recall ran past 30 s"), 504, "Recall ran past 30 s", undefined],
    [new AppError("cancelled", "BANK_FENCED", "Bank 'one' not found"), 404, "Bank 'one' not found", undefined],
    [new AppError("failed_precondition", "PAYLOAD_TOO_LARGE", "x"), 413, "Request body too large", undefined],
    [new AppError("internal", "BUG", "secret"), 500, "Internal server error", undefined],
    [new Error("secret"), 500, "Internal server error", undefined],
    [undefined, 500, "Internal server error", undefined],
  ])("%s", async (error, status, detail, retryAfter) => {
    await using gateway = await testGateway((app) =>
      route(app, {
        method: "GET",
        url: "/v1/fail",
        operationId: "fail",
        summary: "Fails",
        tag: "things",
        response: echoed,
        handler: () => Promise.reject(error),
      }),
    );
    const headers = { ...asOwner, "x-request-id": "id-7" };
    const response = await gateway.app.inject({ url: "/v1/fail", headers });
    expect([response.statusCode, response.json()]).toEqual([status, { detail }]);
    expect(response.headers["retry-after"]).toBe(retryAfter);
    expect(response.headers["x-request-id"]).toBe("id-7");
    const expected = status >= 500 ? [expect.objectContaining({ requestId: "id-7", err: error, status })] : [];
    expect(gateway.logged).toEqual(expected);
  });

  test("an answer that its schema does not allow is found in tests", async () => {
    await using gateway = await testGateway((app) =>
      route(app, {
        method: "GET",
        url: "/v1/wrong",
        operationId: "wrong",
        summary: "Wrong",
        tag: "things",
        response: Type.Object({ count: Type.Integer() }),
        handler: async () => ({ count: 1.5 }),
      }),
    );
    const response = await gateway.app.inject({ url: "/v1/wrong", headers: asOwner });
    expect(response.statusCode).toBe(500);
    expect(String(gateway.logged[0]?.["err"])).toContain("wrong answers what its schema does not allow");
  });
});

describe("request ids", () => {
  test("a sane one is echoed, anything else is replaced", async () => {
    await using gateway = await testGateway(fakeRoutes, { newId: () => "fresh" });
    const ask = async (given: string) => {
      const response = await gateway.app.inject({ url: things, headers: { ...asOwner, "x-request-id": given } });
      return response.headers["x-request-id"];
    };
    expect(await ask("abc-1:2")).toBe("abc-1:2");
    expect(await ask("x".repeat(129))).toBe("fresh");
    expect(await ask("a b")).toBe("fresh");
    expect(await ask("ü")).toBe("fresh");
  });
});

describe("over a socket", () => {
  test("a caller that goes away aborts the call; one that waits does not", async () => {
    const signals: AbortSignal[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await using gateway = await testGateway((app) =>
      route(app, {
        method: "POST",
        url: "/v1/wait",
        operationId: "wait",
        summary: "Waits",
        tag: "things",
        body: model({ long: bool() }),
        response: echoed,
        handler: async (ctx, { body }) => {
          signals.push(ctx.signal);
          if (body.long) await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
          else await new Promise((resolve) => setImmediate(resolve));
          if (body.long) release();
          return { bank_id: "" };
        },
      }),
    );
    await gateway.app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = gateway.app.server.address() as { port: number };
    const answered = await fetch(`http://127.0.0.1:${port}/v1/wait`, {
      method: "POST",
      headers: asOwner,
      body: '{"long":false}',
    });
    expect(answered.status).toBe(200);
    expect(signals[0]?.aborted).toBe(false);
    const socket = connect(port, "127.0.0.1");
    const body = '{"long":true}';
    socket.write(
      `POST /v1/wait HTTP/1.1\r\nHost: x\r\nAuthorization: ${asOwner.authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await expect.poll(() => signals.length).toBe(2);
    socket.destroy();
    await released;
    expect(signals[1]?.aborted).toBe(true);
  });

  test("a body without a length is refused once it has grown too large", async () => {
    await using gateway = await testGateway(fakeRoutes, { bodyBytesMax: 1000 });
    const origin = await gateway.app.listen({ port: 0, host: "127.0.0.1" });
    const body = ReadableStream.from([Buffer.from('{"items":['), Buffer.alloc(2000, 0x20), Buffer.from("]}")]);
    const response = await fetch(`${origin}${things}`, { method: "POST", headers: asOwner, body, duplex: "half" });
    expect([response.status, await response.json()]).toEqual([413, { detail: "Request body too large" }]);
  });

  test.each([
    ["GET / HTTP/1.1\r\nHost: x\r\nX: LONG\r\n\r\n", 431, "Request Header Fields Too Large"],
    ["nonsense\r\n\r\n", 400, "Bad Request"],
  ])("what is no HTTP request gets the body of the contract: %s", async (request, status, detail) => {
    await using gateway = await testGateway(fakeRoutes);
    await gateway.app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = gateway.app.server.address() as { port: number };
    const socket = connect(port, "127.0.0.1");
    socket.write(request.replace("LONG", "x".repeat(20_000)));
    const answer = await text(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.endsWith(JSON.stringify({ detail }))).toBe(true);
  });
});

describe("compression", () => {
  const long = "x".repeat(1024);
  test.each([
    ["gzip", long, true],
    ["br;q=1, GZIP;q=0.5", long, true],
    ["*", long, true],
    ["gzip;q=0, *", long, false],
    ["identity", long, false],
    ["gzip", "short", false],
    ["gzip", "x".repeat(100_000), true],
  ])("%s", async (accept, q, isCompressed) => {
    await using gateway = await testGateway(fakeRoutes, { routes: fakeRoutes });
    const payload = { items: [{ content: q }] };
    const headers = { ...asOwner, "accept-encoding": accept };
    const response = await gateway.app.inject({ method: "POST", url: things, headers, payload });
    expect(response.headers["content-encoding"]).toBe(isCompressed ? "gzip" : undefined);
    const body = isCompressed ? gunzipSync(response.rawPayload).toString() : response.body;
    expect(JSON.parse(body).items[0].content).toBe(q);
  });
});

describe("cross-origin callers", () => {
  const preflight = {
    method: "OPTIONS",
    url: things,
    headers: { origin: "https://a.example", "access-control-request-method": "POST" },
  } as const;
  test("are unknown unless configured", async () => {
    await using gateway = await testGateway(fakeRoutes);
    const response = await gateway.app.inject(preflight);
    expect([response.statusCode, response.headers["access-control-allow-origin"]]).toEqual([405, undefined]);
  });
  test("may ask without a key what they may send, when configured", async () => {
    await using gateway = await testGateway(fakeRoutes, { corsOrigins: ["https://a.example"] });
    const response = await gateway.app.inject(preflight);
    expect([response.statusCode, response.headers["access-control-allow-origin"]]).toEqual([204, "https://a.example"]);
    const plain = await gateway.app.inject({ method: "OPTIONS", url: "/v1/other" });
    expect([plain.statusCode, plain.body]).toEqual([204, ""]);
  });
});

test("a route whose path and schema disagree is refused when it is added", async () => {
  const adding = testGateway((app) =>
    route(app, {
      method: "GET",
      url: `${bankUrl}/x`,
      operationId: "x",
      summary: "x",
      tag: "things",
      response: echoed,
      handler: async () => ({ bank_id: "" }),
    }),
  );
  await expect(adding).rejects.toThrow("the path has [bank_id]");
});
