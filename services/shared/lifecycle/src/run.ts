import { redactText } from "@memory-bank/telemetry";
import { createResources, type Resources } from "./resources.ts";

const STOP_TIMEOUT_MS = 10_000; // orchestrators kill after 30 s; what is durable needs no longer to be put down
const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;
const KEEP_ALIVE_MS = 60_000; // any interval does: a root without a listener must not end by itself

/**
 * Runs a process: `start` acquires what it needs through `resources`, then the process serves until SIGTERM or SIGINT, and
 * releases everything in reverse order within ten seconds. Exit code 0 after a clean stop; 1 after one line on standard error
 * when the start or the stop failed or took too long. A signal during the start waits for it; a second one exits at once.
 */
export async function run(start: (resources: Resources) => Promise<void>): Promise<never> {
  const resources = createResources();
  const keepAlive = setInterval(() => undefined, KEEP_ALIVE_MS);
  const stopAsked = nextSignal();
  const started = outcomeOf(() => start(resources));
  const failure = await Promise.race([started, stopAsked.then(() => withTimeout(started))]);
  if (failure) complain("Start failed", failure.error);
  else await stopAsked;

  const trouble = await withTimeout(outcomeOf(() => resources[Symbol.asyncDispose]()));
  if (trouble) complain("Stop failed", trouble.error);
  clearInterval(keepAlive);
  process.exit(failure || trouble ? 1 : 0);
}

/** Resolves with the first stop signal; the second one ends the process with the code a shell expects. */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    for (const signal of STOP_SIGNALS) {
      process.on(signal, () => {
        if (!isFirst) process.exit(signal === "SIGINT" ? 130 : 143);
        isFirst = false;
        resolve();
      });
    }
  });
}

type Outcome = { readonly error: unknown } | undefined;

async function outcomeOf(work: () => PromiseLike<void>): Promise<Outcome> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
}

async function withTimeout(work: Promise<Outcome>): Promise<Outcome> {
  const timeout = Promise.withResolvers<Outcome>();
  const timer = setTimeout(
    () => timeout.resolve({ error: new Error(`not done after ${STOP_TIMEOUT_MS / 1_000} s`) }),
    STOP_TIMEOUT_MS,
  );
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function complain(what: string, error: unknown): void {
  process.stderr.write(`${redactText(`${what}: ${reasons(error).join(": ")}`).replaceAll(/\s+/g, " ")}\n`);
}

/** The messages from the failure down to its first cause. */
function reasons(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  return error.cause === undefined ? [error.message] : [error.message, ...reasons(error.cause)];
}
