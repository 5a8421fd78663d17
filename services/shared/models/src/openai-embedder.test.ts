import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { describeEmbedder } from "./embedder.conformance.ts";
import type { Embedder } from "./embedder.ts";
import { createLexicalEmbedder } from "./lexical-embedder.ts";
import { openEmbedder } from "./open-embedder.ts";
import type { OpenaiEmbedderConfig } from "./openai-embedder.ts";

interface Request {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format: string;
  readonly dimensions?: number;
}
interface Failure {
  readonly status: number;
  readonly headers?: Record<string, string>;
}
interface Service extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly Request[];
  readonly headers: readonly IncomingHttpHeaders[];
  readonly concurrent: () => number;
}

/** A service with OpenAI's interface: hashed words, of length 3 instead of 1, in reverse order. `fail` says what the n-th request meets. */
async function startService(fail: (nth: number) => Failure | "hang" | undefined = () => undefined): Promise<Service> {
  const lexical = createLexicalEmbedder();
  const requests: Request[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let running = 0;
  let most = 0;
  let nth = 0;
  const server = createServer(async (request, response) => {
    const failure = fail(nth++);
    const chunks = await request.toArray();
    if (failure === "hang") return;
    if (failure) {
      response.writeHead(failure.status, { "content-type": "application/json", ...failure.headers });
      response.end(JSON.stringify({ error: { message: "secret detail of the service" } }));
      return;
    }
    running += 1;
    most = Math.max(most, running);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Request;
    requests.push(body);
    headers.push(request.headers);
    const vectors = await lexical.embed(body.input);
    const data = vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: [...vector].map((value) => 3 * value),
    }));
    setImmediate(() => {
      running -= 1;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ object: "list", data: data.reverse(), model: body.model, usage: { prompt_tokens: 1, total_tokens: 1 } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    headers,
    concurrent: () => most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const open = (service: Service, config: Partial<OpenaiEmbedderConfig> = {}): Promise<Embedder> =>
  openEmbedder({ kind: "openai", baseUrl: service.baseUrl, apiKey: "sk-test", model: "small", ...config });

describeEmbedder("openai", async () => {
  const service = await startService();
  const embedder = await open(service);
  return {
    ...embedder,
    async [Symbol.asyncDispose]() {
      await embedder[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
});

describe("openai embedder", () => {
  test("sends key, model and float encoding, and no dimensions unless configured", async () => {
    await using service = await startService();
    await using embedder = await open(service);
    await embedder.embed(["Bob"]);
    expect(service.headers[0]!.authorization).toBe("Bearer sk-test");
    expect(service.requests.at(-1)).toEqual({ model: "small", input: ["Bob"], encoding_format: "float" });
    await using shorter = await open(service, { dimensions: 512 });
    await shorter.embed(["Bob"]);
    expect(service.requests.at(-1)!.dimensions).toBe(512);
    expect(shorter.id).toBe("openai/small/512");
  });

  test("asks an unknown model for its dimensions, and knows those of the usual ones", async () => {
    await using service = await startService();
    await using unknown = await open(service);
    expect(unknown.dimensions).toBe(512);
    expect(service.requests).toHaveLength(1);
    await using known = await open(service, { model: "text-embedding-3-small" });
    expect(known.dimensions).toBe(1536);
    expect(service.requests).toHaveLength(1);
    await expect(known.embed(["Bob"])).rejects.toMatchObject({ code: "failed_precondition", reason: "EMBEDDINGS_DIMENSIONS" });
  });

  test("sends each text once, in bounded batches, a few at a time", async () => {
    await using service = await startService();
    await using embedder = await open(service, { dimensions: 512 });
    const texts = Array.from({ length: 1000 }, (_, i) => `Text number ${i % 900}`);
    expect(await embedder.embed(texts)).toHaveLength(1000);
    expect(service.requests.map((request) => request.input.length)).toEqual([128, 128, 128, 128, 128, 128, 128, 4]);
    expect(service.concurrent()).toBeLessThanOrEqual(4);
    await embedder.embed([" ", "?"]);
    expect(service.requests).toHaveLength(8);
  });

  test("cuts a text that the model would refuse", async () => {
    await using service = await startService();
    await using embedder = await open(service, { dimensions: 512 });
    await embedder.embed(["word ".repeat(20_000)]);
    expect(service.requests[0]!.input[0]!.length).toBeLessThan(42_000);
    expect(service.requests[0]!.input[0]!.length).toBeGreaterThan(38_000);
  });

  test("tries again after overload, as soon as the service says", async () => {
    const overloaded = { status: 429, headers: { "retry-after-ms": "5" } };
    await using service = await startService((nth) => (nth < 3 ? overloaded : undefined));
    await using embedder = await open(service, { dimensions: 512 });
    const startedMs = performance.now();
    expect(await embedder.embed(["Bob"])).toHaveLength(1);
    expect(performance.now() - startedMs).toBeLessThan(1000);
  });

  test("gives up after its retries as unavailable, without the service's words", async () => {
    let attempts = 0;
    await using service = await startService(() => {
      attempts += 1;
      return { status: 503, headers: { "retry-after-ms": "1" } };
    });
    await using embedder = await open(service, { dimensions: 512 });
    const error = await embedder.embed(["Bob"]).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "unavailable", reason: "EMBEDDINGS_UNAVAILABLE" });
    expect(String(error)).not.toContain("secret");
    expect(attempts).toBe(5);
  });

  test("does not repeat what would be refused again", async () => {
    let attempts = 0;
    await using service = await startService(() => {
      attempts += 1;
      return { status: 401 };
    });
    await using embedder = await open(service, { dimensions: 512 });
    await expect(embedder.embed(["Bob"])).rejects.toMatchObject({ code: "failed_precondition", reason: "EMBEDDINGS_REFUSED" });
    expect(attempts).toBe(1);
  });

  test("an abort ends a request that runs and those that wait; disposal too", async () => {
    await using service = await startService(() => "hang");
    const embedder = await open(service, { dimensions: 512 });
    const controller = new AbortController();
    const texts = Array.from({ length: 1000 }, (_, i) => `Text number ${i}`);
    const aborted = expect(embedder.embed(texts, { signal: controller.signal })).rejects.toMatchObject({ code: "cancelled" });
    controller.abort();
    await aborted;
    const closed = expect(embedder.embed(["Bob"])).rejects.toMatchObject({ code: "unavailable" });
    await embedder[Symbol.asyncDispose]();
    await closed;
  });
});
