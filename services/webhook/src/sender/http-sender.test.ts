import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { createAllowList } from "../domain/allow-list.ts";
import type { SendOutcome } from "../domain/attempt-result.ts";
import type { OutgoingRequest } from "../domain/request.ts";
import { createDestinationGuard } from "./destination-guard.ts";
import { hostileBehaviours, startRawReceiver } from "./hostile-receivers.ts";
import { createHttpSender } from "./http-sender.ts";
import { BODY_CHARACTERS_MAX } from "./response-reader.ts";
import type { Sender } from "./sender.ts";
import { testCertificate } from "./test-certificate.ts";

const never = new AbortController().signal;
const TIMEOUT_MS = 300;
/** What a busy machine may add to a timeout; the contract grants a second. */
const GRACE_MS = 1_000;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of opened.splice(0).reverse()) await resource[Symbol.asyncDispose]();
});
function use<T extends AsyncDisposable>(resource: T): T {
  opened.push(resource);
  return resource;
}

function newSender(names: Readonly<Record<string, readonly string[]>> = {}, allow: readonly string[] = ["127.0.0.0/8"]): Sender {
  const resolve = async (hostname: string) => {
    const addresses = names[hostname];
    if (!addresses) throw Object.assign(new Error("unknown name"), { code: "ENOTFOUND" });
    return addresses;
  };
  const guard = createDestinationGuard({ allowList: createAllowList(allow), ownPorts: () => [], resolve });
  return use(createHttpSender({ guard, connectMs: TIMEOUT_MS }));
}

function post(url: string, parts: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    method: "POST",
    url,
    headers: { "x-test": "yes" },
    body: new TextEncoder().encode('{"a":1}'),
    timeoutMs: TIMEOUT_MS,
    ...parts,
  };
}

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

