import { isAppError } from "@memory-bank/errors";
import { Agent, type Dispatcher } from "undici";
import type { SendOutcome } from "../domain/attempt-result.ts";
import { ALLOWANCE_MAX } from "../domain/lane.ts";
import type { OutgoingRequest } from "../domain/request.ts";
import type { DestinationGuard } from "./destination-guard.ts";
import { brokenReason, isUsedConnection } from "./failure-text.ts";
import { createGuardedConnector } from "./guarded-connector.ts";
import { createResponseReader } from "./response-reader.ts";
import type { Sender } from "./sender.ts";

/** Headers of one answer; a receiver has no reason to send more. */
const HEADER_BYTES_MAX = 16 * 1024;
/** Shorter than what common servers keep idle connections, so that they rarely close one that is about to be used. */
const KEEP_ALIVE_MS = 4_000;

export interface HttpSenderDeps {
  readonly guard: DestinationGuard;
  /** For tests: bound of reaching a receiver, and an authority to trust instead of the system's. */
  readonly connectMs?: number;
  readonly ca?: string;
}

/** The sender of production. Environment variables about proxies mean nothing to it, and it speaks HTTP/1.1 only. */
export function createHttpSender(deps: HttpSenderDeps): Sender {
  const { connectMs, ca } = deps;
  const agent = new Agent({
    connect: createGuardedConnector(deps.guard, {
      ...(connectMs === undefined ? {} : { connectMs }),
      ...(ca === undefined ? {} : { ca }),
    }),
    connections: ALLOWANCE_MAX,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    // One timer covers the whole exchange; undici's own would restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async send(request, signal) {
      const deadlineMs = performance.now() + request.timeoutMs;
      for (let stale = 0; ; stale += 1) {
        const { outcome, isStale } = await exchange(agent, request, deadlineMs, signal);
        // The receiver had closed a kept connection before it saw the request: that says nothing about the receiver. There may
        // be as many such connections as the pool holds, and each failure takes one away.
        if (!isStale || stale === ALLOWANCE_MAX) return outcome;
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

interface Exchange {
  readonly outcome: SendOutcome;
  /** True when a kept connection was gone before anything of this exchange came back. */
  readonly isStale: boolean;
}

/** One request and its answer. Settles by the deadline even while undici is still waiting for a connection. */
function exchange(agent: Agent, request: OutgoingRequest, deadlineMs: number, signal: AbortSignal): Promise<Exchange> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let isSettled = false;
    let isAnswering = false;
    const reader = createResponseReader();

    const settle = (result: () => void) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      result();
    };
    const finish = (outcome: SendOutcome, isStale = false) => settle(() => resolve({ outcome, isStale }));
    const breakOff = (outcome: SendOutcome) => {
      finish(outcome);
      controller?.abort(new Error("exchange is over"));
    };
    const onAbort = () => {
      settle(() => reject(signal.reason));
      controller?.abort(new Error("stopped"));
    };
    const onTimeout = () =>
      breakOff({ kind: "broken", reason: `Timeout after ${request.timeoutMs / 1_000} s`, status: reader.status() });

    const timer = setTimeout(onTimeout, Math.max(0, deadlineMs - performance.now()));
    signal.addEventListener("abort", onAbort, { once: true });

    const url = new URL(request.url);
    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: { ...request.headers },
        body: request.body === null ? null : Buffer.from(request.body),
      },
      {
        onRequestStart(started) {
          controller = started;
          // The time may have run out while the request waited for a connection; then it must not be sent any more.
          if (isSettled) started.abort(new Error("exchange is over"));
        },
        onResponseStarted() {
          isAnswering = true;
        },
        onResponseStart(_, status, headers) {
          const fault = reader.onHead(status, headers);
          if (fault !== null) breakOff({ kind: "broken", reason: fault, status: null });
        },
        onResponseData(_, chunk) {
          if (reader.onBody(chunk) === "enough") breakOff(reader.answer());
        },
        onResponseEnd() {
          finish(reader.answer());
        },
        onResponseError(_, error) {
          if (isAppError(error, "DESTINATION_REFUSED")) finish({ kind: "refused", reason: error.message });
          else
            finish(
              { kind: "broken", reason: brokenReason(error), status: reader.status() },
              !isAnswering && isUsedConnection(error),
            );
        },
      },
    );
  });
}
