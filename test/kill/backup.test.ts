import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyString } from "@memory-bank/auth";
import { afterAll, expect, test } from "vitest";
import { runAdmin } from "../modes/admin.ts";
import { type RunningService, startProcess } from "../modes/process.ts";
import { type Api, createApi, eventually } from "../support/api.ts";

const scratch = mkdtempSync(join(tmpdir(), "memory-bank-backup-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const folder = (name: string) => join(scratch, name);
const ownerKey = createKeyString();
const lexical = { EMBEDDINGS_PROVIDER: "lexical" };
const serviceToken = crypto.randomUUID();
const base = "/v1/default/banks/kept";
/** Acknowledged calls before the backup begins, so that there is something to copy. */
const callsBefore = 30;

/** Retains, every second time asynchronously, until it is told to stop; notes what was acknowledged. */
async function keepRetaining(api: Api, acknowledged: string[], signal: AbortSignal): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    const marker = crypto.randomUUID();
    const items = [
      { content: `Parcel ${marker} was handed to Maria at gate ${i}.`, metadata: { marker }, tags: [`gate-${i % 3}`] },
    ];
    const { status } = await api("POST", `${base}/memories`, { items, async: i % 2 === 0 });
    if (status === 200) acknowledged.push(marker);
  }
}

async function markersIn(api: Api): Promise<string[]> {
  const { body } = await api("GET", `${base}/memories/list?limit=1000&type=world`);
  return body.items.map((item: { metadata: { marker?: string } }) => item.metadata.marker);
}

async function stopped(service: RunningService): Promise<void> {
  expect(await service.stop(), service.output()).toBe(0);
}

test("a backup under load holds everything that was acknowledged before it, and its restoration serves", async () => {
  const service = await startProcess({ dataDir: folder("data"), ownerKey, env: { ...lexical, RPC_SERVICE_TOKEN: serviceToken } });
  const api = createApi({ url: service.url, key: ownerKey });
  const { body: made } = await api("POST", "/v1/api-keys", {
    name: "Made before",
    role: "member",
    capabilities: [],
    allowed_bank_ids: null,
  });
  const doomed = { items: [{ content: "Nobody is to read this again." }] };
  expect((await api("POST", "/v1/default/banks/doomed/memories", doomed)).status).toBe(200);

  const load = new AbortController();
  const acknowledged: string[] = [];
  const running = Array.from({ length: 3 }, () => keepRetaining(api, acknowledged, load.signal));
  await eventually("enough to copy", async () => acknowledged.length >= callsBefore);
  const before = [...acknowledged];
  const [backup] = await Promise.all([
    runAdmin(["backup", folder("backup")], { DATA_DIR: folder("data") }),
    api("DELETE", "/v1/default/banks/doomed"),
  ]);
  expect(backup, backup.stderr).toMatchObject({ code: 0, stderr: "" });
  const during = acknowledged.length - before.length;
  load.abort();
  await Promise.all(running);
  expect(during).toBeGreaterThan(0);

  // The service that runs verifies its own banks, since nobody else may open them.
  const live = { DATA_DIR: folder("data"), RPC_SERVICE_TOKEN: serviceToken, MEMORY_RPC_ADDRESS: service.rpcAddress };
  expect(await runAdmin(["verify", "kept"], live)).toMatchObject({ code: 0, stdout: "1 banks, 0 disagreements, 0 left\n" });
  await stopped(service);

  const restored = { DATA_DIR: folder("restored") };
  expect(await runAdmin(["restore", folder("backup")], restored)).toMatchObject({ code: 0, stderr: "" });
  const mended = await runAdmin(["verify", "--repair"], restored);
  expect(mended, mended.stdout).toMatchObject({ code: 0 });
  expect(await runAdmin(["verify"], restored)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(" 0 disagreements, 0 left"),
  });

  const again = await startProcess({ dataDir: folder("restored"), ownerKey, env: lexical });
  // A key that is not the bootstrap key proves that its pepper came along.
  const key = made.api_key ?? made.key;
  const restoredApi = createApi({ url: again.url, key });
  const missing = await eventually("asynchronous retains that the backup caught are carried out", async () => {
    const found = new Set(await markersIn(restoredApi));
    return before.every((marker) => found.has(marker)) ? "none" : false;
  });
  expect(missing).toBe("none");
  const { body: gone } = await restoredApi("GET", "/v1/default/banks/doomed/memories/list");
  expect(gone.items ?? []).toEqual([]);
  await stopped(again);
  console.log(`${before.length} acknowledged before the backup, ${during} while it ran`);
});

test("another embedder is refused by naming the setting, and with it the banks get new vectors", async () => {
  const local = { EMBEDDINGS_PROVIDER: "local" };
  const dataDir = folder("restored");
  await expect(startProcess({ dataDir, ownerKey, env: local })).rejects.toThrow("MEMORY_EMBEDDINGS_REEMBED=true");
  const service = await startProcess({ dataDir, ownerKey, env: { ...local, MEMORY_EMBEDDINGS_REEMBED: "true" } });
  const api = createApi({ url: service.url, key: ownerKey });
  const operation = await eventually("the bank has new vectors", async () => {
    const { body } = await api("GET", `${base}/operations?type=reembed`);
    return body.operations[0]?.status === "completed" && body.operations[0];
  });
  expect(operation).toMatchObject({ task_type: "reembed", status: "completed" });
  await stopped(service);
  expect(await runAdmin(["verify"], { DATA_DIR: dataDir, ...local })).toMatchObject({ code: 0 });
});