async function startReceiver(answer: (response: ServerResponse, request: Received) => void) {
  const received: Received[] = [];
  const sockets = new Set<unknown>();
  const server = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    sockets.add(request.socket);
    const one = { method: request.method!, path: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() };
    received.push(one);
    answer(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  use({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, received, connections: () => sockets.size, server };
}

describe("what is sent and what comes back", () => {
  test("method, path, headers and exact bytes arrive; status and body come back", async () => {
    const receiver = await startReceiver((response) => response.writeHead(201, { "retry-after": "7" }).end("fine"));
    const outcome = await newSender().send(post(`${receiver.url}/hook?a=b`), never);
    expect(outcome).toEqual({ kind: "answered", status: 201, body: "fine", retryAfter: "7", isCutOff: false });
    expect(receiver.received).toMatchObject([
      { method: "POST", path: "/hook?a=b", body: '{"a":1}', headers: { "x-test": "yes", "content-length": "7" } },
    ]);
  });

  test("a GET has no body", async () => {
    const receiver = await startReceiver((response) => response.end());
    await newSender().send(post(receiver.url, { method: "GET", body: null }), never);
    expect(receiver.received).toMatchObject([{ method: "GET", body: "" }]);
    expect(receiver.received[0]!.headers["content-length"]).toBeUndefined();
  });

  test("redirects are answers, and nobody goes where they point", async () => {
    const target = await startReceiver((response) => response.end());
    for (const status of [301, 302, 303, 307, 308]) {
      const receiver = await startReceiver((response) => response.writeHead(status, { location: target.url }).end());
      expect(await newSender().send(post(receiver.url), never)).toMatchObject({ kind: "answered", status });
    }
    expect(target.received).toEqual([]);
  });

  test("connections are kept and used again", async () => {
    const receiver = await startReceiver((response) => response.end("x".repeat(1_000)));
    const sender = newSender();
    for (let index = 0; index < 5; index += 1) await sender.send(post(receiver.url), never);
    expect(receiver.received).toHaveLength(5);
    expect(receiver.connections()).toBeLessThanOrEqual(2); // the next request may start before the last one's socket is free
  });

  test("the receiver sees its own name although the connection goes to a judged address", async () => {
    const receiver = await startReceiver((response) => response.end());
    const sender = newSender({ "receiver.test": ["127.0.0.1"] });
    await sender.send(post(`http://receiver.test:${receiver.port}/`), never);
    expect(receiver.received[0]!.headers.host).toBe(`receiver.test:${receiver.port}`);
  });

  test("when the first address of a name does not answer, the next one is used", async () => {
    const receiver = await startReceiver((response) => response.end());
    const sender = newSender({ "receiver.test": ["127.0.0.2", "127.0.0.1"] });
    expect(await sender.send(post(`http://receiver.test:${receiver.port}/`), never)).toMatchObject({
      kind: "answered",
      status: 200,
    });
  });

  test("a kept connection that the receiver has closed meanwhile costs no attempt", async () => {
    const seen = new WeakSet<object>();
    const receiver = use(
      await startRawReceiver({
        onRequest(socket) {
          if (seen.has(socket)) return void socket.destroy();
          seen.add(socket);
          socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        },
      }),
    );
    const sender = newSender();
    for (let index = 0; index < 6; index += 1) {
      expect(await sender.send(post(`http://127.0.0.1:${receiver.port}/`), never)).toMatchObject({
        kind: "answered",
        status: 200,
      });
    }
    expect(receiver.connections()).toBe(6);
  });

  test.each([
    { what: "more characters than are kept", body: "ä".repeat(5_000), kept: "ä".repeat(BODY_CHARACTERS_MAX) },
    { what: "characters of four bytes", body: "😀".repeat(3_000), kept: "😀".repeat(BODY_CHARACTERS_MAX) },
    { what: "NUL", body: "a\0b", kept: "ab" },
    { what: "bytes that are not text", body: Buffer.from([0x61, 0xff, 0xfe]), kept: "a��" },
    { what: "nothing", body: "", kept: "" },
  ])("a body with $what is kept as far as promised", async ({ body, kept }) => {
    const receiver = await startReceiver((response) => response.end(body));
    expect(await newSender().send(post(receiver.url), never)).toMatchObject({ kind: "answered", status: 200, body: kept });
  });

  test("a compressed body is not unpacked and not shown", async () => {
    const receiver = await startReceiver((response) => response.writeHead(200, { "content-encoding": "gzip" }).end("packed"));
    expect(await newSender().send(post(receiver.url), never)).toMatchObject({ kind: "answered", status: 200, body: null });
  });

  test("early hints before the answer do no harm", async () => {
    const receiver = await startReceiver((response) => {
      response.writeEarlyHints({ link: "</x>; rel=preload" });
      response.writeProcessing();
      response.writeHead(204).end();
    });
    expect(await newSender().send(post(receiver.url), never)).toMatchObject({ kind: "answered", status: 204 });
  });

  test("variables about proxies mean nothing", async () => {
    const proxy = await startReceiver((response) => response.end());
    const receiver = await startReceiver((response) => response.end());
    const names = ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = name.startsWith("NODE") ? "1" : proxy.url;
    try {
      await newSender().send(post(receiver.url), never);
    } finally {
      for (const [index, name] of names.entries()) {
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
      }
    }
    expect(proxy.received).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe("faults on the way", () => {
  test("a destination that may not be called is refused without a connection", async () => {
    const receiver = use(await startRawReceiver({}));
    const outcome = await newSender({}, []).send(post(`http://127.0.0.1:${receiver.port}/`), never);
    expect(outcome).toEqual({ kind: "refused", reason: "Destination refused: the address is loopback" });
    expect(receiver.connections()).toBe(0);
  });

  test("a name whose address turned bad after the first connection is refused at the next (rebinding)", async () => {
    const receiver = await startReceiver((response) => response.writeHead(200, { connection: "close" }).end());
    let asked = 0;
    const guard = createDestinationGuard({
      allowList: createAllowList(["127.0.0.1"]),
      ownPorts: () => [],
      resolve: async () => (asked++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]),
    });
    const sender = use(createHttpSender({ guard }));
    const url = `http://rebinding.test:${receiver.port}/`;
    expect(await sender.send(post(url), never)).toMatchObject({ kind: "answered" });
    expect(await sender.send(post(url), never)).toMatchObject({ kind: "refused" });
    expect(asked).toBe(2);
    expect(receiver.received).toHaveLength(1);
  });

  test("each connection asks for the name once and goes to the address that was judged", async () => {
    const receiver = await startReceiver((response) => response.end());
    let asked = 0;
    const guard = createDestinationGuard({
      allowList: createAllowList(["127.0.0.1"]),
      ownPorts: () => [],
      resolve: async () => {
        asked += 1;
        return ["127.0.0.1"];
      },
    });
    await use(createHttpSender({ guard })).send(post(`http://once.test:${receiver.port}/`), never);
    expect(asked).toBe(1);
  });

  test("nobody listening, an unknown name and a wrong certificate are told in a few words", async () => {
    const receiver = await startRawReceiver({});
    const { port } = receiver;
    await receiver[Symbol.asyncDispose]();
    expect(await newSender().send(post(`http://127.0.0.1:${port}/`), never)).toEqual({
      kind: "broken",
      reason: "Connection refused",
      status: null,
    });
    expect(await newSender().send(post("http://nowhere.test/"), never)).toEqual({
      kind: "broken",
      reason: "Host name not found",
      status: null,
    });
    const plain = await startReceiver((response) => response.end());
    const outcome = await newSender().send(post(plain.url.replace("http:", "https:")), never);
    expect(outcome).toMatchObject({ kind: "broken", reason: expect.stringMatching(/^TLS failed/) });
  });

  test("TLS checks the certificate against the name that was written, though the connection goes to an address", async () => {
    const server = createTlsServer(testCertificate, (request, response) => response.end(request.headers.host));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    use({
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    });
    const guard = createDestinationGuard({
      allowList: createAllowList(["127.0.0.1"]),
      ownPorts: () => [],
      resolve: async () => ["127.0.0.1"],
    });
    const trusting = use(createHttpSender({ guard, ca: testCertificate.cert }));
    const send = (sender: Sender, host: string) =>
      sender.send(post(`https://${host}:${address.port}/`, { timeoutMs: 5_000 }), never);
    expect(await send(trusting, "receiver.test")).toMatchObject({
      kind: "answered",
      status: 200,
      body: `receiver.test:${address.port}`,
    });
    expect(await send(trusting, "other.test")).toMatchObject({
      kind: "broken",
      reason: "TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)",
    });
    expect(await send(trusting, "127.0.0.1")).toMatchObject({
      kind: "broken",
      reason: "TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)",
    });
    expect(await send(newSender({ "receiver.test": ["127.0.0.1"] }), "receiver.test")).toMatchObject({
      kind: "broken",
      reason: "TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT)",
    });
  });

  test("a stop breaks off at once", async () => {
    const receiver = use(await startRawReceiver({}));
    const stopping = new AbortController();
    const sent = newSender().send(post(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: 60_000 }), stopping.signal);
    await expect.poll(() => receiver.open()).toBe(1);
    stopping.abort(new Error("stopping"));
    await expect(sent).rejects.toThrow("stopping");
    await expect.poll(() => receiver.open()).toBe(0);
  });

  test("a request whose time ran out before there was a connection is never sent", async () => {
    const { promise: slow, resolve: answerLate } = Promise.withResolvers<readonly string[]>();
    const receiver = await startReceiver((response) => response.end());
    const guard = createDestinationGuard({ allowList: createAllowList(["127.0.0.1"]), ownPorts: () => [], resolve: () => slow });
    const sender = use(createHttpSender({ guard, connectMs: 10_000 }));
    const outcome = await sender.send(post(`http://slow.test:${receiver.port}/`, { timeoutMs: 50 }), never);
    expect(outcome).toMatchObject({ kind: "broken", reason: "Timeout after 0.05 s" });
    answerLate(["127.0.0.1"]);
    await pause(50);
    expect(receiver.received).toEqual([]);
  });
});

describe("hostile receivers", () => {
  const expected: Readonly<Record<string, Partial<SendOutcome>>> = {
    "an endless body": { kind: "answered", status: 200, isCutOff: true },
    "an endless body in chunks": { kind: "answered", status: 200, isCutOff: true },
    "a gzip bomb": { kind: "answered", status: 200, isCutOff: true },
    "two answers at once": { kind: "answered", status: 500 },
  };

  test.each(Object.entries(hostileBehaviours))("%s costs one bounded slot", async (name, behaviour) => {
    const receiver = use(await startRawReceiver(behaviour));
    const startMs = performance.now();
    const outcome = await newSender().send(post(`http://127.0.0.1:${receiver.port}/`), never);
    expect(performance.now() - startMs).toBeLessThan(TIMEOUT_MS + GRACE_MS);
    expect(outcome).toMatchObject(expected[name] ?? { kind: "broken" });
    if (outcome.kind === "answered") expect(outcome.body?.length ?? 0).toBeLessThanOrEqual(BODY_CHARACTERS_MAX);
    expect(receiver.connections()).toBe(1); // no fault of the receiver's own is taken for a stale connection
    if (name !== "two answers at once") await expect.poll(() => receiver.open()).toBe(0);
  });

  test("an answer that never gets anywhere is broken off by its size, long before the timeout", async () => {
    const receiver = use(await startRawReceiver(hostileBehaviours["an endless chunk size"]!));
    const outcome = await newSender().send(post(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: 30_000 }), never);
    expect(outcome).toMatchObject({ kind: "broken", reason: "Response is too large", status: 200 });
  });

  test("TLS that stalls is given up within the timeout, and its socket soon after", async () => {
    const receiver = use(await startRawReceiver({ onConnect: (socket) => socket.pause() }));
    const startMs = performance.now();
    const outcome = await newSender().send(post(`https://127.0.0.1:${receiver.port}/`), never);
    expect(performance.now() - startMs).toBeLessThan(TIMEOUT_MS + GRACE_MS);
    expect(outcome).toMatchObject({ kind: "broken" });
  });

  test("64 of them at once cost bounded memory", async () => {
    const kinds = Object.values(hostileBehaviours);
    const receivers = await Promise.all(Array.from({ length: 64 }, (_, index) => startRawReceiver(kinds[index % kinds.length]!)));
    for (const receiver of receivers) use(receiver);
    const sender = newSender();
    const before = process.memoryUsage().rss;
    const startMs = performance.now();
    await Promise.all(receivers.map(({ port }) => sender.send(post(`http://127.0.0.1:${port}/`), never)));
    expect(performance.now() - startMs).toBeLessThan(TIMEOUT_MS + 3 * GRACE_MS);
    // The receivers live in this process too and write as fast as they can, so the bound is wide.
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    await expect
      .poll(() =>
        receivers
          .filter((_, index) => kinds[index % kinds.length] !== hostileBehaviours["two answers at once"])
          .reduce((sum, { open }) => sum + open(), 0),
      )
      .toBe(0);
  });
});

describe("the canary", () => {
  test("a listener on this machine sees no connection, however it is addressed", async () => {
    const canary = use(await startRawReceiver({}));
    const { port } = canary;
    const sender = newSender(
      { "inside.test": ["127.0.0.1"], "mapped.test": ["::ffff:127.0.0.1"], "mixed.test": ["127.0.0.1", "8.8.8.8"] },
      [],
    );
    const hosts = [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f.1",
      "0177.0.0.1",
      "１２７.0.0.1",
      "0.0.0.0",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "inside.test",
      "inside.test.",
      "mapped.test",
      "mixed.test",
    ];
    for (const host of hosts) {
      expect(await sender.send(post(`http://${host}:${port}/`), never)).toMatchObject({ kind: "refused" });
      expect(await sender.send(post(`https://${host}:${port}/`), never)).toMatchObject({ kind: "refused" });
    }
    expect(canary.connections()).toBe(0);
  });
});
