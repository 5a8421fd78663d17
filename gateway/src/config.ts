import { bool, busFields, int, list, oneOf, secret, string } from "@memory-bank/config";

const PORT_MAX = 65_535;

const address = (name: string, peer: string, port: number) =>
  string(name, { description: `host:port of ${peer}`, default: `127.0.0.1:${port}`, pattern: ".+:[0-9]+" });

/** Settings of the process that runs the gateway alone. */
export const gatewayProcessConfig = {
  gateway: {
    host: string("GATEWAY_LISTEN_HOST", { description: "Address that REST listens on", default: "127.0.0.1" }),
    port: int("GATEWAY_LISTEN_PORT", { description: "Port that REST listens on", default: 8888, min: 0, max: PORT_MAX }),
    corsOrigins: list("GATEWAY_CORS_ORIGINS", { description: "Origins whose pages may call the API", default: [] }),
    auditKeepsText: bool("AUDIT_KEEPS_TEXT", {
      description: "The audit log keeps the text of memories, also after they are forgotten",
      default: false,
    }),
  },
  logLevel: oneOf("LOG_LEVEL", {
    description: "Least important lines that are written",
    values: ["debug", "info", "warn", "error"],
    default: "info",
  }),
  bus: busFields,
  serviceToken: secret("RPC_SERVICE_TOKEN", { description: "Proves members of the mesh to each other", optional: true }),
  peers: {
    auth: address("AUTH_RPC_ADDRESS", "auth", 50_052),
    bank: address("BANK_RPC_ADDRESS", "bank", 50_053),
    memory: address("MEMORY_RPC_ADDRESS", "memory", 50_054),
    reflect: address("REFLECT_RPC_ADDRESS", "reflect", 50_055),
    webhook: address("WEBHOOK_RPC_ADDRESS", "webhook", 50_056),
  },
} as const;
