import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// Receivers that accept everything, in a process of their own. Prints their ports; answers every line of its input with how
// many requests have come so far.
const count = Number(process.env["BENCH_RECEIVERS"] ?? 1);
let received = 0;
const ports: number[] = [];
for (let i = 0; i < count; i++) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      received++;
      response.end();
    });
  });
  server.keepAliveTimeout = 60_000;
  await once(server.listen(0, "127.0.0.1"), "listening");
  ports.push((server.address() as AddressInfo).port);
}
console.log(JSON.stringify(ports));
process.stdin.on("data", () => console.log(String(received)));
process.stdin.on("end", () => process.exit());
