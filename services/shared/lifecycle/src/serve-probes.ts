import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

export interface ProbesOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Rejects while the process should get no requests. */
  readonly ready: () => Promise<void>;
  /** In the Prometheus text format. */
  readonly renderMetrics: () => Promise<string>;
}

export interface Probes extends AsyncDisposable {
  readonly port: number;
}

/** How far the probes' port is from that of the service itself. */
export const PROBE_PORT_OFFSET = 1_000;

const READY_TIMEOUT_MS = 2_000; // orchestrators ask every few seconds and give up after one or two

/**
 * Serves `/health/live`, `/health/ready` and `/metrics` over HTTP. Live means that the event loop turns, so it never asks for more;
 * the reason why a process is not ready goes to nobody but its log.
 */
export async function serveProbes({ host, port, ready, renderMetrics }: ProbesOptions): Promise<Probes> {
  const server = createServer((request, response) => {
    void answer(request.method ?? "", request.url ?? "", response);
  });

  async function answer(method: string, url: string, response: ServerResponse): Promise<void> {
    const path = url.split("?")[0];
    if (method !== "GET") return reply(response, 405, "method not allowed");
    if (path === "/health/live") return reply(response, 200, "live");
    if (path === "/health/ready")
      return (await isReady(ready)) ? reply(response, 200, "ready") : reply(response, 503, "not ready");
    if (path === "/metrics") return reply(response, 200, await renderMetrics());
    reply(response, 404, "not found");
  }

  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has an address with a port");
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}

async function isReady(ready: () => Promise<void>): Promise<boolean> {
  const timeout = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => timeout.resolve(false), READY_TIMEOUT_MS);
  const asked = ready().then(
    () => true,
    () => false,
  );
  const answer = await Promise.race([asked, timeout.promise]);
  clearTimeout(timer);
  return answer;
}
