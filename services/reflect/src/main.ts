import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createAuditQueue } from "@memory-bank/audit";
import { describeConfig, loadConfig } from "@memory-bank/config";
import type { Role } from "@memory-bank/context";
import { eventBusConfigOf, openEventBus } from "@memory-bank/events";
import { createClock, PROBE_PORT_OFFSET, run, serveProbes } from "@memory-bank/lifecycle";
import { languageModelConfigOf, openLanguageModel } from "@memory-bank/models";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import { MemoryInternalServiceService, MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import { connect, serve } from "@memory-bank/rpc";
import { lockFolder } from "@memory-bank/storage";
import { createLogger, createMeter } from "@memory-bank/telemetry";
import { reflectProcessConfig } from "./config.ts";
import { createReflectService } from "./service.ts";
import { openReflectStore } from "./store/open-reflect-store.ts";

// The reflect service alone in a process, over its records in DATA_DIR. Without a configured bus its events stay in the process.
await run(async (resources) => {
  const { config, warnings } = loadConfig(reflectProcessConfig, process.env);
  const log = createLogger({ level: config.logLevel }).child({ service: "reflect" });
  for (const warning of warnings) log.warn({}, warning);
  log.info({ config: describeConfig(reflectProcessConfig, config) }, "starting");

  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const meter = createMeter({ processMetrics: true });
  const { bus } = await openEventBus(eventBusConfigOf(config.bus, "reflect"), { log, meter });
  resources.use(bus);
  const folder = join(config.dataDir, "reflect");
  mkdirSync(folder, { recursive: true });
  resources.use(lockFolder(folder));
  const storage = resources.use(await openReflectStore({ kind: "sqlite", file: join(folder, "reflect.sqlite") }, { nowUs }));
  // Nobody else works on this folder: what a killed process had claimed is free again.
  await storage.jobs.reclaimAll();
  const peer = (address: string) => resources.use(connect({ address, serviceToken: config.rpc.serviceToken }));
  const [auth, bank, memory] = [peer(config.peers.auth), peer(config.peers.bank), peer(config.peers.memory)];

  const bankInternal = bank.client(BankInternalServiceService);
  const auditQueue = resources.use(createAuditQueue({ bank: bankInternal, log, nowUs, newId }));

  const service = createReflectService({
    ...storage,
    bus,
    auditQueue,
    bank: { ...bankInternal, ...bank.client(BankServiceService) },
    memory: { ...memory.client(MemoryServiceService), ...memory.client(MemoryInternalServiceService) },
    languageModel: await openLanguageModel(languageModelConfigOf(config.llm), { log, meter }),
    refreshConcurrency: config.reflect.refreshConcurrency,
    log,
    meter,
    nowUs,
    newId,
  });
  resources.defer(() => service.stop());
  await service.start();
  const keys = auth.client(AuthInternalServiceService);
  const server = resources.use(
    await serve([service], {
      ...config.rpc,
      log,
      newId,
      async verifyKey(ctx, apiKey) {
        const { role, allowedBankIds, ...principal } = await keys.verifyKey(ctx, { apiKey });
        return { ...principal, role: role as Role, allowedBankIds: allowedBankIds?.values ?? null };
      },
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
