import { busFields, int, mongodbFields, secret, string } from "@memory-bank/config";

const pepperLengthMin = 32; // 16 random bytes in hex, the least that nobody guesses

const previousPepper = secret("AUTH_KEY_PEPPER_PREVIOUS", {
  description: "The pepper before the current one. Keys move over when they are used; drop it once all that matter have.",
  optional: true,
  minLength: pepperLengthMin,
});
const bootstrapKey = secret("AUTH_BOOTSTRAP_KEY", {
  description: "A well-formed key that is an owner key of the tenant `default` from the first start on",
  optional: true,
});
const pepperDescription = "Secret under which keys are hashed, kept outside the database";

/** Settings for a root that can make a pepper of its own when it is given none. */
export const authConfig = {
  pepper: secret("AUTH_KEY_PEPPER", { description: pepperDescription, optional: true, minLength: pepperLengthMin }),
  previousPepper,
  bootstrapKey,
} as const;

/** Settings of the process that runs this service alone. Its replicas share a database, so they must be given one pepper. */
export const authProcessConfig = {
  auth: {
    pepper: secret("AUTH_KEY_PEPPER", { description: pepperDescription, minLength: pepperLengthMin }),
    previousPepper,
    bootstrapKey,
  },
  bus: busFields,
  mongodb: mongodbFields,
  dataDir: string("DATA_DIR", { description: "Folder of the database file", default: "./data" }),
  listenHost: string("RPC_LISTEN_HOST", { description: "Address to serve gRPC on", default: "127.0.0.1" }),
  listenPort: int("RPC_LISTEN_PORT", { description: "Port to serve gRPC on", default: 50_052, min: 0, max: 65_535 }),
  serviceToken: secret("RPC_SERVICE_TOKEN", { description: "What members of the mesh prove themselves with", optional: true }),
} as const;
