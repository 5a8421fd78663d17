export { embedderConfigOf, embeddingsConfig, memoryConfig } from "./config.ts";
export { warmExtraction } from "./domain/retain/extract.ts";
export type { MemoryStore } from "./memory-store.ts";
export { createMemoryService, type MemoryServiceDeps } from "./service.ts";
export { type MemoryStorage, type MemoryStoreConfig, openMemoryStore } from "./store/open-memory-store.ts";
export { openVectorIndex, type VectorIndexConfig } from "./vector/open-vector-index.ts";
export type { VectorIndex } from "./vector-index.ts";
