import { queryOf } from "./http-config.ts";
import { signingSecrets } from "./secret.ts";
import { hindsightSignature, standardSignatures } from "./signature.ts";
import { traceparentOfAttempt } from "./trace.ts";
import type { Target } from "./webhook.ts";

/** One attempt as it goes over the wire. */
export interface OutgoingRequest {
  readonly method: "POST" | "GET";
  readonly url: string;
  /** Names in lower case, each once. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** For the whole exchange, the response's body included. */
  readonly timeoutMs: number;
}

export interface AttemptParts {
  readonly deliveryId: string;
  readonly eventType: string;
  readonly body: Uint8Array;
  readonly traceparent: string | null;
  readonly target: Target;
  readonly nowUs: number;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

const emptyBody = new Uint8Array();

/** The request of one attempt: signatures and the trace are of this attempt, everything else as it was queued. */
export function requestOf(parts: AttemptParts): OutgoingRequest {
  const { httpConfig, url } = parts.target;
  const body = httpConfig.method === "POST" ? parts.body : null;
  return {
    method: httpConfig.method,
    url: withParams(url, httpConfig.params),
    headers: {
      "content-type": "application/json",
      "user-agent": "memory-bank-webhook/1",
      // Compressed answers would have to be unpacked to be shown, and a small one can unpack to gigabytes.
      "accept-encoding": "identity",
      "x-hindsight-event": parts.eventType,
      ...Object.fromEntries(Object.entries(httpConfig.headers).map(([name, value]) => [name.toLowerCase(), value])),
      traceparent: traceparentOfAttempt(parts.traceparent, parts.deliveryId, parts.spanId),
      ...signatureHeaders(parts, body ?? emptyBody),
    },
    body,
    timeoutMs: httpConfig.timeoutSeconds * 1_000,
  };
}

function signatureHeaders({ target, deliveryId, nowUs }: AttemptParts, body: Uint8Array): Record<string, string> {
  if (target.secret === null) return {};
  const timestampSeconds = Math.floor(nowUs / 1_000_000);
  return {
    "x-hindsight-signature": hindsightSignature(target.secret, body),
    "webhook-id": deliveryId,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": standardSignatures(signingSecrets(target, nowUs), { id: deliveryId, timestampSeconds, body }),
  };
}

// `URLSearchParams` would write the whole query anew in its own spelling; what the owner gave stays as it is.
function withParams(url: string, params: Readonly<Record<string, string>>): string {
  const added = queryOf(params);
  const parsed = new URL(url);
  parsed.hash = "";
  if (added === "") return parsed.href;
  parsed.search = parsed.search === "" ? `?${added}` : `${parsed.search}&${added}`;
  return parsed.href;
}
