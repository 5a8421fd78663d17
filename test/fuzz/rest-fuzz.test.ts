import { Pool } from "undici";
import { expect, test } from "vitest";
import { startProcess } from "../modes/process.ts";
import { createContractCheck, fetchOpenApi, operationsOf } from "../support/openapi.ts";
import { isFullSize, seededRandom } from "../support/random.ts";
import { type FuzzRequest, generateRequest } from "./generate-request.ts";

/** Hostile and half-right requests over every route: nothing but documented answers, no failure of ours, no leak. */

const requests = isFullSize ? 50_000 : 1_500;
const inFlight = 8;
const requestMsMax = 100;
/** Young heap, caches that fill, and pages that the allocator keeps; a leak of 8 KB per request would show in the full size. */
const growthBytesMax = 256 * 1024 * 1024;
const seenIdsMax = 300;

test(
  `${requests} requests: no 5xx, no answer outside the API description, memory bounded`,
  async () => {
    const service = await startProcess({
      env: { WEBHOOK_ALLOWED_HOSTS: "127.0.0.1", MEMORY_RECALL_INDEX_BYTES_MAX: String(64 * 1024 * 1024), LOG_LEVEL: "error" },
    });
    const pool = new Pool(service.url, { connections: inFlight });
    const random = seededRandom("rest fuzz");
    const document = await fetchOpenApi(service.url);
    const check = createContractCheck(document);
    const operations = operationsOf(document);
    const bankIds = ["fuzz", "füzz ✓", "fuzz-2"];
    const seenIds: string[] = [];
    const statuses = new Map<number, number>();

    const send = async ({ method, path, headers, body }: FuzzRequest) => {
      const answer = await pool.request({
        method,
        path,
        headers: { authorization: `Bearer ${service.ownerKey}`, ...headers },
        body,
      });
      const text = await answer.body.text();
      return { method, path, status: answer.statusCode, headers: new Headers(answer.headers as Record<string, string>), text };
    };
    const residentBytes = async () => {
      const { text } = await send({ method: "GET", path: "/metrics", headers: {}, body: null });
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)![1]);
    };
    const ownKeyId = JSON.parse((await send({ method: "GET", path: "/v1/api-keys", headers: {}, body: null })).text).items[0].id;
    const remember = (text: string) => {
      for (const [, id] of text.matchAll(/"(?:id|operation_id|chunk_id|document_id|key_id)":"([^"\\]{1,80})"/g)) {
        if (id === ownKeyId) continue; // without it there would be nothing more to send
        if (seenIds.length < seenIdsMax) seenIds.push(id!);
        else seenIds[random.int(0, seenIdsMax - 1)] = id!;
      }
    };

    let sent = 0;
    let warmBytes = 0;
    const worker = async () => {
      while (sent < requests) {
        if (++sent === Math.floor(requests / 3)) warmBytes = await residentBytes();
        const request = generateRequest({ document, random, bankIds, seenIds }, random.pick(operations));
        try {
          const exchange = await send(request);
          statuses.set(exchange.status, (statuses.get(exchange.status) ?? 0) + 1);
          if (exchange.status >= 500) throw new Error(`answered ${exchange.status}: ${exchange.text}`);
          check(exchange);
          if (exchange.status < 300) remember(exchange.text);
        } catch (cause) {
          const body = String(request.body).slice(0, 3_000);
          throw new Error(`seed ${random.seed}, request ${sent}: ${request.method} ${request.path.slice(0, 1_000)}\n${body}`, {
            cause,
          });
        }
      }
    };
    try {
      await Promise.all(Array.from({ length: inFlight }, worker));
      console.log(
        `statuses: ${[...statuses]
          .sort()
          .map(([status, count]) => `${status}: ${count}`)
          .join(", ")}`,
      );
      expect((statuses.get(200) ?? 0) / requests, "share of requests that did something").toBeGreaterThan(0.15);
      const grown = (await residentBytes()) - warmBytes;
      console.log(`resident memory grew by ${Math.round(grown / 1024 / 1024)} MB after the first third`);
      expect(grown).toBeLessThan(growthBytesMax);
      for (const bankId of bankIds) {
        const read = async (what: string) =>
          JSON.parse(
            (
              await send({
                method: "GET",
                path: `/v1/default/banks/${encodeURIComponent(bankId)}/${what}`,
                headers: {},
                body: null,
              })
            ).text,
          );
        const stats = await read("stats");
        expect((await read("memories/list?limit=0")).total).toBe(stats.total_nodes);
        expect((await read("documents?limit=0")).total).toBe(stats.total_documents);
        const sum = (counts: object) => Object.values(counts).reduce((total: number, count: number) => total + count, 0);
        expect([sum(stats.links_by_link_type), sum(stats.links_by_fact_type)]).toEqual([stats.total_links, stats.total_links]);
      }
    } finally {
      await pool.close();
      const code = await service.stop();
      expect([code, service.output()]).toEqual([0, expect.not.stringContaining("failed unexpectedly")]);
    }
  },
  60_000 + requests * requestMsMax,
);
