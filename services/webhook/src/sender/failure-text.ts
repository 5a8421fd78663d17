const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Connection refused",
  ECONNRESET: "Connection reset",
  EPIPE: "Connection reset",
  EHOSTUNREACH: "Host unreachable",
  ENETUNREACH: "Network unreachable",
  ETIMEDOUT: "Connection timed out",
  ETIMEOUT: "Name resolution timed out",
  ENOTFOUND: "Host name not found",
  EAI_AGAIN: "Host name not found",
  UND_ERR_CONNECT_TIMEOUT: "Connection timed out",
  ERR_ANSWER_TOO_LARGE: "Response is too large",
  UND_ERR_HEADERS_OVERFLOW: "Response headers are too large",
  HPE_HEADER_OVERFLOW: "Response headers are too large",
  UND_ERR_SOCKET: "Connection closed by the receiver",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "Response broke off",
};

/** A short text for `last_error`. It says what happened and nothing about addresses: those may be internal ones. */
export function brokenReason(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) return "Request failed";
  if (code.startsWith("HPE_")) return reasons[code] ?? "Response is not valid HTTP";
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) return `TLS failed (${code})`;
  return reasons[code] ?? `Request failed (${code})`;
}

/** True for the end of a connection over which something had come back. */
export function isUsedConnection(error: unknown): boolean {
  const socket = (error as { readonly socket?: { readonly bytesRead?: number } }).socket;
  return codeOf(error) === "UND_ERR_SOCKET" && (socket?.bytesRead ?? 0) > 0;
}

function codeOf(error: unknown): string | undefined {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === "string" && code !== "UND_ERR") return code;
  return cause === undefined ? undefined : codeOf(cause);
}
