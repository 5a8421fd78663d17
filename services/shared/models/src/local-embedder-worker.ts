/** One thread of the local embedder: answers each message (a batch of piece ids) with its vectors, in order. */
import { parentPort } from "node:worker_threads";
import { loadSentenceEncoder } from "./sentence-encoder.ts";

const port = parentPort;
if (!port) throw new Error("local-embedder-worker.ts runs as a worker thread only");
// Messages wait in the port until somebody listens, so nothing is lost while the model loads.
const encode = await loadSentenceEncoder();
port.on("message", (batch: readonly (readonly number[])[]) => {
  const vectors = batch.map(encode);
  port.postMessage(
    vectors,
    vectors.map((vector) => vector.buffer as ArrayBuffer),
  );
});
