import type { Worker } from "node:worker_threads";
import { AppError } from "@memory-bank/errors";

export interface EncoderPoolDeps {
  /** Starts a thread that answers each `number[][]` with as many `Float32Array`s, batches in order. */
  readonly startWorker: () => Worker;
  /** Threads at most; the first starts with the pool, the others when work waits. */
  readonly workers: number;
}

export interface EncodeOptions {
  /** Goes ahead of everything that is not urgent, but for the batches already in a thread. */
  readonly urgent: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Threads that encode texts, given as piece ids. A thread that dies is replaced and its batch tried once more; after that
 * the texts of the batch fail with `unavailable`. The threads hold the process open only while they have work.
 */
export interface EncoderPool extends AsyncDisposable {
  /**
   * One vector per text, in order. Throws `cancelled` when `signal` aborts, `resource_exhausted` when too many texts wait,
   * `unavailable` when the threads cannot do it or the pool is closed.
   */
  encode(texts: readonly (readonly number[])[], options: EncodeOptions): Promise<Float32Array[]>;
}

/** Pieces in one batch, unless a single text has more: about 40 ms of a thread, which is how long a query can have to wait. */
const BATCH_PIECES_MAX = 128;
/** Texts in one batch: enough that the messages between threads cost nothing beside the encoding. */
const BATCH_TEXTS_MAX = 16;
/** Texts that wait for a thread: some minutes of work. Whoever brings more has to slow down. */
const WAITING_TEXTS_MAX = 20_000;
/** How often a text is given to a thread. */
const ATTEMPTS_MAX = 2;

interface Task {
  readonly ids: readonly number[];
  readonly urgent: boolean;
  attempts: number;
  settled: boolean;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: AppError) => void;
}

interface Thread {
  readonly worker: Worker;
  batch: Task[];
}

export function createEncoderPool(deps: EncoderPoolDeps): EncoderPool {
  const threads = new Set<Thread>();
  const urgent: Task[] = [];
  const patient: Task[] = [];
  let isClosed = false;

  const startThread = (): Thread => {
    const thread: Thread = { worker: deps.startWorker(), batch: [] };
    let cause: unknown;
    thread.worker.unref();
    thread.worker.on("message", (vectors: Float32Array[]) => {
      const batch = thread.batch;
      thread.batch = [];
      thread.worker.unref();
      for (const [i, task] of batch.entries()) settle(task, () => task.resolve(vectors[i]!));
      dispatch();
    });
    thread.worker.on("error", (error) => {
      cause = error;
    });
    thread.worker.on("exit", () => {
      threads.delete(thread);
      if (isClosed) return;
      for (const task of thread.batch.reverse()) {
        if (task.attempts < ATTEMPTS_MAX) (task.urgent ? urgent : patient).unshift(task);
        else settle(task, () => task.reject(encoderFailed(cause)));
      }
      dispatch();
    });
    threads.add(thread);
    return thread;
  };

  const dispatch = (): void => {
    for (;;) {
      const idle = [...threads].find((thread) => thread.batch.length === 0);
      if (!idle && threads.size >= deps.workers) return;
      const batch = takeBatch(urgent) ?? takeBatch(patient);
      if (!batch) return;
      const thread = idle ?? startThread();
      thread.batch = batch;
      for (const task of batch) task.attempts += 1;
      thread.worker.ref();
      thread.worker.postMessage(batch.map((task) => task.ids));
    }
  };

  startThread();

  return {
    async encode(texts, { urgent: isUrgent, signal }) {
      if (isClosed) throw poolClosed();
      if (signal?.aborted) throw cancelled();
      if (urgent.length + patient.length + texts.length > WAITING_TEXTS_MAX) throw tooManyWaiting();
      const queue = isUrgent ? urgent : patient;
      const tasks: Task[] = [];
      const vectors = texts.map(
        (ids) =>
          new Promise<Float32Array>((resolve, reject) => {
            tasks.push({ ids, urgent: isUrgent, attempts: 0, settled: false, resolve, reject });
          }),
      );
      // What is still waiting is skipped when its turn comes; what a thread holds is finished and forgotten.
      const abort = (): void => {
        for (const task of tasks) settle(task, () => task.reject(cancelled()));
      };
      signal?.addEventListener("abort", abort, { once: true });
      queue.push(...tasks);
      dispatch();
      try {
        return await Promise.all(vectors);
      } finally {
        signal?.removeEventListener("abort", abort);
      }
    },

    async [Symbol.asyncDispose]() {
      isClosed = true;
      const held = [...threads].flatMap((thread) => thread.batch);
      for (const task of [...held, ...urgent.splice(0), ...patient.splice(0)]) settle(task, () => task.reject(poolClosed()));
      await Promise.all([...threads].map((thread) => thread.worker.terminate()));
    },
  };
}

/** Takes the next texts off the queue, leaving out those that were cancelled meanwhile. */
function takeBatch(queue: Task[]): Task[] | undefined {
  const batch: Task[] = [];
  let pieces = 0;
  while (queue.length > 0 && batch.length < BATCH_TEXTS_MAX) {
    const task = queue[0]!;
    if (!task.settled) {
      if (batch.length > 0 && pieces + task.ids.length > BATCH_PIECES_MAX) break;
      batch.push(task);
      pieces += task.ids.length;
    }
    queue.shift();
  }
  return batch.length > 0 ? batch : undefined;
}

function settle(task: Task, how: () => void): void {
  if (task.settled) return;
  task.settled = true;
  how();
}

const poolClosed = (): AppError => new AppError("unavailable", "EMBEDDER_CLOSED", "The embedder is closed");
const cancelled = (): AppError => new AppError("cancelled", "EMBEDDING_CANCELLED", "The embedding was cancelled");
const encoderFailed = (cause: unknown): AppError =>
  new AppError("unavailable", "ENCODER_FAILED", "The sentence encoder failed twice on this text", { cause });
const tooManyWaiting = (): AppError =>
  new AppError("resource_exhausted", "EMBEDDER_BUSY", "Too many texts wait for their embedding", { retryAfterMs: 5000 });
