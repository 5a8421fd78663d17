import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeConfig, loadConfig } from "@memory-bank/config";
import { createInProcessBus } from "@memory-bank/events";
import { createClock, run } from "@memory-bank/lifecycle";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { createInProcessMesh, serve } from "@memory-bank/rpc";
import { createLogger, createMeter } from "@memory-bank/telemetry";
import { authProcessConfig } from "./config.ts";
import { principalFromProto } from "./convert.ts";
import { createAuthService } from "./service.ts";
import { openAuthStore } from "./store/open-auth-store.ts";

/** Auth in a process of its own. */
await run(async (resources) => {
  const { config, warnings } = loadConfig(authProcessConfig, process.env);
  const log = createLogger({ level: "info" }).child({ service: "auth" });
  for (const warning of warnings) log.warn({}, warning);
  log.info({ config: describeConfig(authProcessConfig, config) }, "starting");

  mkdirSync(config.dataDir, { recursive: true });
  const bus = resources.use(createInProcessBus({ log }));
  const file = join(config.dataDir, "auth.sqlite");
  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const store = resources.use(await openAuthStore({ kind: "sqlite", file }, { bus, log, nowUs, newId }));
  const { pepper: current, previousPepper: previous, bootstrapKey } = config.auth;
  const auth = createAuthService({
    store,
    peppers: { current, previous },
    log,
    meter: createMeter({ processMetrics: true }),
    nowUs,
    newId,
  });
  await auth.ensureBootstrapKey({ bootstrapKey, createWhenMissing: false });
  await auth.start();
  resources.defer(() => auth.stop());

  const mesh = createInProcessMesh({ log });
  const own = mesh.client(AuthInternalServiceService);
  mesh.bind(auth);
  const { listenHost: host, listenPort: port, serviceToken } = config;
  const server = resources.use(
    await serve([auth], {
      host,
      port,
      log,
      newId,
      serviceToken,
      verifyKey: async (ctx, apiKey) => principalFromProto(await own.verifyKey(ctx, { apiKey })),
    }),
  );
  server.setServing(true);
  log.info({ host, port: server.port }, "serving");
});
