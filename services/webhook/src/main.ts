import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeConfig, loadConfig } from "@memory-bank/config";
import type { CallContext, Principal, Role } from "@memory-bank/context";
import { eventBusConfigOf, openEventBus } from "@memory-bank/events";
import { createClock, PROBE_PORT_OFFSET, type Resources, run, serveProbes } from "@memory-bank/lifecycle";
import { AuthInternalServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService } from "@memory-bank/proto/bank/v1/bank";
import { connect, type Rpc, type RpcServer, serve } from "@memory-bank/rpc";
import { lockFolder, type MongodbPlace, mongodbPlaceOf } from "@memory-bank/storage";
import { createLogger, createMeter } from "@memory-bank/telemetry";
import { serverWebhookOf, vaultFromConfig, webhookProcessConfig } from "./config.ts";
import { createAllowList } from "./domain/allow-list.ts";
import { createDestinationGuard } from "./sender/destination-guard.ts";
import { createHttpSender } from "./sender/http-sender.ts";
import { createWebhookService } from "./service.ts";
import { openWebhookStore, type WebhookStoreConfig } from "./store/open-webhook-store.ts";

// The webhook service alone in a process. Without a configured bus it hears of no events.
await run(async (resources) => {
  const { config, warnings } = loadConfig(webhookProcessConfig, process.env);
  const log = createLogger({ level: config.logLevel }).child({ service: "webhook" });
  for (const warning of warnings) log.warn({}, warning);
  log.info({ config: describeConfig(webhookProcessConfig, config) }, "starting");

  const newId = () => crypto.randomUUID();
  const meter = createMeter({ processMetrics: true });
  const storeConfig = storeConfigOf(mongodbPlaceOf(config.mongodb, "webhook"), config.dataDir, resources);
  const store = resources.use(await openWebhookStore(storeConfig));
  const { bus } = await openEventBus(eventBusConfigOf(config.bus, "webhook"), { log, meter });
  resources.use(bus);
  const peer = (address: string) => resources.use(connect({ address, serviceToken: config.rpc.serviceToken }));
  const allowList = createAllowList(config.webhook.allowedHosts);
  let server: RpcServer | undefined;
  const guard = createDestinationGuard({ allowList, ownPorts: () => (server ? [server.port] : [config.rpc.port]) });

  const service = createWebhookService({
    store,
    sender: resources.use(createHttpSender({ guard })),
    bank: peer(config.peers.bank).client(BankInternalServiceService),
    bus,
    vault: vaultFromConfig(config.webhook),
    allowList,
    deliveryRetentionDays: config.webhook.deliveryRetentionDays,
    keepsResponseBodies: config.webhook.keepsResponseBodies,
    serverWebhook: serverWebhookOf(config.webhook.server),
    log,
    meter,
    nowUs: createClock(),
    newId,
  });
  resources.defer(() => service.stop());
  await service.start();
  const auth = peer(config.peers.auth).client(AuthInternalServiceService);
  server = resources.use(
    await serve([service], {
      ...config.rpc,
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
function storeConfigOf(place: MongodbPlace | undefined, dataDir: string, resources: Resources): WebhookStoreConfig {
  if (place) return { kind: "mongodb", ...place };
  const folder = join(dataDir, "webhook");
  mkdirSync(folder, { recursive: true });
  resources.use(lockFolder(folder));
  return { kind: "sqlite", file: join(folder, "webhook.sqlite") };
}

async function verifyKey(
  auth: Pick<Rpc<typeof AuthInternalServiceService>, "verifyKey">,
  ctx: CallContext,
  apiKey: string,
): Promise<Principal> {
  const { tenantId, keyId, role, capabilities, allowedBankIds } = await auth.verifyKey(ctx, { apiKey });
  return { tenantId, keyId, role: role as Role, capabilities, allowedBankIds: allowedBankIds?.values ?? null };
}
