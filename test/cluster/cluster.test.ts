import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { findServer, serverKinds } from "@memory-bank/test-servers/find-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningCluster, startCluster } from "../modes/cluster.ts";

const missing = serverKinds.flatMap((kind) => {
  const source = findServer(kind);
  return source.kind === "none" ? [`${kind}: ${source.reason}`] : [];
});
const name = "six processes over NATS, MongoDB and Qdrant";
const title = missing.length === 0 ? name : `Not tested: ${name} (${missing.join("; ")})`;

const startMs = 180_000;
const deadlineMs = 20_000;

describe.skipIf(missing.length > 0)(title, () => {
  let cluster: RunningCluster;
  const got: { event: string; bank_id: string }[] = [];
  const receiver = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      got.push(JSON.parse(body));
      response.end();
    });
  });

  beforeAll(async () => {
    receiver.listen(0, "127.0.0.1");
    cluster = await startCluster({ EMBEDDINGS_PROVIDER: "lexical", WEBHOOK_ALLOWED_HOSTS: "127.0.0.1" });
    console.log(`cluster over ${cluster.servers.join(", ")}`);
  }, startMs);
  afterAll(() => {
    receiver.close();
  });

  async function call(method: string, path: string, body?: unknown, key = cluster.ownerKey) {
    const response = await fetch(`${cluster.url}/v1/default/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  }

  test("what is retained is recalled, and the webhook of the bank hears of it over the bus", async () => {
    const { port } = receiver.address() as AddressInfo;
    expect(await call("PUT", "banks/travel", { name: "Travel" })).toMatchObject({ status: 200 });
    const webhook = { url: `http://127.0.0.1:${port}/`, event_types: ["retain.completed"] };
    expect(await call("POST", "banks/travel/webhooks", webhook)).toMatchObject({ status: 201 });
    const items = [{ content: "Alice moved to Berlin in May 2021." }, { content: "Bob likes sailing." }];
    expect(await call("POST", "banks/travel/memories", { items })).toMatchObject({ status: 200, body: { success: true } });
    const recalled = await call("POST", "banks/travel/memories/recall", { query: "Where does Alice live?" });
    expect(recalled.body.results[0]).toMatchObject({ text: "Alice moved to Berlin in May 2021." });
    await expect.poll(() => got, { timeout: deadlineMs }).toMatchObject([{ event: "retain.completed", bank_id: "travel" }]);
  });

  test("a deleted bank is empty at once, and one made again under its id knows nothing of it", async () => {
    await call("PUT", "banks/gone", { name: "Gone" });
    await call("POST", "banks/gone/memories", { items: [{ content: "Carol plays chess." }] });
    expect(await call("DELETE", "banks/gone")).toMatchObject({ status: 200, body: { success: true } });
    await call("PUT", "banks/gone", { name: "Again" });
    expect((await call("GET", "banks/gone/memories/list")).body).toMatchObject({ total: 0 });
  });

  test("all parts end with code 0 within ten seconds of SIGTERM", async () => {
    const startedMs = performance.now();
    const codes = await cluster.stop();
    expect(performance.now() - startedMs, cluster.output()).toBeLessThan(10_000);
    expect(codes).toEqual({ auth: 0, bank: 0, memory: 0, reflect: 0, webhook: 0, gateway: 0 });
  });
});
