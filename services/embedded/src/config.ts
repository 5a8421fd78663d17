import { authConfig } from "@memory-bank/auth";
import { bankConfig } from "@memory-bank/bank";
import { bool, int, list, oneOf, secret, string } from "@memory-bank/config";
import { embeddingsConfig, memoryConfig } from "@memory-bank/memory";
import { languageModelConfig } from "@memory-bank/models";
import { reflectConfig } from "@memory-bank/reflect";
import { webhookConfig } from "@memory-bank/webhook";

const port = (name: string, description: string, value: number) =>
  int(name, { description, default: value, min: 0, max: 65_535 });

/** Everything that the one process of embedded mode can be told. */
export const embeddedConfig = {
  dataDir: string("DATA_DIR", { description: "Folder of the database files; one process per folder", default: "./data" }),
  logLevel: oneOf("LOG_LEVEL", {
    description: "Least important lines written",
    values: ["debug", "info", "warn", "error"],
    default: "warn",
  }),
  gateway: {
    host: string("GATEWAY_LISTEN_HOST", { description: "Address that REST listens on", default: "127.0.0.1" }),
    port: port("GATEWAY_LISTEN_PORT", "Port that REST listens on", 8888),
    auditKeepsText: bool("AUDIT_KEEPS_TEXT", {
      description: "The audit log keeps the text of memories, also after they are forgotten",
      default: false,
    }),
    corsOrigins: list("GATEWAY_CORS_ORIGINS", { description: "Origins whose pages may call the API", default: [] }),
  },
  rpc: {
    host: string("RPC_LISTEN_HOST", { description: "Address that gRPC listens on", default: "127.0.0.1" }),
    port: port("RPC_LISTEN_PORT", "Port that gRPC listens on, for direct callers", 50_051),
    serviceToken: secret("RPC_SERVICE_TOKEN", { description: "Proves members of the mesh to each other", optional: true }),
  },
  /** How the parts of this process call each other. Sockets are for tests of the wire. */
  mesh: oneOf("EMBEDDED_MESH", { description: "Calls between the parts", values: ["in-process", "grpc"], default: "in-process" }),
  auth: authConfig,
  bank: bankConfig,
  memory: memoryConfig,
  reflect: reflectConfig,
  webhook: {
    ...webhookConfig,
    encryptionKey: secret("WEBHOOK_ENCRYPTION_KEY", {
      description: "Key of 32 bytes that webhook targets are encrypted with",
      optional: true,
    }),
  },
  llm: languageModelConfig,
  embeddings: embeddingsConfig,
};
