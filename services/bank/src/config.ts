import { readFileSync } from "node:fs";
import { busFields, int, mongodbFields, oneOf, secret, string } from "@memory-bank/config";
import { AppError } from "@memory-bank/errors";
import { type ConfigFile, emptyConfigFile, parseConfigFile } from "./domain/config-file.ts";

const PORT_MAX = 65_535;
const CENTURY_DAYS = 36_500;

/** What the bank service itself is told, in whichever process it runs. */
export const bankConfig = {
  configFile: string("BANK_CONFIG_FILE", {
    description: "JSON file {global, tenants} with the upper layers of the banks' configuration",
    optional: true,
  }),
  auditRetentionDays: int("BANK_AUDIT_RETENTION_DAYS", {
    description: "Days that audit entries are kept; -1 for ever",
    default: -1,
    min: -1,
    max: CENTURY_DAYS,
  }),
};

const port = (name: string, description: string, value: number) =>
  int(name, { description, default: value, min: 0, max: PORT_MAX });
const address = (name: string, value: string) =>
  string(name, { description: "host:port of a peer", default: value, pattern: ".+:[0-9]+" });

/** A process that runs only the bank service. */
export const bankProcessConfig = {
  bank: bankConfig,
  bus: busFields,
  mongodb: mongodbFields,
  dataDir: string("DATA_DIR", { description: "Folder of the database files", default: "./data" }),
  logLevel: oneOf("LOG_LEVEL", {
    description: "Least important lines that are written",
    values: ["debug", "info", "warn", "error"],
    default: "info",
  }),
  rpc: {
    host: string("RPC_LISTEN_HOST", { description: "Address to serve gRPC on", default: "127.0.0.1" }),
    port: port("RPC_LISTEN_PORT", "Port to serve gRPC on", 50_053),
    serviceToken: secret("RPC_SERVICE_TOKEN", { description: "Proves members of the mesh to each other", optional: true }),
  },
  peers: {
    auth: address("AUTH_RPC_ADDRESS", "127.0.0.1:50052"),
    memory: address("MEMORY_RPC_ADDRESS", "127.0.0.1:50054"),
    reflect: address("REFLECT_RPC_ADDRESS", "127.0.0.1:50055"),
    webhook: address("WEBHOOK_RPC_ADDRESS", "127.0.0.1:50056"),
  },
  // These are other services' settings; the bank only shows them among the read-only keys.
  providers: {
    llmProvider: oneOf("LLM_PROVIDER", { description: "Language model", values: ["local", "openai", "none"], default: "local" }),
    llmModel: string("LLM_MODEL", { description: "Name of the language model", optional: true }),
    embeddingsProvider: oneOf("EMBEDDINGS_PROVIDER", {
      description: "Embedder",
      values: ["local", "lexical", "openai"],
      default: "local",
    }),
    embeddingsModel: string("EMBEDDINGS_MODEL", { description: "Name of the embedding model", optional: true }),
  },
};

/** Reads the file that `BANK_CONFIG_FILE` names. Throws one `invalid_argument` that lists every problem. */
export function readConfigFile(path: string | undefined): ConfigFile {
  if (path === undefined) return emptyConfigFile;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new AppError("invalid_argument", "INVALID_CONFIG_FILE", `BANK_CONFIG_FILE: cannot be read (${code})`, { cause: error });
  }
  return parseConfigFile(text);
}
