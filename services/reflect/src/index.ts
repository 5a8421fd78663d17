export { reflectConfig } from "./config.ts";
export type { ReflectStore } from "./reflect-store.ts";
export { createReflectService, type ReflectServiceDeps } from "./service.ts";
export { openReflectStore, type ReflectStorage, type ReflectStoreConfig } from "./store/open-reflect-store.ts";
