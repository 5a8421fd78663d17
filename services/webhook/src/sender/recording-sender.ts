import type { SendOutcome } from "../domain/attempt-result.ts";
import type { OutgoingRequest } from "../domain/request.ts";
import type { Sender } from "./sender.ts";

/** A sender without a network: remembers every request and answers as it is told. For tests of what surrounds it. */
export interface RecordingSender extends Sender {
  readonly requests: readonly OutgoingRequest[];
  /** How the next requests are answered; a promise holds them until it settles. */
  answer: (request: OutgoingRequest) => SendOutcome | Promise<SendOutcome>;
}

export function createRecordingSender(): RecordingSender {
  const requests: OutgoingRequest[] = [];
  return {
    requests,
    answer: () => ({ kind: "answered", status: 200, body: "", retryAfter: null }),
    async send(request, signal) {
      requests.push(request);
      const { promise: aborted, reject } = Promise.withResolvers<never>();
      const onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await Promise.race([this.answer(request), aborted]);
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}
