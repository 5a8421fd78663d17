import { int, oneOf, secret, string } from "./field.ts";

/** The servers of a cluster. What is absent is replaced by something inside the process or the data folder. */
export const busFields = {
  url: secret("NATS_URL", { description: "NATS server, or several of one cluster separated by commas", optional: true }),
  replicas: int("NATS_STREAM_REPLICAS", { description: "Copies of each stream in a NATS cluster", default: 1, min: 1, max: 5 }),
} as const;

/** One server for all services, and a database for each. */
export const mongodbFields = {
  url: secret("MONGODB_URL", { description: "MongoDB server; absent, documents are kept in DATA_DIR", optional: true }),
  databasePrefix: string("MONGODB_DATABASE_PREFIX", {
    description: "First part of the databases' names; the service's name follows",
    default: "memory_bank_",
    pattern: "[A-Za-z0-9_-]{0,40}",
  }),
  migrate: oneOf("MONGODB_MIGRATE", {
    description: "run: bring the schema up to date at the start; require: refuse to start with one that is not",
    values: ["run", "require"],
    default: "run",
  }),
} as const;

export const qdrantFields = {
  url: string("QDRANT_URL", { description: "Qdrant server; absent, vectors are kept in DATA_DIR", optional: true }),
  apiKey: secret("QDRANT_API_KEY", { description: "Key of the Qdrant server", optional: true }),
  replicas: int("QDRANT_REPLICAS", { description: "Copies of each shard in a Qdrant cluster", default: 1, min: 1, max: 5 }),
} as const;
