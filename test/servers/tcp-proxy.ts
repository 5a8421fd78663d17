import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A door in front of a server that tests can shut, whatever the server is. */
export interface TcpProxy extends AsyncDisposable {
  /** The server's URL with the proxy's address. */
  readonly url: string;
  /** Breaks all connections and accepts no new ones. */
  shut(): Promise<void>;
  /** Accepts connections again, under the same address. */
  reopen(): Promise<void>;
}

export async function startProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let server = await listen(0);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has an address with a port");
  const { port } = address;

  function pass(client: Socket): void {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(socket);
      // A broken connection is what this is for; both sides end together.
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }

  async function listen(onPort: number): Promise<Server> {
    const listener = createServer(pass).listen(onPort, "127.0.0.1");
    await once(listener, "listening");
    return listener;
  }

  async function shut(): Promise<void> {
    if (!server.listening) return;
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await once(server, "close");
  }

  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    shut,
    async reopen() {
      if (!server.listening) server = await listen(port);
    },
    [Symbol.asyncDispose]: shut,
  };
}
