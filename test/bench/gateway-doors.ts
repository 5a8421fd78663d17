import { join } from "node:path";
import { createAuthService, openAuthStore } from "@memory-bank/auth";
import { createInProcessBus } from "@memory-bank/events";
import { createGateway, createKeyVerifier } from "@memory-bank/gateway";
import { createClock, run } from "@memory-bank/lifecycle";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { createInProcessMesh } from "@memory-bank/rpc";
import { createMeter, silentLogger as log } from "@memory-bank/telemetry";

// The gateway with one and the same route behind a key and in the open; a process of its own, like the service. Prints its
// address and a key.
await run(async (resources) => {
  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const bus = resources.use(createInProcessBus({ log }));
  const file = join(process.env["BENCH_FOLDER"] ?? ".", "doors.sqlite");
  const store = resources.use(await openAuthStore({ kind: "sqlite", file }, { bus, log, nowUs, newId }));
  const mesh = createInProcessMesh({ log });
  const verifier = createKeyVerifier({ auth: mesh.client(AuthInternalServiceService), bus, nowUs, newId });
  const peppers = { current: "a pepper of at least thirty-two characters" };
  const auth = createAuthService({ store, peppers, log, nowUs, newId, meter: createMeter(), onRevoked: verifier.forget });
  mesh.bind(auth);
  const made = await auth.ensureBootstrapKey({ createWhenMissing: true });
  await verifier.start();
  const record = { bank_id: "bench", name: "bench", mission: "", disposition: { skepticism: 3, literalism: 3, empathy: 3 } };
  const app = await createGateway({
    ...{ log, newId, now: nowUs, version: "0.0.0", verifyKey: verifier.verify },
    routes: (routes) => {
      routes.get("/guarded", async () => record);
      routes.get("/open", { config: { isPublic: true } }, async () => record);
    },
  });
  resources.defer(() => app.close());
  console.log(JSON.stringify({ url: await app.listen({ host: "127.0.0.1", port: 0 }), key: made!.apiKey }));
});
