import { spawn } from "node:child_process";
import { once } from "node:events";
import { openEmbedder } from "@memory-bank/models";
import autocannon from "autocannon";
import { startProcess } from "../modes/process.ts";
import { type Api, createApi } from "../support/api.ts";
import { keysRows, keysSteps } from "./keys.ts";
import { createProgress, median, printTable, quantile, type Row } from "./report.ts";
import { benchQuestions, benchSentences } from "./sentences.ts";
import { thinkingRows, thinkingSteps } from "./thinking.ts";
import { webhookRows, webhooksSteps } from "./webhooks.ts";

/** Rounds are interleaved and medians taken, because the machine's speed drifts. */
const rounds = 5;
const recallCallers = 16;
const units = 5_000;
const batch = 100;

/** `pnpm bench keys webhooks` runs only the parts that it names. */
const parts: Readonly<Record<string, { readonly steps: number; rows(): Promise<Row[]> }>> = {
  gateway: { steps: rounds + 1, rows: gatewayRows },
  retain: { steps: 3, rows: retainRows },
  recall: { steps: 2, rows: recallRows },
  thinking: { steps: thinkingSteps, rows: () => thinkingRows(progress) },
  keys: { steps: keysSteps, rows: () => keysRows(progress) },
  webhooks: { steps: webhooksSteps, rows: () => webhookRows(progress) },
};
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(", ")}; there are ${Object.keys(parts).join(", ")}`);
const chosen = wanted.map((name) => parts[name]!);
const progress = createProgress(chosen.reduce((sum, { steps }) => sum + steps, 0));
const rows: Row[] = [];
for (const part of chosen) rows.push(...(await part.rows()));
printTable(rows);

/** Requests a second of an authenticated GET of one small record, against a bare Fastify route with the same body. */
async function gatewayRows(): Promise<Row[]> {
  const service = await startProcess({ env: { EMBEDDINGS_PROVIDER: "lexical" } });
  const api = createApi({ url: service.url, key: service.ownerKey });
  const path = "/v1/default/banks/bench/profile";
  await api("PUT", "/v1/default/banks/bench", {});
  const { body } = await api("GET", path);
  const bare = spawn(process.execPath, [new URL("./bare-fastify.ts", import.meta.url).pathname], {
    env: { PATH: process.env["PATH"], BENCH_BODY: JSON.stringify(body) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [bareUrl] = (await once(bare.stdout.setEncoding("utf8"), "data")) as [string];
  const perSecond = async (url: string, headers = {}) => {
    const result = await autocannon({ url, headers, connections: 32, duration: 3 });
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
    return result.requests.average;
  };
  const ratios: number[] = [];
  const absolute: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const ours = await perSecond(service.url + path, { authorization: `Bearer ${service.ownerKey}` });
    const theirs = await perSecond(`${bareUrl.trim()}/bare`);
    progress(`gateway against bare Fastify, round ${round}`);
    if (round === 0) continue; // warm-up
    ratios.push(ours / theirs);
    absolute.push(ours);
  }
  bare.kill("SIGTERM");
  await service.stop();
  const ratio = median(ratios);
  const what = "authenticated GET of a small record / bare Fastify route";
  return [
    {
      what,
      value: `${(100 * ratio).toFixed(0)} % (${median(absolute).toFixed(0)} requests/s)`,
      target: ">= 40 %",
      isMet: ratio >= 0.4,
    },
  ];
}

async function retainAll(api: Api, bankId: string, sentences: readonly string[]): Promise<number> {
  const started = performance.now();
  for (let from = 0; from < sentences.length; from += batch) {
    const items = sentences.slice(from, from + batch).map((content) => ({ content }));
    const { status, body } = await api("POST", `/v1/default/banks/${bankId}/memories`, { items });
    if (status !== 200) throw new Error(`retain answered ${status}: ${JSON.stringify(body)}`);
  }
  return sentences.length / ((performance.now() - started) / 1000);
}

async function retainRows(): Promise<Row[]> {
  const lexical = await startProcess({ env: { EMBEDDINGS_PROVIDER: "lexical" } });
  const lexicalApi = createApi({ url: lexical.url, key: lexical.ownerKey });
  await retainAll(lexicalApi, "warm-up", benchSentences(500));
  const lexicalRate = await retainAll(lexicalApi, "bench", benchSentences(units));
  await lexical.stop();
  progress("retain with the lexical embedder");

  const sentences = benchSentences(1_000);
  const embedder = await openEmbedder({ kind: "local" });
  await embedder.embed(sentences.slice(0, 64));
  const started = performance.now();
  for (let from = 0; from < sentences.length; from += 64) await embedder.embed(sentences.slice(from, from + 64));
  const encoderRate = sentences.length / ((performance.now() - started) / 1000);
  await embedder[Symbol.asyncDispose]();
  progress("the local encoder alone");

  const local = await startProcess();
  const localApi = createApi({ url: local.url, key: local.ownerKey });
  await retainAll(localApi, "warm-up", benchSentences(100));
  const localRate = await retainAll(localApi, "bench", sentences);
  await local.stop();
  progress("retain with the local encoder");
  const share = localRate / encoderRate;
  return [
    {
      what: `retain, lexical embedder, ${units} one-sentence items in batches of ${batch}`,
      value: `${lexicalRate.toFixed(0)} items/s`,
      target: ">= 1000 items/s",
      isMet: lexicalRate >= 1_000,
    },
    {
      what: "retain, local encoder / the encoder alone",
      value: `${(100 * share).toFixed(0)} % (${localRate.toFixed(0)} items/s of ${encoderRate.toFixed(0)} sentences/s)`,
      target: ">= 80 %",
      isMet: share >= 0.8,
    },
  ];
}

/** With the lexical embedder, whose time is negligible: the target leaves the encoding of the question and its queue out. */
async function recallRows(): Promise<Row[]> {
  const service = await startProcess({ env: { EMBEDDINGS_PROVIDER: "lexical" } });
  const api = createApi({ url: service.url, key: service.ownerKey });
  await retainAll(api, "bench", benchSentences(units));
  progress(`${units} units to recall from`);
  const recall = async (query: string) => {
    const started = performance.now();
    const { status } = await api("POST", "/v1/default/banks/bench/memories/recall", { query });
    if (status !== 200) throw new Error(`recall answered ${status}`);
    return performance.now() - started;
  };
  for (const question of benchQuestions(100)) await recall(question);
  const p50: number[] = [];
  const p95: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const questions = benchQuestions(400);
    const times: number[] = [];
    let next = 0;
    await Promise.all(
      Array.from({ length: recallCallers }, async () => {
        for (let i = next++; i < questions.length; i = next++) times.push(await recall(questions[i]!));
      }),
    );
    p50.push(quantile(times, 0.5));
    p95.push(quantile(times, 0.95));
  }
  const statsStarted = performance.now();
  for (let i = 0; i < 20; i++) await api("GET", "/v1/default/banks/bench/stats");
  const statsMs = (performance.now() - statsStarted) / 20;
  await service.stop();
  progress(`recall with ${recallCallers} callers`);
  return [
    {
      what: `recall over ${units} units, ${recallCallers} callers, p50 / p95`,
      value: `${median(p50).toFixed(1)} / ${median(p95).toFixed(1)} ms`,
      target: "p95 <= 40 ms",
      isMet: median(p95) <= 40,
    },
    {
      what: `stats over ${units} units, through REST`,
      value: `${statsMs.toFixed(1)} ms`,
      target: "<= 5 ms",
      isMet: statsMs <= 5,
    },
  ];
}
