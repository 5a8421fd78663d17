import { type RunningService, startProcess } from "../modes/process.ts";
import { type Api, createApi, eventually } from "../support/api.ts";
import { median, type Row } from "./report.ts";
import { benchQuestions, benchSentences } from "./sentences.ts";

const rounds = 3;
export const thinkingSteps = 2 * (rounds + 1);
const memories = 1_000;
const memoriesPerCall = 100;
const models = 50;
/** A round takes a few seconds; one that takes this long is broken. */
const roundMsMax = 120_000;

/** Consolidation by rules and refreshes of mental models, through REST, with the lexical embedder, whose time is negligible. */
export async function thinkingRows(progress: (what: string) => void): Promise<Row[]> {
  const service: RunningService = await startProcess({ env: { EMBEDDINGS_PROVIDER: "lexical" } });
  const api = createApi({ url: service.url, key: service.ownerKey });
  const consolidations: number[] = [];
  const refreshes: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const consolidated = await memoriesPerSecond(api, `bench-${round}`);
    progress(`consolidation of ${memories} memories, round ${round}`);
    const refreshed = await refreshesPerSecond(api, `bench-${round}`);
    progress(`${models} refreshes, round ${round}`);
    if (round === 0) continue; // warm-up
    consolidations.push(consolidated);
    refreshes.push(refreshed);
  }
  await service.stop();
  return [
    {
      what: `consolidation by rules of ${memories} memories in one run`,
      value: `${median(consolidations).toFixed(0)} memories/s`,
      target: "",
      isMet: undefined,
    },
    {
      what: `full refreshes of ${models} mental models over them, local answers`,
      value: `${median(refreshes).toFixed(0)} refreshes/s`,
      target: "",
      isMet: undefined,
    },
  ];
}

/** Retains first, so that the time is that of the run alone. */
async function memoriesPerSecond(api: Api, bankId: string): Promise<number> {
  const base = `/v1/default/banks/${bankId}`;
  await answered(api, "PUT", base, {});
  const updates = { enable_auto_consolidation: false, consolidation_max_memories_per_round: 0 };
  await answered(api, "PATCH", `${base}/config`, { updates });
  const sentences = benchSentences(memories);
  for (let from = 0; from < memories; from += memoriesPerCall) {
    const items = sentences.slice(from, from + memoriesPerCall).map((content) => ({ content }));
    await answered(api, "POST", `${base}/memories`, { items });
  }
  const { pending_consolidation: pending } = await answered(api, "GET", `${base}/stats`);
  const started = performance.now();
  await answered(api, "POST", `${base}/consolidate`, {});
  await noOperationIsLeft(api, base);
  const seconds = (performance.now() - started) / 1_000;
  const after = await answered(api, "GET", `${base}/stats`);
  if (after.pending_consolidation + after.failed_consolidation > 0) throw new Error(`not consolidated: ${JSON.stringify(after)}`);
  return pending / seconds;
}

/** Of models that were filled before; all are asked for first, so that none waits for its caller. */
async function refreshesPerSecond(api: Api, bankId: string): Promise<number> {
  const base = `/v1/default/banks/${bankId}`;
  const ids = Array.from({ length: models }, (_, i) => `model-${i}`);
  const questions = benchQuestions(models);
  for (const [i, id] of ids.entries()) {
    const model = { id, name: id, source_query: questions[i], trigger: { mode: "full" } };
    await answered(api, "POST", `${base}/mental-models`, model);
  }
  await noOperationIsLeft(api, base);
  const started = performance.now();
  await Promise.all(ids.map((id) => answered(api, "POST", `${base}/mental-models/${id}/refresh`)));
  await noOperationIsLeft(api, base);
  const seconds = (performance.now() - started) / 1_000;
  const { failed_operations: failed } = await answered(api, "GET", `${base}/stats`);
  if (failed > 0) throw new Error(`${failed} refreshes failed`);
  return models / seconds;
}

async function noOperationIsLeft(api: Api, base: string): Promise<void> {
  const isIdle = async () => {
    for (const status of ["pending", "processing"]) {
      if ((await answered(api, "GET", `${base}/operations?status=${status}&limit=1`)).total > 0) return false;
    }
    return true;
  };
  await eventually("all operations end", isIdle, roundMsMax);
}

async function answered(api: Api, method: string, path: string, body?: unknown) {
  const answer = await api(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
