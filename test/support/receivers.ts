import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that a receiver got whole. */
export interface Received {
  /** `webhook-id`: the same for every attempt at one delivery. */
  readonly deliveryId: string;
  readonly body: Buffer;
  /** Whether Hindsight's signature is the right one under the receiver's secret. */
  readonly isSigned: boolean;
}

/** Answers a request after its body was read. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

export interface Receiver extends Disposable {
  readonly url: string;
  readonly secret: string;
  /** In the order in which they came. */
  readonly received: readonly Received[];
  /** Ids of deliveries that were answered with a 2xx, which the caller may have heard or not. */
  readonly accepted: ReadonlySet<string>;
}

export async function startReceiver(behave: Behaviour, secret: string = crypto.randomUUID()): Promise<Receiver> {
  const received: Received[] = [];
  const accepted = new Set<string>();
  const server: Server = createServer(async (request, response) => {
    const body = await bodyOf(request).catch(() => undefined);
    if (body === undefined) return; // The sender died in the middle of its request.
    const deliveryId = String(request.headers["webhook-id"]);
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    received.push({ deliveryId, body, isSigned: request.headers["x-hindsight-signature"] === signature });
    response.on("finish", () => {
      if (response.statusCode < 300) accepted.add(deliveryId);
    });
    behave(request, response);
  });
  server.keepAliveTimeout = 60_000; // no connection ends between two attempts, so that none is tried again for that
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return {
    ...{ url, secret, received, accepted },
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
