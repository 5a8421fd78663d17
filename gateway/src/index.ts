export { createGateway, type GatewayDeps } from "./app.ts";
export { createKeyVerifier, type KeyVerifier, type KeyVerifierDeps } from "./key-verifier.ts";
export type { VerifyKey } from "./plugins/authenticate.ts";
