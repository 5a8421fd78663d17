import { isIP, type Socket } from "node:net";
import { buildConnector } from "undici";
import { canonicalHost } from "../domain/allow-list.ts";
import type { DestinationGuard } from "./destination-guard.ts";

/** The longest that reaching one receiver may take, name resolution and TLS included, whatever the webhook's timeout. */
export const CONNECT_MS_MAX = 10_000;
/** Addresses of one name that are tried in turn; a name with many usually has one machine behind all of them. */
const ADDRESSES_TRIED_MAX = 4;
/**
 * What a receiver may send in answer to one request, in bytes of the connection. Far above head and body as far as they
 * are read; it stops those who find a part of the protocol that the HTTP parser reads without an end, like a chunk size.
 */
const ANSWER_BYTES_MAX = 256 * 1024;

/**
 * Makes the connections of the HTTP client. The name is resolved and judged here, and the socket is opened to a judged
 * address, so nothing can change in between. IP literals go the same way; a `lookup` option would never see them.
 */
export function createGuardedConnector(
  guard: DestinationGuard,
  options: { readonly connectMs?: number; readonly ca?: string } = {},
): buildConnector.connector {
  const connectMs = options.connectMs ?? CONNECT_MS_MAX;
  const connect = (addressed: buildConnector.Options, leftMs: number) =>
    new Promise<Socket>((resolve, reject) => {
      const connector = buildConnector({
        timeout: leftMs,
        allowH2: false,
        ...(options.ca === undefined ? {} : { ca: options.ca }),
      });
      connector(addressed, (error, socket) => (socket ? resolve(socket) : reject(error)));
    });

  const connectJudged = async (asked: buildConnector.Options): Promise<Socket> => {
    const deadlineMs = performance.now() + connectMs;
    const port = Number(asked.port) || (asked.protocol === "https:" ? 443 : 80);
    const addresses = await within(connectMs, guard.judge(asked.hostname, port));
    // TLS checks the certificate against the name that the owner of the webhook wrote, not against the address.
    const servername =
      asked.protocol === "https:" && !isIP(canonicalHost(asked.hostname)) ? canonicalHost(asked.hostname) : undefined;
    let failure: unknown = Object.assign(new Error("no address"), { code: "ENOTFOUND" });
    for (const hostname of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) break;
      try {
        return await connect({ ...asked, hostname, ...(servername === undefined ? {} : { servername }) }, leftMs);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };

  return (asked, callback) => {
    connectJudged(asked).then(
      (socket) => callback(null, bounded(socket)),
      (error) => callback(error, null),
    );
  };
}

/** Destroys the socket when too much arrives after one request. Something was written since: that is the next request. */
function bounded(socket: Socket): Socket {
  let writtenBefore = socket.bytesWritten;
  let readBefore = socket.bytesRead;
  socket.on("readable", () => {
    if (socket.bytesWritten !== writtenBefore) {
      writtenBefore = socket.bytesWritten;
      readBefore = socket.bytesRead;
    } else if (socket.bytesRead - readBefore > ANSWER_BYTES_MAX) {
      socket.destroy(Object.assign(new Error("too much was sent in answer"), { code: "ERR_ANSWER_TOO_LARGE" }));
    }
  });
  return socket;
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(Object.assign(new Error("name resolution took too long"), { code: "ETIMEOUT" })), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
