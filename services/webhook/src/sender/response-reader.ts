import type { IncomingHttpHeaders } from "node:http";
import type { SendOutcome } from "../domain/attempt-result.ts";

/** What is kept of a body, in characters; the public record promises this much. */
export const BODY_CHARACTERS_MAX = 2_048;
/** No character needs more than four bytes, so this much always fills the record. */
const BODY_BYTES_KEPT = BODY_CHARACTERS_MAX * 4;
/** More than that is read and dropped, so that the connection can be used again; beyond this a new one is cheaper. */
const BODY_BYTES_READ_MAX = 64 * 1024;
/** `100 Continue` and early hints come once or twice; a receiver that goes on with them never answers. */
const INFORMATIONAL_MAX = 16;

/** Collects one answer within bounds of its own, whatever the receiver sends. */
export interface ResponseReader {
  /** Takes a status line with its headers, informational ones too; answers a reason to break off, or `null`. */
  onHead(status: number, headers: IncomingHttpHeaders): string | null;
  onBody(chunk: Uint8Array): "more" | "enough";
  /** Of the final answer, once its head has arrived. */
  status(): number | null;
  answer(): SendOutcome;
}

export function createResponseReader(): ResponseReader {
  const chunks: Uint8Array[] = [];
  let informational = 0;
  let bytes = 0;
  let head: { readonly status: number; readonly headers: IncomingHttpHeaders } | undefined;

  return {
    onHead(status, headers) {
      if (status >= 200) {
        head = { status, headers };
        return null;
      }
      informational += 1;
      return informational > INFORMATIONAL_MAX ? "Too many informational responses" : null;
    },
    onBody(chunk) {
      const wanted = chunk.subarray(0, Math.max(0, BODY_BYTES_KEPT - bytes));
      // A copy, for the chunk is a view of a larger buffer that would stay alive with it.
      if (wanted.length > 0) chunks.push(Uint8Array.from(wanted));
      bytes += chunk.length;
      return bytes <= BODY_BYTES_READ_MAX ? "more" : "enough";
    },
    status: () => head?.status ?? null,
    answer: () => ({
      kind: "answered",
      status: head!.status,
      body: isPlain(head!.headers) ? textOf(Buffer.concat(chunks)) : null,
      retryAfter: firstOf(head!.headers["retry-after"]),
      isCutOff: bytes > BODY_BYTES_READ_MAX,
    }),
  };
}

/** False for a body that would have to be unpacked. It was not asked for, and unpacking it is how gzip bombs work. */
function isPlain(headers: IncomingHttpHeaders): boolean {
  const encoding = firstOf(headers["content-encoding"])?.trim().toLowerCase() ?? "";
  return encoding === "" || encoding === "identity";
}

// Bytes that are not UTF-8 become U+FFFD and NUL goes, so that the text can be stored and shown anywhere.
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes).replaceAll("\0", "");
  return [...text].slice(0, BODY_CHARACTERS_MAX).join("");
}

const firstOf = (value: string | string[] | undefined): string | null => (Array.isArray(value) ? value[0] : value) ?? null;
