import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyString } from "@memory-bank/auth";
import { expect, test } from "vitest";
import { runAdmin } from "../modes/admin.ts";
import { type RunningService, startProcess } from "../modes/process.ts";
import { type Api, createApi, eventually } from "../support/api.ts";
import { isFullSize, type Random, seededRandom } from "../support/random.ts";

const kills = isFullSize ? 30 : 3;
const callers = 2;
const itemsPerCallMax = 24;
/** What one run leaves to the next: few, so that kills meet the seam between two runs as well. */
const memoriesPerRound = 60;
/** From the moment that a run is seen at work: a run of that size is over sooner than this, or in the middle of its batches. */
const killDelayMsMax = 150;
/** The whole backlog of the last kill, on a machine that is shared. */
const settleMsMax = 120_000;
const base = "/v1/default/banks/under-fire";

// Few of each, so that facts restate and contradict each other: runs create, update and supersede.
const people = ["Ann", "Bohumil", "Carla", "Dmitri", "Esther", "Farid", "Greta", "Hiro", "Ines", "Jonas"];
const places = ["Lisbon", "Ghent", "Tromso", "Cork", "Ravenna", "Gdansk"];
const hobbies = ["hiking", "sailing", "chess", "pottery", "jazz", "rowing"];
const forms = [
  ({ pick }: Random) => `I live in ${pick(places)}.`,
  ({ pick }: Random) => `I moved to ${pick(places)}.`,
  ({ pick }: Random) => `I love ${pick(hobbies)}.`,
  ({ pick }: Random) => `I really enjoy ${pick(hobbies)}.`,
];
const tagSets = [[], ["team"]];
const dayMs = 86_400_000;

interface Unit {
  readonly id: string;
  readonly text: string;
  readonly type: string;
  readonly tags: readonly string[];
  readonly proof_count: number;
  readonly source_memory_ids: readonly string[];
}

