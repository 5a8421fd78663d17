export type { AuthStore } from "./auth-store.ts";
export type { BootstrapOptions } from "./bootstrap.ts";
export { authConfig } from "./config.ts";
export { createKeyString } from "./domain/key-string.ts";
export type { Peppers } from "./domain/secret-hasher.ts";
export { keyRevoked } from "./events.ts";
export { type AuthDeps, type AuthService, createAuthService } from "./service.ts";
export { type AuthStoreConfig, openAuthStore } from "./store/open-auth-store.ts";
