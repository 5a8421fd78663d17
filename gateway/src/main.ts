import { describeConfig, loadConfig } from "@memory-bank/config";
import { eventBusConfigOf, openEventBus } from "@memory-bank/events";
import { createClock, PROBE_PORT_OFFSET, run, serveProbes } from "@memory-bank/lifecycle";
import { AuthInternalServiceService, AuthServiceService } from "@memory-bank/proto/auth/v1/auth";
import { BankInternalServiceService, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import { MemoryServiceService } from "@memory-bank/proto/memory/v1/memory";
import { ReflectServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import { WebhookServiceService } from "@memory-bank/proto/webhook/v1/webhook";
import { connect } from "@memory-bank/rpc";
import { createLogger, createMeter } from "@memory-bank/telemetry";
import { createGateway } from "./app.ts";
import { gatewayProcessConfig } from "./config.ts";
import { createKeyVerifier } from "./key-verifier.ts";
import { routes } from "./routes/all-routes.ts";

/** The product version, as `/version` and the API description show it. */
const version = "0.1.0";

/** The gateway alone in a process. It keeps nothing; without a bus a revocation elsewhere holds after a second. */
await run(async (resources) => {
  const { config, warnings } = loadConfig(gatewayProcessConfig, process.env);
  const log = createLogger({ level: config.logLevel }).child({ service: "gateway" });
  for (const warning of warnings) log.warn({}, warning);
  log.info({ config: describeConfig(gatewayProcessConfig, config) }, "starting");

  const nowUs = createClock();
  const newId = () => crypto.randomUUID();
  const meter = createMeter({ processMetrics: true });
  const { bus } = await openEventBus(eventBusConfigOf(config.bus, "gateway"), { log, meter });
  resources.use(bus);
  const peer = (address: string) => resources.use(connect({ address, serviceToken: config.serviceToken }));
  const [auth, bank] = [peer(config.peers.auth), peer(config.peers.bank)];
  const clients = {
    auth: auth.client(AuthServiceService),
    bank: bank.client(BankServiceService),
    bankInternal: bank.client(BankInternalServiceService),
    memory: peer(config.peers.memory).client(MemoryServiceService),
    reflect: peer(config.peers.reflect).client(ReflectServiceService),
    webhook: peer(config.peers.webhook).client(WebhookServiceService),
  };
  const verifier = resources.use(createKeyVerifier({ auth: auth.client(AuthInternalServiceService), bus, nowUs, newId }));
  await verifier.start();

  const { host, port, corsOrigins, auditKeepsText } = config.gateway;
  // It owns no store, and a peer that is away is answered as such: what can be served still is.
  const ready = async () => undefined;
  const gateway = await createGateway({
    ...{ log, newId, version, corsOrigins },
    now: nowUs,
    verifyKey: (apiKey) => verifier.verify(apiKey),
    routes: routes({ ...{ clients, nowUs, newId, log, version, auditKeepsText, ready }, renderMetrics: () => meter.render() }),
  });
  resources.defer(() => gateway.close());
  const url = await gateway.listen({ host, port });
  const probePort = port === 0 ? 0 : port + PROBE_PORT_OFFSET;
  resources.use(await serveProbes({ host, port: probePort, ready, renderMetrics: () => meter.render() }));
  log.info({ url }, "serving");
});
