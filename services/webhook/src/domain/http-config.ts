import { AppError } from "@memory-bank/errors";
import type { HttpConfig } from "./webhook.ts";

/** What a webhook gets that says nothing about how it is called. */
export const defaultHttpConfig: HttpConfig = { method: "POST", timeoutSeconds: 30, headers: {}, params: {} };

const TIMEOUT_SECONDS_MAX = 300;
/** Receivers refuse requests with more; 16 KiB of headers is what common servers take by default. */
const HEADERS_MAX = 100;
const HEADER_BYTES_MAX = 16 * 1024;
/** The query ends up in one request line, which common servers bound at 8 KiB. */
const PARAMS_MAX = 100;
const QUERY_BYTES_MAX = 8 * 1024;

/** Headers that say how the message is framed, carried or signed. A receiver could not trust them from anybody else. */
const reservedHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "traceparent",
  "tracestate",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-hindsight-signature",
]);
const reservedHeaderPrefixes = ["proxy-", "webhook-"];

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Printable ASCII, tabs, and the upper half of Latin-1, which is all that a header line can carry.
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The configuration, or `invalid_argument` naming what is wrong with it. */
export function checkedHttpConfig(config: HttpConfig): HttpConfig {
  const { method, timeoutSeconds, headers, params } = config;
  if (method !== "POST" && method !== "GET") throw refused("method must be POST or GET");
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1 || timeoutSeconds > TIMEOUT_SECONDS_MAX) {
    throw refused(`timeout_seconds must be 1 to ${TIMEOUT_SECONDS_MAX}`);
  }
  checkHeaders(headers);
  checkParams(params);
  return config;
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers);
  if (entries.length > HEADERS_MAX) throw refused(`at most ${HEADERS_MAX} headers can be set`);
  const names = new Set<string>();
  let bytes = 0;
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (!headerName.test(name)) throw refused(`'${name}' is not a header name`);
    if (reservedHeaders.has(lower) || reservedHeaderPrefixes.some((prefix) => lower.startsWith(prefix))) {
      throw refused(`header '${name}' cannot be set`);
    }
    if (!headerValue.test(value)) throw refused(`the value of header '${name}' holds characters that a header cannot carry`);
    if (names.has(lower)) throw refused(`header '${name}' is given twice`);
    names.add(lower);
    bytes += name.length + value.length;
  }
  if (bytes > HEADER_BYTES_MAX) throw refused(`headers are larger than ${HEADER_BYTES_MAX} bytes`);
}

function checkParams(params: Readonly<Record<string, string>>): void {
  if (Object.keys(params).length > PARAMS_MAX) throw refused(`at most ${PARAMS_MAX} params can be set`);
  if (queryOf(params).length > QUERY_BYTES_MAX) throw refused(`params are larger than ${QUERY_BYTES_MAX} bytes`);
}

/** The params as query text, without a leading mark. */
export function queryOf(params: Readonly<Record<string, string>>): string {
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
  return Object.entries(params)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join("&");
}

const refused = (text: string) => new AppError("invalid_argument", "HTTP_CONFIG_REFUSED", `Invalid http_config: ${text}`);
