import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeConfig, loadConfig } from "@memory-bank/config";
import { eventBusConfigOf, openEventBus } from "@memory-bank/events";
import { createClock, PROBE_PORT_OFFSET, run, serveProbes } from "@memory-bank/lifecycle";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { createInProcessMesh, serve } from "@memory-bank/rpc";
import { type MongodbPlace, mongodbPlaceOf } from "@memory-bank/storage";
import { createLogger, createMeter } from "@memory-bank/telemetry";
import { authProcessConfig } from "./config.ts";
import { principalFromProto } from "./convert.ts";
import { createAuthService } from "./service.ts";
import { type AuthStoreConfig, openAuthStore } from "./store/open-auth-store.ts";

/** Auth in a process of its own. */
await run(async (resources) => {
  const { config, warnings } = loadConfig(authProcessConfig, process.env);
  const log = createLogger({ level: "info" }).child({ service: "auth" });
  for (const warning of warnings) log.warn({}, warning);
  log.info({ config: describeConfig(authProcessConfig, config) }, "starting");

  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const meter = createMeter({ processMetrics: true });
  const { bus, onBusReconnect } = await openEventBus(eventBusConfigOf(config.bus, "auth"), { log, meter });
  resources.use(bus);
  const storeConfig = storeConfigOf(mongodbPlaceOf(config.mongodb, "auth"), config.dataDir);
  const store = resources.use(await openAuthStore(storeConfig, { bus, log, nowUs, newId, onBusReconnect }));
  const { pepper: current, previousPepper: previous, bootstrapKey } = config.auth;
  const auth = createAuthService({
    store,
    peppers: { current, previous },
    log,
    meter,
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
  resources.use(
    await serveProbes({
      host,
      port: port === 0 ? 0 : port + PROBE_PORT_OFFSET,
      ready: () => auth.ready(),
      renderMetrics: () => meter.render(),
    }),
  );
  server.setServing(true);
  log.info({ host, port: server.port }, "serving");
});

function storeConfigOf(place: MongodbPlace | undefined, dataDir: string): AuthStoreConfig {
  if (place) return { kind: "mongodb", ...place };
  mkdirSync(dataDir, { recursive: true });
  return { kind: "sqlite", file: join(dataDir, "auth.sqlite") };
}
