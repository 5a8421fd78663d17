import fastify from "fastify";

// A route that answers the same body as the measured one and does nothing else; a process of its own, like the service.
const body = JSON.parse(process.env["BENCH_BODY"] ?? "{}");
const app = fastify();
app.get("/bare", async () => body);
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
process.on("SIGTERM", () => void app.close());
