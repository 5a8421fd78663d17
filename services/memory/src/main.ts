import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { busFields, describeConfig, int, loadConfig, oneOf, qdrantFields, secret, string } from "@memory-bank/config";
import type { Role } from "@memory-bank/context";
import { eventBusConfigOf, openEventBus } from "@memory-bank/events";
import { createClock, PROBE_PORT_OFFSET, run, serveProbes } from "@memory-bank/lifecycle";
import { languageModelConfig, languageModelConfigOf, openEmbedder, openLanguageModel } from "@memory-bank/models";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import { connect, serve } from "@memory-bank/rpc";
import { lockFolder } from "@memory-bank/storage";
import { createLogger, createMeter } from "@memory-bank/telemetry";
import { embedderConfigOf, embeddingsConfig, memoryConfig, otherEmbedderOf } from "./config.ts";
import { createMemoryService } from "./service.ts";
import { openMemoryStore } from "./store/open-memory-store.ts";
import { openVectorIndex } from "./vector/open-vector-index.ts";

const address = (name: string, value: string) =>
  string(name, { description: "host:port of a peer", default: value, pattern: ".+:[0-9]+" });

/** A process that runs only the memory service. */
const memoryProcessConfig = {
  memory: memoryConfig,
  embeddings: embeddingsConfig,
  llm: languageModelConfig,
  bus: busFields,
  qdrant: qdrantFields,
  dataDir: string("DATA_DIR", { description: "Folder of the database files", default: "./data" }),
  logLevel: oneOf("LOG_LEVEL", {
    description: "Least important lines written",
    values: ["debug", "info", "warn", "error"],
    default: "info",
  }),
  rpc: {
    host: string("RPC_LISTEN_HOST", { description: "Address to serve gRPC on", default: "127.0.0.1" }),
    port: int("RPC_LISTEN_PORT", { description: "Port to serve gRPC on", default: 50_054, min: 0, max: 65_535 }),
    serviceToken: secret("RPC_SERVICE_TOKEN", { description: "Proves members of the mesh to each other", optional: true }),
  },
  peers: { auth: address("AUTH_RPC_ADDRESS", "127.0.0.1:50052"), bank: address("BANK_RPC_ADDRESS", "127.0.0.1:50053") },
};

// The memory service alone in a process, over its documents in DATA_DIR. Without a configured bus its events stay in the process.
await run(async (resources) => {
  const { config, warnings } = loadConfig(memoryProcessConfig, process.env);
  const log = createLogger({ level: config.logLevel }).child({ service: "memory" });
  for (const warning of warnings) log.warn({}, warning);
  log.info({ config: describeConfig(memoryProcessConfig, config) }, "starting");

  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const folder = join(config.dataDir, "memory");
  mkdirSync(folder, { recursive: true });
  resources.use(lockFolder(folder));
  const meter = createMeter({ processMetrics: true });
  const { bus } = await openEventBus(eventBusConfigOf(config.bus, "memory"), { log, meter });
  resources.use(bus);
  const storage = resources.use(
    await openMemoryStore({ kind: "sqlite", file: join(folder, "memory.sqlite") }, { bus, log, nowUs }),
  );
  const embedder = resources.use(await openEmbedder(embedderConfigOf(config.embeddings)));
  const languageModel = await openLanguageModel(languageModelConfigOf(config.llm), { log });
  const { id: embedderId, dimensions } = embedder;
  const vectors = resources.use(
    await openVectorIndex({
      kind: "sqlite",
      file: join(folder, "vectors.sqlite"),
      otherEmbedder: otherEmbedderOf(config.embeddings),
      ...{ embedderId, dimensions },
    }),
  );
  await storage.jobs.reclaimAll();
  const { serviceToken } = config.rpc;
  const bank = resources.use(connect({ address: config.peers.bank, serviceToken })).client(BankInternalServiceService);
  const auth = resources.use(connect({ address: config.peers.auth, serviceToken })).client(AuthInternalServiceService);
  const service = createMemoryService({
    ...storage,
    ...{ vectors, embedder, languageModel, bank, log, nowUs, newId },
    ...config.memory,
    owner: `memory-${newId()}`,
    // The folder is locked for this process.
    isAlone: true,
  });
  const server = resources.use(
    await serve([service], {
      ...config.rpc,
      ...{ log, newId },
      verifyKey: async (ctx, apiKey) => {
        const { tenantId, keyId, role, capabilities, allowedBankIds } = await auth.verifyKey(ctx, { apiKey });
        return { tenantId, keyId, role: role as Role, capabilities, allowedBankIds: allowedBankIds?.values ?? null };
      },
    }),
  );
  await service.start();
  resources.defer(() => service.stop());
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
