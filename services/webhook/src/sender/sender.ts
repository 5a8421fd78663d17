import type { SendOutcome } from "../domain/attempt-result.ts";
import type { OutgoingRequest } from "../domain/request.ts";

/**
 * Carries one attempt to its receiver.
 *
 * `send` settles within the request's timeout, whatever the receiver does, and answers every fault of the receiver or of
 * the way to it as an outcome. It rejects only when `signal` aborts, with the signal's reason; then the receiver may or
 * may not have got the request. Redirects are answers like others and never followed.
 */
export interface Sender extends AsyncDisposable {
  send(request: OutgoingRequest, signal: AbortSignal): Promise<SendOutcome>;
}
