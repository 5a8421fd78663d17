import { AppError } from "@memory-bank/errors";

export interface PriorityLimit {
  /** Runs `work` once fewer than the limit run, urgent work first. Throws `cancelled` when `signal` aborts while it waits. */
  run<T>(work: () => Promise<T>, options: { readonly urgent: boolean; readonly signal?: AbortSignal | undefined }): Promise<T>;
}

/** Lets at most `runningMax` pieces of work run at a time. */
export function createPriorityLimit(runningMax: number): PriorityLimit {
  const urgent: (() => void)[] = [];
  const patient: (() => void)[] = [];
  let running = 0;

  const waitIn = (queue: (() => void)[], signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.splice(queue.indexOf(enter), 1);
        reject(cancelled());
      };
      const enter = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      signal?.addEventListener("abort", leave, { once: true });
      queue.push(enter);
    });

  return {
    async run(work, { urgent: isUrgent, signal }) {
      if (signal?.aborted) throw cancelled();
      // Whoever ends hands its place on to the next in line, so `running` stays as it is for those that waited.
      if (running < runningMax) running += 1;
      else await waitIn(isUrgent ? urgent : patient, signal);
      try {
        return await work();
      } finally {
        const next = urgent.shift() ?? patient.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}

const cancelled = (): AppError => new AppError("cancelled", "EMBEDDING_CANCELLED", "The embedding was cancelled");
