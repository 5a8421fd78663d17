import type { Timers } from "@memory-bank/lifecycle";
import type { Logger } from "@memory-bank/telemetry";
import type { Consumer, ConsumerMessages, JsMsg } from "@nats-io/jetstream";

export interface PullDeps {
  /** Finds or makes the server's side of the subscription; called again after every failure, since it may have gone. */
  readonly openConsumer: () => Promise<Consumer>;
  /** Handles one message and tells the server how it went. Does not throw. */
  readonly deliver: (message: JsMsg) => Promise<void>;
  /** Calls back whenever the server may have forgotten the question that it was asked; answers how to leave. */
  readonly onReconnect: (listener: () => void) => () => void;
  readonly log: Logger;
  readonly timers: Timers;
}

const FETCH_EXPIRES_MS = 30_000; // how long one question waits for a message; then it is asked anew
const PAUSE_MS = 200; // after the server could not be asked; doubles
const PAUSE_MS_MAX = 5_000; // also how late deliveries go on after a server came back

/**
 * Asks for one message, handles it, asks for the next, until `signal` aborts; resolves when the handler that runs then is done.
 * As nothing is fetched ahead, what this process does not get to is free for others at once.
 */
export async function pullEvents(deps: PullDeps, signal: AbortSignal): Promise<void> {
  const { openConsumer, log, timers } = deps;
  let consumer: Consumer | undefined;
  let pauseMs = PAUSE_MS;
  while (!signal.aborted) {
    try {
      consumer ??= await openConsumer();
      await pullOne(consumer, deps, signal);
      pauseMs = PAUSE_MS;
    } catch (error) {
      if (signal.aborted) return;
      consumer = undefined;
      log.warn({ err: error, pauseMs }, "events cannot be fetched and will be again");
      await pause(pauseMs, timers, signal);
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    }
  }
}

async function pullOne(consumer: Consumer, { deliver, onReconnect }: PullDeps, signal: AbortSignal): Promise<void> {
  const messages = await consumer.fetch({ max_messages: 1, expires: FETCH_EXPIRES_MS });
  const end = () => messages.stop();
  signal.addEventListener("abort", end, { once: true });
  const leave = onReconnect(end);
  if (signal.aborted) end();
  try {
    await deliverAll(messages, deliver, signal);
  } finally {
    signal.removeEventListener("abort", end);
    leave();
  }
}

async function deliverAll(
  messages: ConsumerMessages,
  deliver: (message: JsMsg) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for await (const message of messages) {
    // It came while the subscription ended: somebody else shall have it, now.
    if (signal.aborted) message.nak();
    else await deliver(message);
  }
}

async function pause(ms: number, timers: Timers, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = timers.setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      timers.clearTimeout(timer);
      resolve();
    });
  });
}
