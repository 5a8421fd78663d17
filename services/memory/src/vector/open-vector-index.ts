import type { VectorIndex } from "../vector-index.ts";
import { openQdrantVectorIndex, type QdrantVectorIndexOptions } from "./qdrant/vector-index.ts";
import { openSqliteVectorIndex, type SqliteVectorIndexOptions } from "./sqlite/vector-index.ts";

export type VectorIndexConfig =
  | ({ readonly kind: "sqlite" } & SqliteVectorIndexOptions)
  | ({ readonly kind: "qdrant" } & QdrantVectorIndexOptions);

/** The one switch from configuration to adapter. */
export function openVectorIndex(config: VectorIndexConfig): Promise<VectorIndex> {
  switch (config.kind) {
    case "sqlite":
      return openSqliteVectorIndex(config);
    case "qdrant":
      return openQdrantVectorIndex(config);
  }
}
