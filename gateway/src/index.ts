export { createGateway, type GatewayDeps } from "./app.ts";
export type { GatewayClients } from "./clients.ts";
export { createKeyVerifier, type KeyVerifier, type KeyVerifierDeps } from "./key-verifier.ts";
export type { VerifyKey } from "./plugins/authenticate.ts";
export { type RoutesDeps, routes } from "./routes/all-routes.ts";
