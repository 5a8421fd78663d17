import { AppError } from "@memory-bank/errors";
import type { Timers } from "@memory-bank/lifecycle";
import { type Logger, redactText } from "@memory-bank/telemetry";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { messageOf } from "../event-errors.ts";

export interface NatsServers {
  /** One URL, or several of one cluster separated by commas; user and password may be in them. */
  readonly url: string;
  /** How the server lists this client. */
  readonly name: string;
}

const CONNECT_TIMEOUT_MS = 2_000; // one try; servers are near
const START_TIMEOUT_MS = 60_000; // after that an orchestrator does better: it starts the process anew, ever more slowly
const PAUSE_MS = 250; // between the first tries; doubles
const PAUSE_MS_MAX = 5_000;
const RECONNECT_WAIT_MS = 500; // all clients of a server that came back return within a second
const PING_INTERVAL_MS = 5_000; // two unanswered pings, and a silent server counts as gone

/** Connects, trying again while nothing answers; `unavailable`, `BUS_UNREACHABLE`, after a minute. Later breaks heal by themselves. */
export async function connectNats({ url, name }: NatsServers, log: Logger, timers: Timers): Promise<NatsConnection> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await connect({
        servers: url.split(","),
        name,
        timeout: CONNECT_TIMEOUT_MS,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RECONNECT_WAIT_MS,
        pingInterval: PING_INTERVAL_MS,
        maxPingOut: 2,
      });
    } catch (error) {
      const server = withoutSecrets(url);
      if (performance.now() + pauseMs > deadlineMs) {
        throw new AppError("unavailable", "BUS_UNREACHABLE", `No NATS server answers at ${server}: ${messageOf(error)}`, {
          cause: error,
        });
      }
      log.warn({ server, reason: redactText(messageOf(error)), pauseMs }, "no NATS server answers yet");
      await new Promise<void>((resolve) => timers.setTimeout(resolve, pauseMs));
    }
  }
}

/** The addresses without user and password. */
function withoutSecrets(url: string): string {
  return url.replaceAll(/\/\/[^@,]*@/g, "//");
}
