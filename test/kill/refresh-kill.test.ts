import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyString } from "@memory-bank/auth";
import { expect, test } from "vitest";
import { type RunningService, startProcess } from "../modes/process.ts";
import { type Api, createApi, eventually } from "../support/api.ts";
import { isFullSize, seededRandom } from "../support/random.ts";

const kills = isFullSize ? 30 : 4;
const callers = 3;
const modelsMax = 60; // few enough that most are refreshed again and again
const base = "/v1/default/banks/under-fire";

/** What was answered before a kill. */
interface Acknowledged {
  readonly modelIds: Set<string>;
  readonly operationIds: Set<string>;
}

test(`refreshes of mental models survive ${kills} kills: no model without its operation, no operation without an end`, {
  timeout: 900_000,
}, async () => {
  const random = seededRandom("refresh under kill -9");
  const dataDir = mkdtempSync(join(tmpdir(), "memory-bank-kill-"));
  const ownerKey = createKeyString();
  const acknowledged: Acknowledged = { modelIds: new Set(), operationIds: new Set() };
  let service: RunningService | undefined;
  const start = () => startProcess({ dataDir, ownerKey, env: { EMBEDDINGS_PROVIDER: "lexical" } });
  try {
    service = await start();
    const items = [{ content: "Maria lives in Porto." }, { content: "Tom lives in Oslo with his dog." }];
    expect((await createApi({ url: service.url, key: ownerKey })("POST", `${base}/memories`, { items })).status).toBe(200);
    for (let round = 0; round < kills; round++) {
      const api = createApi({ url: service.url, key: ownerKey });
      const load = new AbortController();
      const running = Array.from({ length: callers }, () => keepRefreshing(api, acknowledged, random.int, load.signal));
      await new Promise((resolve) => setTimeout(resolve, random.int(5, 1_500)));
      await service.kill();
      load.abort();
      await Promise.all(running);
      service = await start();
    }
    await judge(createApi({ url: service.url, key: ownerKey }), acknowledged);
  } finally {
    expect(await service?.stop()).toBe(0);
    rmSync(dataDir, { recursive: true, force: true });
  }
});

/** Makes models, and refreshes those that are there, until the service is gone. */
async function keepRefreshing(
  api: Api,
  acknowledged: Acknowledged,
  int: (min: number, max: number) => number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const id = `m-${int(1, modelsMax)}`;
    const trigger = { mode: int(0, 1) === 0 ? "full" : "delta" };
    try {
      const model = { id, name: id, source_query: "Where do Maria and Tom live?", trigger };
      const made = await api("POST", `${base}/mental-models`, model);
      const answer = made.status === 409 ? await api("POST", `${base}/mental-models/${id}/refresh`) : made;
      acknowledged.modelIds.add(id);
      if (answer.status === 200) acknowledged.operationIds.add(answer.body.operation_id);
    } catch {
      return; // The connection broke: the process was killed, which is what this test is about.
    }
  }
}

async function judge(api: Api, { modelIds, operationIds }: Acknowledged): Promise<void> {
  expect(operationIds.size).toBeGreaterThan(0);
  for (const id of operationIds) {
    const operation = await eventually(`operation ${id} ends`, async () => {
      const { body } = await api("GET", `${base}/operations/${id}`);
      return ["completed", "failed", "cancelled", "not_found"].includes(body.status) && body;
    });
    // A refresh that was cut off while the next one of its model already waited leaves the work to that one.
    const isSuperseded = operation.status === "cancelled" && /^Superseded by/.test(operation.error_message ?? "");
    if (!isSuperseded) expect(operation, id).toMatchObject({ status: "completed", error_message: null });
  }
  // Models whose answer was lost may be there, too; then their first refresh was queued with them.
  const isIdle = async () => {
    const waiting = ["pending", "processing"].map((status) => api("GET", `${base}/operations?status=${status}&limit=1`));
    return (await Promise.all(waiting)).every(({ body }) => body.total === 0);
  };
  await eventually("all operations end", isIdle);
  const { body } = await api("GET", `${base}/mental-models?limit=1000`);
  const models: { id: string; content: string; is_stale: boolean; last_refreshed_at: string | null }[] = body.items;
  expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining([...modelIds]));
  for (const model of models) {
    expect(model, model.id).toMatchObject({ is_stale: false, last_refreshed_at: expect.any(String) });
    expect(model.content, model.id).toContain("Maria lives in Porto.");
  }
  console.log(`${models.length} models, ${operationIds.size} acknowledged refreshes, each of them carried out`);
}
