import { createServer, type Server, type Socket } from "node:net";

/** A receiver on a raw socket: `onRequest` runs once the head of a request has arrived, `onConnect` as soon as somebody connects. */
export interface RawReceiver extends AsyncDisposable {
  readonly port: number;
  /** Connections so far. */
  connections(): number;
  /** Connections that are open now. */
  open(): number;
}

export interface RawBehaviour {
  readonly onConnect?: (socket: Socket) => void;
  readonly onRequest?: (socket: Socket, requestNumber: number) => void;
}

export async function startRawReceiver(behaviour: RawBehaviour): Promise<RawReceiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let requests = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    behaviour.onConnect?.(socket);
    let head = "";
    socket.on("data", (chunk) => {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      head = "";
      requests += 1;
      behaviour.onRequest?.(socket, requests);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    connections: () => connections,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Writes `text` again and again, as fast as the other side reads, until the socket is gone. */
function flood(socket: Socket, text: string | Uint8Array): void {
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on("drain", more);
  more();
}

/** Writes `text` every `everyMs` until the socket is gone. */
function drip(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.on("close", () => clearInterval(timer));
}

const zeros = new Uint8Array(64 * 1024);

/** Receivers that try to keep the worker, or to fill its memory. */
export const hostileBehaviours: Readonly<Record<string, RawBehaviour>> = {
  "an endless body": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      flood(socket, "x".repeat(64 * 1024));
    },
  },
  "an endless body in chunks": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      flood(socket, `4000\r\n${"x".repeat(0x4000)}\r\n`);
    },
  },
  "a body of one byte at a time": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
      drip(socket, "x", 20);
    },
  },
  "headers of one byte at a time": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\n");
      drip(socket, "x", 20);
    },
  },
  "endless headers": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\n");
      flood(socket, `x-filler: ${"y".repeat(4_000)}\r\n`);
    },
  },
  "one giant header": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\nx-giant: ");
      flood(socket, "y".repeat(64 * 1024));
    },
  },
  "a gzip bomb": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n");
      flood(socket, zeros);
    },
  },
  "endless informational answers": {
    onRequest(socket) {
      flood(socket, "HTTP/1.1 100 Continue\r\n\r\n".repeat(100));
    },
  },
  "an informational answer now and then": {
    onRequest(socket) {
      drip(socket, "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", 40);
    },
  },
  "endless trailers": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n");
      flood(socket, `x-filler: ${"y".repeat(4_000)}\r\n`);
    },
  },
  "an endless chunk size": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      flood(socket, "0".repeat(64 * 1024));
    },
  },
  "no answer": {},
  "a reset in mid-body": {
    onRequest(socket) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf", () => setTimeout(() => socket.resetAndDestroy(), 20));
    },
  },
  "an end in mid-body": {
    onRequest(socket) {
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf");
    },
  },
  "a reset at once": { onConnect: (socket) => socket.resetAndDestroy() },
  "an end without an answer": { onRequest: (socket) => socket.end() },
  "something that is not HTTP": { onRequest: (socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n") },
  "two answers at once": {
    onRequest(socket) {
      socket.write("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    },
  },
  "a switch of protocols": {
    onRequest(socket) {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n");
    },
  },
};
