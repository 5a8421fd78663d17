export { createGateway, type GatewayDeps } from "./app.ts";
export type { VerifyKey } from "./plugins/authenticate.ts";
