import { busFields, int, oneOf, secret, string } from "@memory-bank/config";
import { languageModelConfig } from "@memory-bank/models";

/** Settings of the reflect service, whichever root starts it. */
export const reflectConfig = {
  refreshConcurrency: int("REFLECT_REFRESH_CONCURRENCY", {
    description: "Refreshes of mental models worked on at once",
    default: 2,
    min: 1,
    max: 64,
  }),
};

const port = (name: string, description: string, value: number) =>
  int(name, { description, default: value, min: 0, max: 65_535 });
const address = (name: string, value: string) =>
  string(name, { description: "host:port of a peer", default: value, pattern: ".+:[0-9]+" });

/** A process that runs only the reflect service. */
export const reflectProcessConfig = {
  reflect: reflectConfig,
  bus: busFields,
  dataDir: string("DATA_DIR", { description: "Folder of the database files", default: "./data" }),
  logLevel: oneOf("LOG_LEVEL", {
    description: "Least important lines that are written",
    values: ["debug", "info", "warn", "error"],
    default: "info",
  }),
  rpc: {
    host: string("RPC_LISTEN_HOST", { description: "Address to serve gRPC on", default: "127.0.0.1" }),
    port: port("RPC_LISTEN_PORT", "Port to serve gRPC on", 50_055),
    serviceToken: secret("RPC_SERVICE_TOKEN", { description: "Proves members of the mesh to each other", optional: true }),
  },
  peers: {
    auth: address("AUTH_RPC_ADDRESS", "127.0.0.1:50052"),
    bank: address("BANK_RPC_ADDRESS", "127.0.0.1:50053"),
    memory: address("MEMORY_RPC_ADDRESS", "127.0.0.1:50054"),
  },
  llm: languageModelConfig,
};
