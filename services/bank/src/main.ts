import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeConfig, loadConfig } from "@memory-bank/config";
import type { CallContext, Principal, Role } from "@memory-bank/context";
import { eventBusConfigOf, openEventBus } from "@memory-bank/events";
import { createClock, PROBE_PORT_OFFSET, type Resources, run, serveProbes } from "@memory-bank/lifecycle";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { MemoryInternalServiceService } from "@memory-bank/proto/memory/v1/memory";
import { ReflectInternalServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import { WebhookInternalServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import { connect, type Rpc, serve } from "@memory-bank/rpc";
import { lockFolder, type MongodbPlace, mongodbPlaceOf } from "@memory-bank/storage";
import { createLogger, createMeter } from "@memory-bank/telemetry";
import { bankProcessConfig, readConfigFile } from "./config.ts";
import { createBankService } from "./service.ts";
import { type BankStoreConfig, openBankStore } from "./store/open-bank-store.ts";

// The bank service alone in a process. Without a configured bus its events stay in the process.
await run(async (resources) => {
  const { config, warnings } = loadConfig(bankProcessConfig, process.env);
  const log = createLogger({ level: config.logLevel }).child({ service: "bank" });
  for (const warning of warnings) log.warn({}, warning);
  log.info({ config: describeConfig(bankProcessConfig, config) }, "starting");

  const configFile = readConfigFile(config.bank.configFile);
  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const meter = createMeter({ processMetrics: true });
  const { bus, onBusReconnect } = await openEventBus(eventBusConfigOf(config.bus, "bank"), { log, meter });
  resources.use(bus);
  const storeConfig = storeConfigOf(mongodbPlaceOf(config.mongodb, "bank"), config.dataDir, resources);
  const storage = resources.use(await openBankStore(storeConfig, { nowUs, newId, onBusReconnect }));
  const peer = (address: string) => resources.use(connect({ address, serviceToken: config.rpc.serviceToken }));

  const service = createBankService({
    storage,
    bus,
    log,
    nowUs,
    newId,
    owners: {
      memory: peer(config.peers.memory).client(MemoryInternalServiceService),
      reflect: peer(config.peers.reflect).client(ReflectInternalServiceService),
      webhook: peer(config.peers.webhook).client(WebhookInternalServiceService),
    },
    configFile,
    auditRetentionDays: config.bank.auditRetentionDays,
    providers: {
      llm_provider: config.providers.llmProvider,
      llm_model: config.providers.llmModel ?? config.providers.llmProvider,
      embeddings_provider: config.providers.embeddingsProvider,
      embeddings_model: config.providers.embeddingsModel ?? null,
    },
  });
  resources.defer(() => service.stop());
  await service.start();
  const auth = peer(config.peers.auth).client(AuthInternalServiceService);
  const server = resources.use(
    await serve([service], {
      host: config.rpc.host,
      port: config.rpc.port,
      serviceToken: config.rpc.serviceToken,
      log,
      newId,
      verifyKey: (ctx, apiKey) => verifyKey(auth, ctx, apiKey),
    }),
  );
  await service.ready();
  const { host, port } = config.rpc;
  resources.use(
    await serveProbes({
      host,
      port: port === 0 ? 0 : port + PROBE_PORT_OFFSET,
      ready: () => service.ready(),
      renderMetrics: () => meter.render(),
    }),
  );
  server.setServing(true);
  log.info({ port: server.port }, "serving");
});

/** One process has a folder open at a time; a database is shared by all replicas. */
function storeConfigOf(place: MongodbPlace | undefined, dataDir: string, resources: Resources): BankStoreConfig {
  if (place) return { kind: "mongodb", ...place };
  const folder = join(dataDir, "bank");
  mkdirSync(folder, { recursive: true });
  resources.use(lockFolder(folder));
  return { kind: "sqlite", file: join(folder, "bank.sqlite") };
}

async function verifyKey(
  auth: Pick<Rpc<typeof AuthInternalServiceService>, "verifyKey">,
  ctx: CallContext,
  apiKey: string,
): Promise<Principal> {
  const { tenantId, keyId, role, capabilities, allowedBankIds } = await auth.verifyKey(ctx, { apiKey });
  return { tenantId, keyId, role: role as Role, capabilities, allowedBankIds: allowedBankIds?.values ?? null };
}