test(`consolidation survives ${kills} kills: no unit stuck, no observation twice, every operation ended`, {
  timeout: 900_000,
}, async () => {
  const random = seededRandom("consolidation under kill -9");
  const dataDir = mkdtempSync(join(tmpdir(), "memory-bank-kill-"));
  const ownerKey = createKeyString();
  const acknowledged: Acknowledged = { facts: 0, operationIds: new Set() };
  let service: RunningService | undefined;
  let killedAtWork = 0;
  const start = () => startProcess({ dataDir, ownerKey, env: { EMBEDDINGS_PROVIDER: "lexical" } });
  try {
    for (let round = 0; round < kills; round++) {
      service = await start();
      const api = createApi({ url: service.url, key: ownerKey });
      const updates = { consolidation_max_memories_per_round: memoriesPerRound };
      if (round === 0) expect((await api("PATCH", `${base}/config`, { updates })).status).toBe(200);
      const load = new AbortController();
      const running = Array.from({ length: callers }, () => keepConsolidating(api, acknowledged, random, load.signal));
      // One round in four is killed at any moment, its start included; the others once a run of their own facts is at work.
      if (round % 4 < 3) {
        const before = acknowledged.operationIds.size;
        const isAtWork = async () => acknowledged.operationIds.size > before && (await operationsWith(api, "processing")) > 0;
        await eventually("a consolidation runs", isAtWork);
        killedAtWork++;
      }
      await new Promise((resolve) => setTimeout(resolve, random.int(0, killDelayMsMax)));
      await service.kill();
      load.abort();
      await Promise.all(running);
    }
    service = await start();
    const found = await judge(createApi({ url: service.url, key: ownerKey }), acknowledged);
    console.log(`${kills} kills, ${killedAtWork} of them at a run's work: ${found}`);
    expect(await service.stop()).toBe(0);
    service = undefined;
    const verified = await runAdmin(["verify"], { DATA_DIR: dataDir });
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
  } finally {
    await service?.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

/** What was answered before a kill. */
interface Acknowledged {
  facts: number;
  readonly operationIds: Set<string>;
}

/** Tells facts and asks for runs over them, until the service is gone. */
async function keepConsolidating(api: Api, acknowledged: Acknowledged, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const items = Array.from({ length: random.int(1, itemsPerCallMax) }, () => ({
      content: `${random.pick(people)}: ${random.pick(forms)(random)}`,
      // Days apart, because the same words on one day are one fact already when they are retained.
      timestamp: new Date(Date.UTC(2020, 0, 1) + random.int(0, 2_000) * dayMs).toISOString(),
      tags: random.pick(tagSets),
    }));
    try {
      const told = await api("POST", `${base}/memories`, { items });
      if (told.status === 200) acknowledged.facts += items.length;
      const asked = await api("POST", `${base}/consolidate`);
      if (asked.status === 200) acknowledged.operationIds.add(asked.body.operation_id);
    } catch {
      return; // The connection broke: the process was killed, which is what this test is about.
    }
  }
}

async function operationsWith(api: Api, status: string): Promise<number> {
  return (await api("GET", `${base}/operations?type=consolidation&status=${status}&limit=1`)).body.total;
}

async function judge(api: Api, acknowledged: Acknowledged): Promise<string> {
  const stats = async () => (await api("GET", `${base}/stats`)).body;
  await eventually(
    "all units are consolidated and all operations ended",
    async () => {
      const waiting = await Promise.all(["pending", "processing"].map((status) => operationsWith(api, status)));
      return (await stats()).pending_consolidation === 0 && waiting.every((count) => count === 0);
    },
    settleMsMax,
  );
  await judgeOperations(api, acknowledged.operationIds);

  const units = await allUnits(api);
  const observations = units.filter(({ type }) => type === "observation");
  const raw = units.filter(({ type }) => type !== "observation");
  const rawIds = new Set(raw.map(({ id }) => id));
  expect(observations.length).toBeGreaterThan(0);
  const identity = ({ text, tags, source_memory_ids }: Unit) =>
    JSON.stringify([text, tags.toSorted(), source_memory_ids.toSorted()]);
  expect(observations.map(identity).toSorted()).toEqual([...new Set(observations.map(identity))].toSorted());
  for (const { id, proof_count, source_memory_ids } of observations) {
    expect(new Set(source_memory_ids).size, id).toBe(proof_count);
    expect(
      source_memory_ids.filter((source) => !rawIds.has(source)),
      id,
    ).toEqual([]);
  }
  const byType = Object.fromEntries(
    Map.groupBy(units, ({ type }) => type)
      .entries()
      .map(([type, all]) => [type, all.length]),
  );
  expect(await stats()).toMatchObject({
    total_nodes: units.length,
    nodes_by_fact_type: byType,
    total_observations: observations.length,
    pending_consolidation: 0,
    failed_consolidation: 0,
    pending_operations: 0,
    failed_operations: 0,
  });
  const states = ["pending", "failed", "done"].map(async (state) => {
    return (await api("GET", `${base}/memories/list?consolidation_state=${state}&limit=1`)).body.total;
  });
  expect(await Promise.all(states)).toEqual([0, 0, raw.length]);
  return (
    `${acknowledged.operationIds.size} runs asked for, ${await operationsWith(api, "completed")} completed, ` +
    `${acknowledged.facts} facts told, ${raw.length} units all consolidated, ${observations.length} observations`
  );
}

async function judgeOperations(api: Api, operationIds: ReadonlySet<string>): Promise<void> {
  expect(operationIds.size).toBeGreaterThan(0);
  for (const id of operationIds) {
    const { body } = await api("GET", `${base}/operations/${id}`);
    // A run that was cut off while the next one of its bank already waited leaves the work to that one.
    const isSuperseded = body.status === "cancelled" && /^Superseded by/.test(body.error_message ?? "");
    if (!isSuperseded) expect(body, id).toMatchObject({ status: "completed", error_message: null });
  }
}

async function allUnits(api: Api): Promise<Unit[]> {
  const units: Unit[] = [];
  for (;;) {
    const { body } = await api<{ items: Unit[]; total: number }>(
      "GET",
      `${base}/memories/list?limit=1000&offset=${units.length}`,
    );
    units.push(...body.items);
    if (body.items.length === 0) return units;
  }
}
