import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { createAuditQueue, createRpcAudit } from "@memory-bank/audit";
import { createAuthService, openAuthStore } from "@memory-bank/auth";
import { createBankService, openBankStore, readConfigFile } from "@memory-bank/bank";
import { type Config, loadOrCreateSecretFile } from "@memory-bank/config";
import type { CallContext } from "@memory-bank/context";
import { createInProcessBus } from "@memory-bank/events";
import { createGateway, createKeyVerifier, type GatewayClients, routes } from "@memory-bank/gateway";
import { createClock, type Resources } from "@memory-bank/lifecycle";
import {
  createMemoryService,
  embedderConfigOf,
  openMemoryStore,
  openVectorIndex,
  otherEmbedderOf,
  warmExtraction,
} from "@memory-bank/memory";
import { languageModelConfigOf, openEmbedder, openLanguageModel } from "@memory-bank/models";
import { AuthInternalServiceService, AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import { MemoryInternalServiceService, MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import { ReflectInternalServiceService, ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import { WebhookInternalServiceService, WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import { createReflectService, openReflectStore } from "@memory-bank/reflect";
import { connect, createInProcessMesh, type Rpc, type Service, type ServiceDefinition, serve } from "@memory-bank/rpc";
import { lockFolder } from "@memory-bank/storage";
import { createMeter, type Logger } from "@memory-bank/telemetry";
import {
  createAllowList,
  createDestinationGuard,
  createHttpSender,
  createWebhookService,
  openWebhookStore,
  serverWebhookOf,
  vaultFromConfig,
} from "@memory-bank/webhook";
import type { embeddedConfig } from "./config.ts";

export interface Started {
  /** Where REST listens. */
  readonly url: string;
  readonly rpcPort: number;
  /** The first owner key, made by this start; undefined when somebody could come in already. */
  readonly ownerKey: string | undefined;
}

/** The product version, as `/version` and the API description show it. */
export const version = "0.1.0";

/** Gateway and the five services in one process, over SQLite files in one folder. Everything acquired goes to `resources`. */
export async function startEmbedded(config: Config<typeof embeddedConfig>, resources: Resources, log: Logger): Promise<Started> {
  const dataDir = resolve(config.dataDir);
  const inData = (name: string) => resolve(dataDir, name);
  mkdirSync(dataDir, { recursive: true });
  resources.use(lockFolder(dataDir));
  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const meter = createMeter({ processMetrics: true });
  const common = { log, meter, nowUs, newId };
  const bus = resources.use(createInProcessBus({ log, meter }));

  // Members of this process trust each other; over sockets they prove themselves with a token that nobody else can know.
  const serviceToken = config.rpc.serviceToken ?? crypto.randomUUID();
  const mesh = createInProcessMesh({ log });
  const sockets = config.mesh === "grpc" ? createSocketMesh(resources, serviceToken) : undefined;
  const client = <S extends ServiceDefinition>(definition: S): Rpc<S> => (sockets ?? mesh).client(definition);
  const authInternal = client(AuthInternalServiceService);
  const bankInternal = client(BankInternalServiceService);

  const verifier = createKeyVerifier({ auth: authInternal, bus, nowUs, newId });
  const auth = createAuthService({
    ...common,
    store: resources.use(await openAuthStore({ kind: "sqlite", file: inData("auth.sqlite") }, { bus, log, nowUs, newId })),
    peppers: { current: config.auth.pepper ?? loadOrCreateSecretFile(inData("pepper")), previous: config.auth.previousPepper },
    onRevoked: verifier.forget,
  });
  const embedderConfig = embedderConfigOf(config.embeddings);
  const embedder = resources.use(await openEmbedder(embedderConfig));
  const languageModel = await openLanguageModel(languageModelConfigOf(config.llm), { log, meter });
  const bank = createBankService({
    ...common,
    storage: resources.use(await openBankStore({ kind: "sqlite", file: inData("bank.sqlite") }, { nowUs, newId })),
    bus,
    owners: {
      memory: client(MemoryInternalServiceService),
      reflect: client(ReflectInternalServiceService),
      webhook: client(WebhookInternalServiceService),
    },
    configFile: readConfigFile(config.bank.configFile),
    auditRetentionDays: config.bank.auditRetentionDays,
    providers: {
      llm_provider: config.llm.provider,
      llm_model: languageModel.kind === "openai" ? languageModel.model : languageModel.kind,
      embeddings_provider: embedder.provider,
      embeddings_model: embedder.model,
    },
  });
  // In process whatever the mesh is: what it holds at a stop is written after the sockets are closed.
  const auditQueue = resources.use(createAuditQueue({ ...common, bank: mesh.client(BankInternalServiceService) }));
  const storage = resources.use(await openMemoryStore({ kind: "sqlite", file: inData("memory.sqlite") }, { bus, log, nowUs }));
  const { id: embedderId, dimensions } = embedder;
  const vectors = resources.use(
    await openVectorIndex({
      kind: "sqlite",
      file: inData("vectors.sqlite"),
      otherEmbedder: otherEmbedderOf(config.embeddings),
      ...{ embedderId, dimensions },
    }),
  );
  const memory = createMemoryService({
    ...common,
    ...storage,
    vectors,
    embedder,
    languageModel,
    bank: bankInternal,
    owner: "embedded",
    isAlone: true,
    auditKeepsText: config.gateway.auditKeepsText,
    recallIndexBytesMax: config.memory.recallIndexBytesMax,
    retainConcurrency: config.memory.retainConcurrency,
  });
  const reflectStorage = resources.use(await openReflectStore({ kind: "sqlite", file: inData("reflect.sqlite") }, { nowUs }));
  const reflect = createReflectService({
    ...common,
    ...reflectStorage,
    bus,
    bank: { ...bankInternal, ...client(BankServiceService) },
    memory: { ...client(MemoryServiceService), ...client(MemoryInternalServiceService) },
    languageModel,
    auditQueue,
    refreshConcurrency: config.reflect.refreshConcurrency,
  });
  // No webhook may call this process; its ports become known one by one.
  const ownPorts: number[] = [];
  const allowList = createAllowList(config.webhook.allowedHosts);
  const webhookStore = resources.use(await openWebhookStore({ kind: "sqlite", file: inData("webhook.sqlite") }));
  const webhook = createWebhookService({
    ...common,
    store: webhookStore,
    sender: resources.use(createHttpSender({ guard: createDestinationGuard({ allowList, ownPorts: () => ownPorts }) })),
    bank: bankInternal,
    bus,
    vault: vaultFromConfig({
      encryptionKey: config.webhook.encryptionKey ?? loadOrCreateSecretFile(inData("webhook-key")),
      previousEncryptionKeys: config.webhook.previousEncryptionKeys,
    }),
    allowList,
    deliveryRetentionDays: config.webhook.deliveryRetentionDays,
    keepsResponseBodies: config.webhook.keepsResponseBodies,
    serverWebhook: serverWebhookOf(config.webhook.server),
  });

  const services = [auth, bank, memory, reflect, webhook];
  mesh.bind(...services);
  mesh.ready();
  const made = await auth.ensureBootstrapKey({ bootstrapKey: config.auth.bootstrapKey, createWhenMissing: true });
  // Nobody else works on this folder: what a killed process had claimed is free again.
  await storage.jobs.reclaimAll();
  await reflectStorage.jobs.reclaimAll();
  for (const owner of await webhookStore.listOwners()) await webhookStore.releaseOwner(owner, nowUs());

  const rpc = resources.use(
    await serve(services, {
      ...common,
      ...config.rpc,
      serviceToken,
      verifyKey: (_: CallContext, apiKey: string) => verifier.verify(apiKey),
      observe: createRpcAudit({ ...common, queue: auditQueue, keepsText: config.gateway.auditKeepsText }),
    }),
  );
  sockets?.connectTo(rpc.port);
  ownPorts.push(rpc.port);
  await verifier.start();
  // Listeners before those whose events they want: an event without subscribers is done at once.
  await startInOrder([webhook, reflect, auth, bank, memory], resources);

  const clients: GatewayClients = {
    auth: client(AuthServiceService),
    bank: client(BankServiceService),
    bankInternal,
    memory: client(MemoryServiceService),
    reflect: client(ReflectServiceService),
    webhook: client(WebhookServiceService),
  };
  const gateway = await createGateway({
    log,
    newId,
    version,
    now: nowUs,
    verifyKey: (apiKey) => verifier.verify(apiKey),
    corsOrigins: config.gateway.corsOrigins,
    routes: routes({
      ...{ clients, nowUs, newId, log, version },
      auditKeepsText: config.gateway.auditKeepsText,
      ready: () => allReady(services),
      renderMetrics: () => meter.render(),
    }),
  });
  resources.defer(() => gateway.close());
  const url = await gateway.listen({ host: config.gateway.host, port: config.gateway.port });
  ownPorts.push(Number(new URL(url).port));
  rpc.setServing(true);
  // The rules of extraction load with the first text otherwise; this is after the first request could be answered.
  setImmediate(warmExtraction);
  return { url, rpcPort: rpc.port, ownerKey: made?.apiKey };
}

/** Clients over a socket to this very process, made before its port is known. */
function createSocketMesh(resources: Resources, serviceToken: string) {
  let port: number | undefined;
  // Acquired here, so that they close after everything that calls through them; each is made at its first use, which may be late.
  const connections = resources.use(new AsyncDisposableStack());
  return {
    connectTo(served: number) {
      port = served;
    },
    client<S extends ServiceDefinition>(definition: S): Rpc<S> {
      let connected: Rpc<S> | undefined;
      const late = () => {
        connected ??= connections.use(connect({ address: `127.0.0.1:${port}`, serviceToken })).client(definition);
        return connected as unknown as Record<string, (ctx: CallContext, request: unknown) => Promise<unknown>>;
      };
      const methods = Object.keys(definition).map((name) => [
        name,
        (ctx: CallContext, request: unknown) => late()[name]!(ctx, request),
      ]);
      return Object.fromEntries(methods) as Rpc<S>;
    },
  };
}

async function startInOrder(services: readonly Service[], resources: Resources): Promise<void> {
  for (const service of services) {
    await service.start();
    resources.defer(() => service.stop());
  }
}

async function allReady(services: readonly Service[]): Promise<void> {
  await Promise.all(services.map((service) => service.ready()));
}
