import { spawnSync } from "node:child_process";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { createEncoderPool } from "./encoder-pool.ts";

/**
 * A thread that answers each text with its first id and the number of the batch. Id -1 kills the thread always; -2 kills
 * it when it is the first of its pool (which a shared counter knows).
 */
const script = `
  const { parentPort, workerData } = require("node:worker_threads");
  const counter = new Int32Array(workerData);
  const number = Atomics.add(counter, 0, 1);
  let batches = 0;
  parentPort.on("message", (texts) => {
    batches += 1;
    for (const [id] of texts) if (id === -1 || (id === -2 && number === 0)) throw new Error("killed by " + id);
    setTimeout(() => parentPort.postMessage(texts.map(([id]) => Float32Array.of(id, batches))), 1);
  });
`;

function openPool(workers: number) {
  const counter = new SharedArrayBuffer(4);
  const started = (): number => Atomics.load(new Int32Array(counter), 0);
  const pool = createEncoderPool({ workers, startWorker: () => new Worker(script, { eval: true, workerData: counter }) });
  return { pool, started };
}

const long = (id: number): number[] => [id, ...new Array<number>(127).fill(0)];

describe("encoder pool", { timeout: 30_000 }, () => {
  test("answers in order over many batches", async () => {
    const { pool, started } = openPool(2);
    await using _ = pool;
    const vectors = await pool.encode(
      Array.from({ length: 100 }, (_, i) => [i]),
      { urgent: false },
    );
    expect(vectors.map((vector) => vector[0])).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(started()).toBeLessThanOrEqual(2);
  });

  test("urgent texts overtake what waits", async () => {
    const { pool } = openPool(1);
    await using _ = pool;
    const bulk = pool.encode(
      Array.from({ length: 20 }, (_, i) => long(i)),
      { urgent: false },
    );
    const urgent = await pool.encode([[7]], { urgent: true });
    expect(urgent[0]![1]).toBe(2);
    expect((await bulk).at(-1)![1]).toBe(21);
  });

  test("a thread that dies is replaced and its batch tried again", async () => {
    const { pool, started } = openPool(1);
    await using _ = pool;
    const [vector] = await pool.encode([[-2]], { urgent: true });
    expect(vector![0]).toBe(-2);
    expect(started()).toBe(2);
  });

  test("a text that kills every thread fails as unavailable, and the pool goes on", async () => {
    const { pool } = openPool(1);
    await using _ = pool;
    const fatal = pool.encode([[-1]], { urgent: false });
    await expect(fatal).rejects.toMatchObject({ code: "unavailable", reason: "ENCODER_FAILED" });
    expect((await pool.encode([[5]], { urgent: false }))[0]![0]).toBe(5);
  });

  test("a thread that cannot start fails its texts as unavailable", async () => {
    await using pool = createEncoderPool({
      workers: 1,
      startWorker: () => new Worker("throw new Error('no model')", { eval: true }),
    });
    await expect(pool.encode([[1]], { urgent: false })).rejects.toMatchObject({ code: "unavailable" });
  });

  test("an abort ends waiting texts at once and others are answered", async () => {
    const { pool } = openPool(1);
    await using _ = pool;
    const controller = new AbortController();
    const first = pool.encode([long(1)], { urgent: false });
    const dropped = pool.encode([long(2), long(3)], { urgent: false, signal: controller.signal });
    const last = pool.encode([long(4)], { urgent: false });
    controller.abort();
    await expect(dropped).rejects.toMatchObject({ code: "cancelled" });
    expect((await first)[0]![0]).toBe(1);
    // Batch 2 is the next one: those that were cancelled never reached the thread.
    expect(Array.from((await last)[0]!)).toEqual([4, 2]);
  });

  test("too many waiting texts are refused", async () => {
    const { pool } = openPool(1);
    await using _ = pool;
    const texts = Array.from({ length: 20_001 }, (_, i) => [i]);
    await expect(pool.encode(texts, { urgent: false })).rejects.toMatchObject({ code: "resource_exhausted" });
  });

  test("closing ends everything that waits or runs", async () => {
    const { pool } = openPool(1);
    const running = pool.encode([long(1), long(2)], { urgent: false });
    const failed = expect(running).rejects.toMatchObject({ code: "unavailable", reason: "EMBEDDER_CLOSED" });
    await pool[Symbol.asyncDispose]();
    await failed;
    await expect(pool.encode([[1]], { urgent: true })).rejects.toMatchObject({ reason: "EMBEDDER_CLOSED" });
  });

  test("idle threads do not keep a process alive, working ones do", () => {
    const url = new URL("./local-embedder.ts", import.meta.url);
    const program = `
      const { openLocalEmbedder } = await import(${JSON.stringify(url.href)});
      const embedder = await openLocalEmbedder({ workers: 1 });
      const [vector] = await embedder.embed(["Bob"]);
      console.log(vector.length);
    `;
    const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(stdout.trim()).toBe("512");
    expect(status).toBe(0);
  });
});
