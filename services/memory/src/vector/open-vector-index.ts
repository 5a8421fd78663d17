import type { VectorIndex } from "../vector-index.ts";
import { openSqliteVectorIndex, type SqliteVectorIndexOptions } from "./sqlite/vector-index.ts";

export type VectorIndexConfig = { readonly kind: "sqlite" } & SqliteVectorIndexOptions;

/** The one switch from configuration to adapter. */
export function openVectorIndex(config: VectorIndexConfig): Promise<VectorIndex> {
  switch (config.kind) {
    case "sqlite":
      return openSqliteVectorIndex(config);
  }
}
