import { promisify } from "node:util";
import { gzip as gzipCallback, gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";

const gzip = promisify(gzipCallback);

const COMPRESS_BYTES_MIN = 1024; // below this a response fits into one packet anyway
// Up to this size compressing takes about 0.3 ms of the event loop; another thread would cost twice that in total.
const INLINE_BYTES_MAX = 32 * 1024;
// The lightest level: on our JSON it is 2 % larger than level 4 at two thirds of the time. One chunk holds most answers whole,
// so that a compression crosses to its thread and back once.
const OPTIONS = { level: 1, chunkSize: 64 * 1024 };

/** Compresses text responses for callers that accept gzip. */
export function registerCompress(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if (typeof payload !== "string" || payload.length < COMPRESS_BYTES_MIN / 3) return done(null, payload);
    const bytes = Buffer.byteLength(payload);
    if (bytes < COMPRESS_BYTES_MIN) return done(null, payload);
    reply.header("vary", "accept-encoding");
    if (!acceptsGzip(request.headers["accept-encoding"])) return done(null, payload);
    reply.header("content-encoding", "gzip");
    reply.removeHeader("content-length");
    if (bytes <= INLINE_BYTES_MAX) return done(null, gzipSync(payload, OPTIONS));
    gzip(payload, OPTIONS).then((compressed) => done(null, compressed), done);
  });
}

/** The value of `Accept-Encoding` names gzip, or everything, without forbidding it. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  if (typeof header !== "string") return false;
  if (header.startsWith("gzip,") || header === "gzip") return true; // what nearly all clients send
  const accepted = new Map<string, boolean>();
  for (const part of header.toLowerCase().split(",")) {
    const [coding = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const isForbidden = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    accepted.set(coding, !isForbidden);
  }
  return accepted.get("gzip") ?? accepted.get("*") ?? false;
}
